// What attention.js shows, as numbers: the row of a step, what it reads, and what the step computes.

import * as words from "../../page/js/words.js";
import { bytesOf } from "./canvas.js";

const LABEL = 128; // px for the name of a row, less on a phone
const HIGHEST = 400; // px for all rows

/**
 * @typedef {object} Weights  one layer's, as attention_value makes them
 * @property {number} layer
 * @property {number} num_layers
 * @property {number} num_heads
 * @property {number} prompt_length
 * @property {number} first_row  of a long text only the last rows are sent
 * @property {string[]} labels
 * @property {Uint16Array} weights  (heads, rows from first_row on, tokens), 65,535 for 1
 */

/**
 * What is looked at: a row, and what it and those above it read.
 * @typedef {object} Look
 * @property {Weights} value
 * @property {number} head  -1: the mean of all
 * @property {number} row  of the token of this step
 * @property {number} firstNew  the first row that this step computes with a cache
 * @property {number} largest  weight of all rows so far
 * @property {Grid} grid
 */

/** In pixels. @typedef {{ left: number, wide: number, high: number, width: number }} Grid */

/** @param {Omit<Weights, "weights"> & { weights: string }} sent  in base64 @returns {Weights} */
export function decoded(sent) {
  return { ...sent, weights: new Uint16Array(bytesOf(sent.weights).buffer) };
}

/** @param {Weights} value @param {number} head @param {number} step @param {number} width in pixels @returns {Look} */
export function lookAt(value, head, step, width) {
  const { labels, prompt_length, first_row, num_heads } = value;
  const row = Math.min(labels.length - 1, prompt_length - 1 + step);
  const firstNew = row < prompt_length ? 0 : row; // the prompt's rows are computed together
  const look = { value, head: head < num_heads ? head : -1, row, firstNew, largest: 1e-6, grid: gridOf(value, width) };
  for (let from = Math.max(first_row, 1); from <= row; from += 1) {
    // row 0 has one token to read: always 1
    for (let to = 0; to <= from; to += 1) look.largest = Math.max(look.largest, weightAt(look, from, to));
  }
  return look;
}

/** Room for all rows from the start: a picture that grows must not shrink its cells. @param {Weights} value @param {number} width
 * @returns {Grid} */
function gridOf({ labels, first_row }, width) {
  const left = Math.min(LABEL, width / 4);
  const wide = Math.max(1, Math.min(26, (width - left) / labels.length));
  const high = Math.max(2, Math.min(22, wide, HIGHEST / (labels.length - first_row)));
  return { left, wide, high, width };
}

/** What the token at `row` reads of the one at `position`. @param {Pick<Look, "value" | "head">} look @param {number} row
 * @param {number} position */
export function weightAt({ value, head }, row, position) {
  const { weights, num_heads, first_row, labels } = value;
  const rows = labels.length - first_row;
  const one = (/** @type {number} */ which) =>
    weights[(which * rows + row - first_row) * labels.length + position] / 65535;
  if (head >= 0) return one(head);
  let sum = 0;
  for (let which = 0; which < num_heads; which += 1) sum += one(which);
  return sum / num_heads;
}

/** The row of this step: a line for each token that it reads. @param {Pick<Look, "value" | "head" | "row">} look
 * @returns {import("./numbers_below.js").Table | null} */
export function tableOf(look) {
  const { value, row } = look;
  if (row < value.first_row) return null;
  const columns = [words.say("inside_the_cache.attention.read"), words.say("inside_the_cache.attention.weight")];
  const rows = value.labels
    .slice(0, row + 1)
    .map((token, position) => [
      words.say("inside_the_cache.heat.token", { position, token }),
      words.say("inside_the_cache.number.percent", { share: weightAt(look, row, position) }),
    ]);
  return { columns, rows };
}

/** What this step computes, with a cache and without. @param {Pick<Look, "value" | "row" | "firstNew">} look
 * @returns {import("../../page/js/words.js").Told} */
export function workOf({ value, row, firstNew }) {
  const facts = { rows: row + 1, scores: (row + 1) ** 2, hidden: (row * (row + 1)) / 2 };
  const work = { key: `inside_the_cache.attention.${firstNew === 0 ? "prompt" : "step"}`, facts };
  if (row >= value.first_row) return work;
  return { key: "inside_the_cache.attention.gone", facts: { kept: value.labels.length - value.first_row, work } };
}

/** What the pointer at this pixel is on. @param {Look} look @param {number} x @param {number} y
 * @returns {import("../../page/js/words.js").Told} */
export function pointedAt(look, x, y) {
  const { grid, value, row } = look;
  const from = Math.floor((y - 2) / grid.high) + value.first_row;
  const to = Math.floor((x - grid.left) / grid.wide);
  if (from < value.first_row || from > row || to < 0 || to > row) return workOf(look);
  const facts = { reader: value.labels[from], from, read: value.labels[to], to };
  if (to > from) return { key: "inside_the_cache.attention.hidden", facts };
  return { key: "inside_the_cache.attention.share", facts: { ...facts, share: weightAt(look, from, to) } };
}
