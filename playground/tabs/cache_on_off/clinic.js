// Evidence of the clinic: a row for each test made, and the two texts of the last one, token under token, over the
// largest logit gap of each step on a log scale.

import { node, pool, say, set, svg } from "../../page/js/svg.js";

const COLUMNS = [
  ["name", "test"],
  ["tokens", "tokens"],
  ["first_gap", "gap at the first token"],
  ["largest_gap", "largest gap"],
  ["fed", "prompt tokens fed"],
  ["numbers", "random numbers"],
];
const LOWEST = -8; // powers of ten on the gap's scale; equal logits stand at the bottom
const HIGHEST = 2;
const HEIGHT = 150;
const KEPT_TESTS = 8;

export function mount(element) {
  const empty = node(
    "p.empty-note",
    {},
    element,
    "Pick a fault, then look: greedy first, because it takes all chance out.",
  );
  const stage = node("div.clinic", {}, element);
  const planted = node("p.clinic-planted", {}, stage);
  const holder = node("div.clinic-scroll", { tabindex: "0", "aria-label": "Evidence so far" }, stage);
  const table = node("table.compare-table.clinic-table", {}, holder);
  const head = node("tr", {}, node("thead", {}, table));
  for (const [, words] of COLUMNS) node("th", { scope: "col" }, head, words);
  const rows = node("tbody", {}, table);
  const says = node("p.verdict", { role: "status" }, stage);
  const scroll = node("div.clinic-scroll", { tabindex: "0", "aria-label": "Both texts and their logit gaps" }, stage);
  const strip = node("div.clinic-strip", {}, scroll);
  const lines = Object.fromEntries(
    [
      ["on", "cache on"],
      ["off", "cache off"],
    ].map(([side, words]) => {
      const line = node(`div.clinic-line.is-${side}`, {}, strip);
      node("span.clinic-side", {}, line, words);
      return [side, node("div.clinic-tokens", {}, line)];
    }),
  );
  const chart = node("div.clinic-line", {}, strip);
  node("span.clinic-side", {}, chart, "logit gap; dashed: the most that float32 rounds");
  const picture = svg("svg", { height: HEIGHT, role: "img" }, chart);
  const grid = svg("g", {}, picture);
  const bars = svg("g", {}, picture);
  const limit = svg("line.clinic-limit", {}, picture);

  let tests = []; // the evidence so far: Python sends the newest row
  let newest = null;

  function update(value) {
    if (!value?.test) tests = [];
    else if (value.id !== newest) tests = [...tests, value.test].slice(-KEPT_TESTS);
    newest = value?.id ?? null;
    const ready = tests.length > 0;
    empty.hidden = ready;
    stage.hidden = !ready;
    if (!ready) {
      rows.textContent = "";
      return;
    }
    const { last } = value;
    say(planted, value.planted ?? "");
    planted.hidden = !value.planted;
    const made = pool(rows, tests.length, () => {
      const row = node("tr");
      COLUMNS.forEach((_, index) => node(index ? "td" : "th", index ? {} : { scope: "row" }, row));
      return row;
    });
    tests.forEach((test, index) => {
      COLUMNS.forEach(([key], column) => {
        const cell = made[index].children[column];
        say(cell, typeof test[key] === "number" ? gapText(test[key]) : String(test[key]));
        if (key === "tokens") cell.className = test.equal ? "is-good" : "is-bad";
        if (key.endsWith("_gap")) cell.className = test[key] > last.rounding ? "is-bad" : "is-good";
        if (key === "numbers") cell.className = test[key] === "different" ? "is-bad" : "";
      });
      made[index].classList.toggle("is-last", index === tests.length - 1);
    });
    say(says, tests.at(-1).says);
    drawStrip(last);
  }

  function drawStrip(last) {
    const count = Math.max(last.on.length, last.off.length);
    set(strip, { style: `--columns: ${count}` });
    for (const side of ["on", "off"]) {
      const chips = pool(lines[side], count, () => node("span.token.clinic-token"));
      for (let index = 0; index < count; index += 1) {
        say(chips[index], last[side][index] ?? "–");
        set(chips[index], { title: last[side][index] ?? "no token" });
        chips[index].dataset.pair = last.on[index] === last.off[index] ? "equal" : "other";
        chips[index].classList.toggle("is-parting", index === last.first_difference);
      }
    }
    const column = 74;
    const width = count * column;
    const y = (power) => HEIGHT - 18 - ((power - LOWEST) / (HIGHEST - LOWEST)) * (HEIGHT - 26);
    set(picture, { width, "aria-label": `Largest logit gap of ${last.gaps.length} steps` });
    const powers = [-8, -6, -4, -2, 0, 2];
    const marks = pool(grid, powers.length, () => {
      const mark = svg("g");
      svg("line.grid-line", { x1: 0 }, mark);
      return mark;
    });
    powers.forEach((power, index) => set(marks[index].children[0], { x2: width, y1: y(power), y2: y(power) }));
    const drawn = pool(bars, last.gaps.length, () => {
      const bar = svg("g");
      svg("rect", {}, bar);
      svg("text.clinic-gap", { "text-anchor": "middle" }, bar);
      return bar;
    });
    last.gaps.forEach((gap, index) => {
      const power = Math.max(LOWEST, Math.min(HIGHEST, gap > 0 ? Math.log10(gap) : LOWEST));
      const bar = drawn[index].children;
      set(bar[0], {
        class: gap > last.rounding ? "clinic-bar is-bad" : "clinic-bar",
        x: index * column + 6,
        width: column - 12,
        y: y(power) - 2,
        height: Math.max(2, y(LOWEST) - y(power)),
      });
      set(bar[1], { x: index * column + column / 2, y: HEIGHT - 2 });
      say(bar[1], gapText(gap));
    });
    const power = Math.log10(last.rounding);
    set(limit, { x1: 0, x2: width, y1: y(power), y2: y(power) });
  }

  return { update };
}

function gapText(gap) {
  return gap === 0 ? "0" : gap >= 0.1 ? gap.toFixed(1) : gap.toExponential(0).replace("e-", "e−");
}
