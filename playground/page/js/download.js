// Hands a text to the person as a file.

import { node } from "./svg.js";

/** @param {string} text @param {string} filename */
export function download(text, filename, type = "text/csv") {
  const link = node("a", { href: URL.createObjectURL(new Blob([text], { type })), download: filename });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
