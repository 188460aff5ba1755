// What several pictures of this tab are made of: large numbers, and lines with a bar in each.

import { node, pool, say, set } from "../../page/js/svg.js";

/** Large numbers with a few words below each, the first in colour. @param {Element} holder @param {[string, string][]} shown */
export function keyNumbers(holder, shown) {
  const blocks = pool(holder, shown.length, (place) => {
    const block = node(place ? "div.key-block" : "div.key-block.serving-first");
    node("div.key-large", {}, block);
    node("div.note", {}, block);
    return block;
  });
  shown.forEach(([number, words], place) => {
    say(blocks[place].children[0], number);
    say(blocks[place].children[1], words);
  });
}

/**
 * A line for each row: its label, bars that lie over each other, and words.
 * @typedef {{ label: string, text: string, bars: { kind: "kept" | "ghost" | "room" | "chosen", share: number }[] }} BarRow  share: of the lane
 * @param {Element} holder @param {BarRow[]} rows
 */
export function barRows(holder, rows) {
  const lines = pool(holder, rows.length, () => {
    const line = node("div.serving-row");
    node("div.serving-label", {}, line);
    node("div.serving-lane", {}, line);
    node("div.serving-text", {}, line);
    return line;
  });
  rows.forEach(({ label, text, bars }, place) => {
    const [name, lane, words] = lines[place].children;
    say(name, label);
    say(words, text);
    const fills = pool(lane, bars.length, () => node("div.serving-fill"));
    bars.forEach(({ kind, share }, number) => {
      set(fills[number], { "data-kind": kind, "data-cut": share > 1 ? "" : null });
      fills[number].style.width = `${100 * Math.min(1, share)}%`;
    });
  });
}
