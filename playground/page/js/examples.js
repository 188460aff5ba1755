// Prompts worth trying, as chips: one press writes the prompt into its box and generates.

import { node, pool, say, set } from "./svg.js";
import * as words from "./words.js";

/** @typedef {{ prompt: string, shows: string }} Example */

/** @type {Record<string, Example[]>} by model */
let examples = {};

/** What is in the box when another model has been chosen: an example of the other model gives way to this one's first,
 * and a prompt that a person wrote stays. @param {string} name @param {string | null} prompt */
export function promptFor(name, prompt, all = examples) {
  const isOf = (/** @type {Example[]} */ own) => own.some((example) => example.prompt === prompt);
  const own = all[name] ?? [];
  return own.length && !isOf(own) && Object.values(all).some(isOf) ? own[0].prompt : prompt;
}

/** @param {HTMLElement} element @param {import("./types.js").PanelApi} api @returns {import("./types.js").Panel} */
export function mount(element, api) {
  examples = api.props.value;
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
