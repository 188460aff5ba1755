// One token through one layer, a click at a time. Queries, keys and values have their colours; what comes from the cache
// is filled, what is computed now has a thick frame.

import { layerChips } from "../../page/js/chips.js";
import { node, pool, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

const MOST_NUMBERS = 6; // of a row that find room
const MOST_COLUMNS = 5; // tokens
/** What a stage reads without writing it down as rows. @type {Record<string, string>} */
const USES = { score: "QK", mix: "V" };
/** The box of a row. @type {Record<string, string>} */
const BOXES = { vector: "x", query: "Q", key: "K", value: "V" };
/** How far each key goes. @type {Record<string, number>} */
const MOVES = { ArrowRight: 1, ArrowLeft: -1 };

/**
 * @typedef {import("../../page/js/words.js").Told} Told
 * @typedef {{ what: string, position: number, source: "cache" | "computed", numbers: number[], length: number }} Row
 * @typedef {{ name: string, title: Told, text: Told, rows: Row[] }} Stage
 * @typedef {{ position: number, layer: number, num_layers: number, labels: string[], stages: Stage[] }} Walk  as walk_value makes it
 */

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const parts = build(element, api.store);
  /** @type {Walk | null} */
  let value = null;

  /** @param {number} by */
  function go(by) {
    if (value) api.store.set({ stage: Math.max(0, stageOf(value, api.store.get()) + by) });
  }

  parts.back.addEventListener("click", () => go(-1));
  parts.next.addEventListener("click", () => go(1));
  parts.side.addEventListener("keydown", (event) => {
    if (!(event.key in MOVES)) return;
    event.preventDefault();
    event.stopPropagation(); // the page's own arrow keys move the step
    go(MOVES[event.key]);
  });

  /** @param {import("../../page/js/types.js").State} state */
  function draw(state) {
    element.classList.toggle("is-empty", !value);
    if (!value) return;
    const stage = stageOf(value, state);
    drawWords(parts, value, stage);
    drawRows(parts.rows, value.stages[stage].rows, value.labels);
    drawStack(parts.stack, value, stage);
  }

  return {
    reads: ["stage"],
    update(next) {
      value = next?.stages ? next : null;
      draw(api.store.get());
    },
    draw,
  };
}

/** @param {Walk} value @param {{ stage: number }} state */
const stageOf = ({ stages }, { stage }) => Math.min(stage, stages.length - 1);

/** @param {HTMLElement} element @param {import("../../page/js/types.js").Store} store */
function build(element, store) {
  const head = node("div.stepper-head", {}, element);
  const title = node("h3", {}, head);
  const layers = layerChips(head, store);
  const board = node("div.stepper-board", {}, element);
  const left = node("div", {}, board);
  const stack = node("div.stepper-stack", { "aria-hidden": true }, left);
  node("p.stepper-legend", {}, left, words.say("inside_the_cache.walk.legend"));
  const keys = words.say("inside_the_cache.walk.keys");
  const side = node("div.stepper-side", { tabindex: 0, role: "group", "aria-label": keys }, board);
  const heading = node("h4", { "aria-live": "polite" }, side);
  const text = node("p", {}, side);
  const rows = node("div.stepper-rows", {}, side);
  const buttons = node("div.stepper-buttons", {}, side);
  const back = node("button.small-button", { type: "button" }, buttons, words.say("inside_the_cache.walk.back"));
  const next = node("button.small-button", { type: "button" }, buttons, words.say("inside_the_cache.walk.next"));
  const count = node("span.note", {}, buttons);
  return { title, layers, stack, side, heading, text, rows, back, next, count };
}

/** @param {ReturnType<typeof build>} parts @param {Walk} value @param {number} stage */
function drawWords({ title, layers, heading, text, count, back, next }, value, stage) {
  const { position, labels, layer, num_layers, stages } = value;
  const [number, steps, now] = [stage + 1, stages.length, stages[stage]];
  const facts = { number: position + 1, token: labels[position], layer: layer + 1 };
  say(title, words.say("inside_the_cache.walk.title", facts));
  layers.draw(num_layers, layer);
  say(heading, words.say("inside_the_cache.walk.heading", { number, title: now.title }));
  say(text, words.say(now.text));
  say(count, words.say("inside_the_cache.walk.count", { number, steps }));
  back.disabled = number === 1;
  next.disabled = number === steps;
}

/** @param {HTMLElement} holder @param {Row[]} rows @param {string[]} labels */
function drawRows(holder, rows, labels) {
  const lines = pool(holder, rows.length, () => {
    const line = node("div.number-line");
    node("span.number-name", {}, line);
    node("span.number-list", {}, line);
    node("span.number-source", {}, line);
    return line;
  });
  rows.forEach(({ what, position, source, numbers, length }, index) => {
    const [name, list, from] = lines[index].children;
    set(lines[index], { "data-source": source, "data-what": what });
    say(name, words.say(`inside_the_cache.row.${what}`, { token: labels[position] }));
    const shown = numbers.slice(0, MOST_NUMBERS).map((number) => words.say("inside_the_cache.row.number", { number }));
    say(list, [...shown, ...(length > MOST_NUMBERS ? ["…"] : [])].join("  "));
    say(from, words.say(`inside_the_cache.row.${source}`, { length }));
  });
}

/** Each token of the text a column: K and V of this layer; the new token also has its vector and its query.
 * @param {HTMLElement} holder @param {Walk} value @param {number} stage */
function drawStack(holder, value, stage) {
  const first = Math.max(0, value.position - MOST_COLUMNS + 1);
  const letters = Object.values(BOXES);
  const columns = pool(holder, value.position - first + 1, () => {
    const column = node("div.stack-column");
    node("div.stack-label", {}, column);
    for (const _letter of letters) node("div.stack-box", {}, column);
    return column;
  });
  for (let place = 0; place < columns.length; place += 1) {
    const position = first + place;
    const [label, ...boxes] = columns[place].children;
    say(label, value.labels[position]);
    letters.forEach((letter, index) => {
      const state = boxState(value, stage, letter, position);
      const isGone = state === "gone";
      say(boxes[index], isGone ? "·" : letter);
      const title = isGone ? words.say("inside_the_cache.walk.gone", { letter }) : null;
      set(boxes[index], { "data-state": state, "data-letter": letter, title });
    });
  }
}

/** How a token's box stands at a stage: "cache" or "computed" where the stage works with it, "gone" where nobody keeps
 * it, "there" where it waits, "later" where it is not yet.
 * @param {Walk} value @param {number} stage @param {string} letter @param {number} position */
export function boxState({ position: newest, stages }, stage, letter, position) {
  const isIt = (/** @type {Row} */ row) => BOXES[row.what] === letter && row.position === position;
  const touched = stages[stage].rows.find(isIt);
  if (touched) return touched.source;
  const isNew = position === newest;
  const isKeptRow = letter === "K" || letter === "V";
  if (!isKeptRow && (!isNew || stages[stage].name === "keep")) return "gone"; // not kept, not needed
  if (USES[stages[stage].name]?.includes(letter)) return isNew ? "computed" : "cache";
  const isThere = !isNew || stages.slice(0, stage + 1).some(({ rows }) => rows.some(isIt));
  return isThere ? "there" : "later";
}
