// A few numbers next to each other: large ones to read from afar, bars to compare, a sentence to say what it means.
// value: { numbers: [{number, words}], groups: [{title, rows: [{label, share, text, kind}], mark}], note }; each text may
// be what Python told.

import { node, pool, say, set } from "./svg.js";
import { text } from "./words.js";

/** @param {HTMLElement} element @returns {import("./types.js").Panel} */
export function mount(element) {
  const numbers = node("div.key-numbers", {}, element);
  const groups = node("div.bar-groups", {}, element);
  const note = node("p.note", {}, element);

  return {
    update(value) {
      element.classList.toggle("is-empty", !value);
      drawNumbers(numbers, value?.numbers ?? []);
      drawGroups(groups, value?.groups ?? []);
      say(note, text(value?.note));
    },
  };
}

/**
 * @typedef {string | number | import("./words.js").Told} Said
 * @typedef {{ number: Said, words: Said, kind?: string }} KeyNumber
 * @typedef {{ label: Said, share: number, text: Said, kind?: string }} Bar
 * @typedef {{ title?: Said, rows: Bar[], mark?: number | null }} Group
 */

/** @param {Element} holder @param {KeyNumber[]} numbers */
function drawNumbers(holder, numbers) {
  const blocks = pool(holder, numbers.length, () => {
    const block = node("div.key-block");
    node("div.key-large", {}, block);
    node("div.note", {}, block);
    return block;
  });
  numbers.forEach(({ number, words, kind }, index) => {
    const [large, note] = blocks[index].children;
    set(large, { "data-kind": kind });
    say(large, text(number));
    say(note, text(words));
  });
}

/** @param {Element} holder @param {Group[]} groups */
function drawGroups(holder, groups) {
  const blocks = pool(holder, groups.length, () => {
    const block = node("div.bar-group");
    node("h3", {}, block);
    node("div", {}, block);
    return block;
  });
  groups.forEach(({ title, rows, mark }, index) => {
    const [heading, list] = blocks[index].children;
    say(heading, text(title));
    heading.toggleAttribute("hidden", !title);
    drawRows(list, rows, mark);
  });
}

/** @param {Element} list @param {Bar[]} rows @param {number | null | undefined} mark */
function drawRows(list, rows, mark) {
  const lines = pool(list, rows.length, () => {
    const line = node("div.compare-row");
    node("div.compare-label", {}, line);
    const lane = node("div.compare-lane", {}, line);
    node("div.compare-bar", {}, lane);
    node("div.compare-mark", {}, lane);
    node("div.compare-text", {}, line);
    return line;
  });
  rows.forEach(({ label, share, text: words, kind }, index) => {
    const [name, lane, beside] = lines[index].children;
    say(name, text(label));
    say(beside, text(words));
    const [bar, limit] = /** @type {HTMLCollectionOf<HTMLElement>} */ (lane.children);
    set(bar, { "data-kind": kind });
    bar.style.width = `${Math.max(0, Math.min(100, 100 * share))}%`;
    limit.hidden = mark === undefined || mark === null;
    limit.style.left = `${100 * (mark ?? 0)}%`;
  });
}
