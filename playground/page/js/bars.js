// A few numbers next to each other: large ones to read from afar, bars to compare, a sentence to say what it means.
// value: { numbers: [{number, words}], groups: [{title, rows: [{label, share, text, kind}], mark}], note }

import { node, pool, say, set } from "./svg.js";

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
      say(note, value?.note ?? "");
    },
  };
}

/**
 * @typedef {{ number: string, words: string, kind?: string }} KeyNumber
 * @typedef {{ label: string, share: number, text: string, kind?: string }} Bar
 * @typedef {{ title?: string, rows: Bar[], mark?: number | null }} Group
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
    say(large, number);
    say(note, words);
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
    say(heading, title ?? "");
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
  rows.forEach(({ label, share, text, kind }, index) => {
    const [name, lane, words] = lines[index].children;
    say(name, label);
    say(words, text);
    const [bar, limit] = lane.children;
    set(bar, { "data-kind": kind, style: `width: ${Math.max(0, Math.min(100, 100 * share))}%` });
    const hasMark = mark !== undefined && mark !== null;
    limit.toggleAttribute("hidden", !hasMark);
    set(limit, { style: hasMark ? `left: ${100 * mark}%` : null });
  });
}
