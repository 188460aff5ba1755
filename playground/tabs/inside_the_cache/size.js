// How big the cache is, factor by factor: of this answer, or of as many tokens as one chooses.

import { mount as mountBars } from "../../page/js/bars.js";
import { chips } from "../../page/js/chips.js";
import { node } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

const CHOICES = [null, 100, 1000]; // tokens; null: those of this answer

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const name = words.say("inside_the_cache.size.choice");
  const row = chips(element, name, (place) => api.store.set({ num_tokens: CHOICES[place] }));
  const holder = node("div.formula", {}, element);
  const bars = mountBars(holder);

  return {
    update(value) {
      element.classList.toggle("is-empty", !value);
      bars.update?.(value);
      if (!value) return;
      const labels = CHOICES.map((tokens) =>
        tokens === null
          ? words.say("inside_the_cache.size.this_answer", { tokens: value.stored })
          : words.say(`inside_the_cache.size.${tokens === 100 ? "course" : "more"}`, { tokens }),
      );
      row.draw(labels, Math.max(0, CHOICES.indexOf(value.num_tokens)));
    },
  };
}
