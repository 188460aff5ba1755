// Text to the clipboard. A page that is not on this machine or behind HTTPS has none: there a selection is copied.

import { node } from "./svg.js";

/** Whether it could be copied. @param {string} text */
export async function copyText(text) {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // the browser asks the person, who may have said no
    }
  }
  const box = node("textarea.only-heard", { readonly: "" }, document.body);
  box.value = text;
  box.select();
  const isCopied = document.execCommand("copy");
  box.remove();
  return isCopied;
}
