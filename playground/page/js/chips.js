// A row of buttons of which one is chosen: a radio group. Tab reaches the chosen one, arrow keys choose another.

import { node, pool, say, set } from "./svg.js";
import * as words from "./words.js";

/** How far each key moves the choice. @type {Record<string, number>} */
const MOVES = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** The place that a key chooses among `count`, from the last on to the first again; null: it is no such key.
 * @param {string} key @param {number} place @param {number} count @returns {number | null} */
export function placeAfter(key, place, count) {
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  return key in MOVES ? (place + MOVES[key] + count) % count : null;
}

/**
 * An empty row; `draw(labels, chosen)` fills it, and `choose` hears the place of what a person chose.
 * @param {Element} parent
 * @param {string} name  what the choice is about, for a screen reader
 * @param {(place: number) => void} choose
 */
export function chips(parent, name, choose) {
  const group = node("div.chips", { role: "radiogroup", "aria-label": name }, parent);
  group.addEventListener("keydown", (event) => {
    const buttons = [...group.children];
    const place = placeAfter(event.key, buttons.indexOf(/** @type {Element} */ (event.target)), buttons.length);
    if (place === null) return;
    event.preventDefault();
    event.stopPropagation(); // the page's own arrow keys move the step
    /** @type {HTMLElement} */ (buttons[place]).focus();
    choose(place);
  });
  return {
    /** @param {string[]} labels @param {number} chosen  its place */
    draw(labels, chosen) {
      const buttons = pool(group, labels.length, (place) => {
        const button = node("button.small-button", { type: "button", role: "radio" });
        button.addEventListener("click", () => choose(place));
        return button;
      });
      labels.forEach((label, place) => {
        const isChosen = place === chosen;
        say(buttons[place], label);
        set(buttons[place], { "aria-checked": String(isChosen), tabindex: isChosen ? 0 : -1 });
      });
    },
  };
}

/** Chips for the layer that all pictures look into. @param {Element} parent @param {import("./types.js").Store} store */
export function layerChips(parent, store) {
  const row = chips(parent, words.say("page.layer.choice"), (layer) => store.set({ layer }));
  return {
    /** @param {number} count @param {number} layer  the one shown */
    draw(count, layer) {
      const labels = Array.from({ length: count }, (_, index) => words.say("page.layer.name", { number: index + 1 }));
      row.draw(labels, layer);
    },
  };
}
