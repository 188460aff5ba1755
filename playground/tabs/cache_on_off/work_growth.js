// Work against the length of the answer, exact: of one step and of the whole answer, with the cache and without. Below,
// what doubling the answer costs, and a recurrent network in contrast.

import { drawColumns, drawRows, linearScale, logMarks, logScale, pointsOf, stepMarks } from "../../page/js/axis.js";
import { chips } from "../../page/js/chips.js";
import { large, SIDES } from "../../page/js/comparison.js";
import { count, decimals } from "../../page/js/numbers.js";
import { node, pool, say, set, svg } from "../../page/js/svg.js";
import { cellOf, fill } from "../../page/js/table.js";
import * as words from "../../page/js/words.js";

/** @typedef {"tokens" | "projections" | "attention" | "multiply_adds"} Kind */
/** @typedef {Record<Kind, number[]>} Work  of each step */
/** @typedef {{ length: number, on: Work, off: Work }} Prompt */
/** @typedef {{ prompts: Prompt[], layers: number, hidden: number, bytes_per_token: number, state_bytes: number }} Growth */
/** @typedef {{ kind: number, prompt: number, isLog: boolean, length: number }} Choice */

const KINDS = /** @type {Kind[]} */ (["tokens", "multiply_adds"]);
const PARTS = /** @type {Kind[]} */ (["tokens", "projections", "attention"]); // of the table
const HEIGHT = 270;
const EDGE = { left: 118, right: 16, top: 14, bottom: 34 };

/** Each with all before it. @param {number[]} values */
export function sums(values) {
  let total = 0;
  return values.map((value) => {
    total += value;
    return total;
  });
}

/** How many times the work of the whole answer grows when it gets twice as long. @param {Prompt} prompt @param {"on" | "off"} side @param {Kind} kind @param {number} length */
export function doubling(prompt, side, kind, length) {
  const total = sums(prompt[side][kind]);
  return total[2 * length - 1] / total[length - 1];
}

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  /** @type {Growth | null} */
  let growth = null;
  /** @type {Choice} */
  const choice = { kind: 0, prompt: 0, isLog: false, length: 64 };
  const problem = node("p.note", { role: "status" }, element);
  const all = node("div", {}, element);
  const view = build(all, (change) => {
    Object.assign(choice, change);
    draw();
  });

  function draw() {
    if (!growth || !api.width) return;
    const { prompts } = growth;
    const prompt = prompts[choice.prompt];
    const longest = prompt.on.tokens.length >> 1;
    choice.length = Math.max(1, Math.min(choice.length, longest));
    drawChoices(view, growth, choice, longest);
    const kind = KINDS[choice.kind];
    const width = view.charts.clientWidth < 760 ? view.charts.clientWidth : (view.charts.clientWidth - 24) / 2;
    for (const [chart, isTotal] of /** @type {const} */ ([
      [view.step, false],
      [view.total, true],
    ])) {
      const of = (/** @type {"on" | "off"} */ side) => (isTotal ? sums(prompt[side][kind]) : prompt[side][kind]);
      drawChart(chart, { on: of("on"), off: of("off") }, choice, width);
      const [on, off] = SIDES.map((side) => large(of(side)[choice.length - 1]));
      say(
        chart.caption,
        words.say(`cache_on_off.growth.${isTotal ? "total" : "step"}.${kind}`, { length: choice.length, on, off }),
      );
      set(chart.picture, { "aria-label": chart.caption.textContent });
    }
    drawDoubling(view.table, prompt, choice.length);
  }

  return {
    update(value) {
      say(problem, value?.problem ?? "");
      all.hidden = Boolean(value?.problem);
      if (!value?.prompts) return;
      growth = value;
      const { layers, hidden, bytes_per_token: each, state_bytes: state } = value;
      const facts = { layers, hidden, each, state, tokens: Math.ceil(state / each) };
      for (const [key, line] of view.recurrent) say(line, words.say(`cache_on_off.recurrent.${key}`, facts));
      draw();
    },
    reads: [],
    draw,
  };
}

/** @param {HTMLElement} element @param {(change: Partial<Choice>) => void} choose */
function build(element, choose) {
  const bar = node("div.growth-choices", {}, element);
  const name = (/** @type {string} */ key) => words.say(`cache_on_off.growth.choose.${key}`);
  const kinds = chips(bar, name("kind"), (kind) => choose({ kind }));
  const prompts = chips(bar, name("prompt"), (prompt) => choose({ prompt }));
  const axes = chips(bar, name("axis"), (place) => choose({ isLog: place === 1 }));
  const label = node("label.growth-length", {}, bar);
  const words_ = node("span", {}, label);
  const range = node("input", { type: "range", min: 1, max: 128, step: 1 }, label);
  range.addEventListener("input", () => choose({ length: Number(range.value) }));
  const charts = node("div.growth-charts", {}, element);
  const [step, total] = ["step", "total"].map((key) => buildChart(charts, key));
  const below = node("div.growth-below", {}, element);
  const holder = node("section", {}, below);
  const title = node("h3", {}, holder);
  const table = node("table.fact-table.growth-table", {}, holder);
  const aside = node("section", {}, below);
  node("h3", {}, aside, words.say("cache_on_off.recurrent.title"));
  const recurrent = ["text", "size", "claim"].map((key) => /** @type {const} */ ([key, node("p", {}, aside)]));
  return { kinds, prompts, axes, range, words: words_, charts, step, total, table: { title, table }, recurrent };
}

/** @param {Element} parent @param {string} key */
function buildChart(parent, key) {
  const figure = node("figure.growth-chart", {}, parent);
  node("h3", {}, figure, words.say(`cache_on_off.growth.title_of.${key}`));
  const picture = svg("svg", { role: "img", height: HEIGHT }, figure);
  const chart = {
    picture,
    rows: svg("g", {}, picture),
    columns: svg("g", {}, picture),
    cursor: svg("line.growth-cursor", {}, picture),
    off: svg("polyline.growth-off", {}, picture),
    on: svg("polyline.growth-on", {}, picture),
    names: SIDES.map((side) => svg(/** @type {any} */ (`text.growth-name-${side}`), { "text-anchor": "end" }, picture)),
    dots: SIDES.map((side) => svg(/** @type {any} */ (`circle.growth-dot-${side}`), { r: 6 }, picture)),
    caption: node("figcaption", {}, figure),
  };
  for (const [place, side] of SIDES.entries()) say(chart.names[place], words.say(`cache_on_off.growth.line.${side}`));
  return chart;
}

/** @param {ReturnType<typeof build>} view @param {Growth} growth @param {Choice} choice @param {number} longest */
function drawChoices({ kinds, prompts, axes, range, words: label }, growth, choice, longest) {
  const name = (/** @type {string} */ key) => words.say(`cache_on_off.growth.choice.${key}`);
  kinds.draw(KINDS.map(name), choice.kind);
  const lengths = growth.prompts.map(({ length }) => words.say("cache_on_off.growth.choice.prompt", { length }));
  prompts.draw(lengths, choice.prompt);
  axes.draw([name("linear"), name("log")], Number(choice.isLog));
  set(range, { max: longest });
  range.value = String(choice.length);
  say(label, words.say("cache_on_off.growth.choice.length", { length: choice.length }));
}

/** @param {ReturnType<typeof buildChart>} chart @param {Record<"on" | "off", number[]>} lines @param {Choice} choice @param {number} width */
function drawChart(chart, lines, { isLog, length }, width) {
  const shown = 2 * length;
  const [on, off] = [lines.on.slice(0, shown), lines.off.slice(0, shown)];
  const most = Math.max(...on, ...off);
  const least = Math.min(...on, ...off);
  const scale = isLog ? logScale : linearScale;
  const domain = /** @type {[number, number]} */ ([isLog ? least : 0, isLog && most === least ? 2 * most : most]);
  const x = linearScale([0, Math.max(shown - 1, 1)], [EDGE.left, width - EDGE.right]);
  const y = scale(domain, [HEIGHT - EDGE.bottom, EDGE.top]);
  set(chart.picture, { width });
  const marks = isLog ? logMarks(most / least, 220).map((mark) => mark * least) : [0, most / 2, most];
  drawRows(chart.rows, marks, {
    y,
    left: EDGE.left,
    right: width - EDGE.right,
    word: (mark) => large(Math.round(mark)),
  });
  const columns = stepMarks(shown, 4).map((step) => (step ? step - 1 : 0));
  drawColumns(chart.columns, columns, { x, y: HEIGHT - 8, word: (step) => count(step + 1) });
  set(chart.cursor, { x1: x(length - 1), x2: x(length - 1), y1: EDGE.top, y2: HEIGHT - EDGE.bottom });
  set(chart.on, { points: pointsOf(on, x, y) });
  set(chart.off, { points: pointsOf(off, x, y) });
  for (const [place, line] of [on, off].entries()) {
    set(chart.dots[place], { cx: x(length - 1), cy: y(line[length - 1]) });
    const at = Math.floor(0.9 * (shown - 1)); // the name stands above the end of its line
    set(chart.names[place], { x: x(at), y: Math.max(y(line[at]) - 12, EDGE.top + 12) });
  }
}

/** @param {{ title: Element, table: Element }} view @param {Prompt} prompt @param {number} length */
function drawDoubling({ title, table }, prompt, length) {
  say(title, words.say("cache_on_off.growth.doubling", { length, twice: 2 * length }));
  const lines = pool(table, PARTS.length + 1, () => node("tr"));
  const columns = ["", ...SIDES.map((side) => words.say(`cache_on_off.growth.line.${side}`))];
  fill(lines[0], columns, (place) => node(place ? "th" : "td", place ? { scope: "col" } : {}));
  for (const [row, kind] of PARTS.entries()) {
    const factors = SIDES.map((side) => `${decimals(doubling(prompt, side, kind, length), 2)} ×`);
    fill(lines[row + 1], [words.say(`cache_on_off.growth.part.${kind}`), ...factors], cellOf);
  }
}
