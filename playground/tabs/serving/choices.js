// Boxes to choose from, each with an id: an address of the page sets them.

import { node } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/** @typedef {{ id: string, name: string, options: string[], value?: string, label: (value: string) => string }} Choice  name: the key of its label */

/** @param {Element} parent @param {Choice[]} list @param {() => void} tell  another one was chosen */
export function choices(parent, list, tell) {
  const boxes = list.map(({ id, name, options, value: chosen = options[0], label }) => {
    const holder = node("div.control.serving-choice", {}, parent);
    node("label", { for: id }, holder, words.say(name));
    const box = node("select", { id }, holder);
    for (const value of options) node("option", { value }, box, label(value));
    box.value = chosen;
    box.addEventListener("input", tell);
    return box;
  });
  return { get: () => Object.fromEntries(boxes.map((box) => [box.id, box.value])) };
}
