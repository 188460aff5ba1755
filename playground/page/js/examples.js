// Prompts worth trying, as chips: one press writes the prompt into its box and generates.

import { node, pool, say, set } from "./svg.js";
import * as words from "./words.js";

/** @typedef {{ prompt: string, shows: string }} Example */

/** @param {HTMLElement} element @param {import("./types.js").PanelApi} api @returns {import("./types.js").Panel} */
export function mount(element, api) {
  /** @type {Record<string, Example[]>} by model */
  const examples = api.props.value;
  const attributes = { role: "group", "aria-label": words.say("page.bar.examples") };
  const row = node("div.examples-row", attributes, element);

  row.addEventListener("click", (event) => {
    const chip = /** @type {Element} */ (event.target).closest("button");
    if (!chip) return;
    api.setValue(chip.textContent);
    api.trigger("chosen");
  });

  return {
    reads: ["bar"],
    draw({ bar }) {
      const own = (bar && examples[bar.model]) ?? [];
      const chips = pool(row, own.length, () => node("button.small-button.example", { type: "button" }));
      own.forEach(({ prompt, shows }, index) => {
        say(chips[index], prompt);
        set(chips[index], { title: shows });
      });
    },
  };
}
