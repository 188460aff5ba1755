// A program, line by line, and a button that copies it. value: { code }

import { copyText } from "../../page/js/copy.js";
import { node, say } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/** @param {HTMLElement} element @returns {import("../../page/js/types.js").Panel} */
export function mount(element) {
  const name = words.say("kinds_of_cache.code.name");
  const holder = node("pre.kinds-code", { tabindex: 0, role: "region", "aria-label": name }, element);
  const code = node("code", {}, holder);
  const button = node("button.small-button", { type: "button" }, element, words.say("kinds_of_cache.code.copy"));
  button.addEventListener("click", async () => {
    const isCopied = await copyText(code.textContent ?? "");
    say(button, words.say(isCopied ? "kinds_of_cache.code.copied" : "kinds_of_cache.code.not_copied"));
  });
  return {
    update(value) {
      say(code, value?.code ?? "");
    },
  };
}
