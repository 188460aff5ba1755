// A few numbers next to each other: large ones to read from afar, bars to compare, a sentence to say what it means.
// value: { numbers: [{number, words}], groups: [{title, rows: [{label, share, text, kind}], mark}], note }

import { node, pool, say, set } from "./svg.js";

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

function drawNumbers(holder, numbers) {
  const blocks = pool(holder, numbers.length, () => {
    const block = node("div.key-block");
    node("div.key-large", {}, block);
    node("div.note", {}, block);
    return block;
  });
  numbers.forEach(({ number, words, kind }, index) => {
    set(blocks[index].firstChild, { "data-kind": kind });
    say(blocks[index].firstChild, number);
    say(blocks[index].lastChild, words);
  });
}

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
    heading.hidden = !title;
    drawRows(list, rows, mark);
  });
}

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
    lane.firstChild.style.width = `${Math.max(0, Math.min(100, 100 * share))}%`;
    set(lane.firstChild, { "data-kind": kind });
    lane.lastChild.hidden = mark === undefined || mark === null;
    if (mark !== undefined && mark !== null) lane.lastChild.style.left = `${100 * mark}%`;
  });
}
