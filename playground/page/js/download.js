// Hands a text to the person as a file.

import { node } from "./svg.js";

const BYTE_ORDER_MARK = "\ufeff"; // without it Excel on Windows reads UTF-8 as another alphabet: every ␣ is garbled

/** @param {string} text @param {string} filename */
export function download(text, filename, type = "text/csv") {
  const content = type === "text/csv" ? BYTE_ORDER_MARK + text : text;
  const link = node("a", { href: URL.createObjectURL(new Blob([content], { type })), download: filename });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
