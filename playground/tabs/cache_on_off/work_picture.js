// What a run computes, as an area: a row is a step, a column is a position of the text, and a cell is drawn where the
// model computes that token in that step. With the cache a thin staircase, without it everything up to the edge.

import { linearScale } from "../../page/js/axis.js";
import { count } from "../../page/js/numbers.js";
import { pool, say, set, svg } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/**
 * @typedef {object} Work
 * @property {number} promptLength  tokens
 * @property {number[]} fedWith  tokens that went through the model at each step, with the cache
 * @property {number[]} fedWithout  the same without it
 * @property {number} [numSteps]  of the whole run, while it is not complete
 * @property {number | null} [step]  outlined in both halves, from 0
 *
 * @typedef {{ left: number, top: number, width: number, height: number }} Box
 */

export const GAP = 24; // pixels between the two halves
const LABEL = 26; // pixels for the words under a half
const LETTER = 9; // pixels of a letter of those words, at most
const ROOMY = 170; // a picture at least this high has words beside its numbers
const CAPTIONED = 190; // a half at least this wide has them
const MOST_OF_HEIGHT = 0.22; // a row is not higher than this part of its half, however few steps there are

/** What is fed without a cache: at every step the whole text so far. @param {number} promptLength @param {number} numSteps */
export function fedWithoutCache(promptLength, numSteps) {
  return Array.from({ length: numSteps }, (_, step) => promptLength + step);
}

/**
 * Draws both halves into an <svg>, the cache on the left and no cache on the right, on the same scale. It may be called
 * again with other numbers or another size; the elements are made once.
 * @param {Element} picture @param {Work} work @param {{ width: number, height: number }} size  in pixels
 */
export function drawWork(picture, work, { width, height }) {
  const { promptLength, fedWith, fedWithout } = work;
  const numSteps = Math.max(work.numSteps ?? 0, fedWith.length, fedWithout.length, 1);
  const counts = { with: sum(fedWith), without: sum(fedWithout) };
  const spoken = words.say("cache_on_off.work.spoken", { ...counts, prompt: promptLength, steps: numSteps });
  set(picture, { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": spoken });
  const half = (width - GAP) / 2;
  const isRoomy = height >= ROOMY;
  const box = { top: 1, width: half, height: height - 2 - (isRoomy ? LABEL : 0) };
  const views = pool(picture, 2, (place) => buildHalf(place ? "off" : "on"));
  [fedWith, fedWithout].forEach((fed, place) => {
    const given = { promptLength, fed, numSteps, step: work.step ?? null, isRoomy };
    drawHalf(views[place], given, { ...box, left: place * (half + GAP) });
  });
}

/** The children of a half, in the order in which they are painted. @param {"on" | "off"} side */
function buildHalf(side) {
  const half = svg("g", { "data-side": side });
  svg("path.work-edge", {}, half);
  svg(/** @type {any} */ (`path.work-${side}`), {}, half);
  svg("rect.work-step", {}, half);
  svg(/** @type {any} */ (`rect.work-plate-${side}`), { rx: 4 }, half);
  svg(/** @type {any} */ (`text.work-number.work-number-${side}`), {}, half);
  svg(/** @type {any} */ (`text.work-words.work-number-${side}`), {}, half, words.say("cache_on_off.work.processed"));
  svg("text.axis", { "text-anchor": "start" }, half);
  svg("text.axis", { "text-anchor": "end" }, half);
  return half;
}

/**
 * @param {Element} half
 * @param {{ promptLength: number, fed: number[], numSteps: number, step: number | null, isRoomy: boolean }} given
 * @param {Box} box
 */
function drawHalf(half, { promptLength, fed, numSteps, step, isRoomy }, box) {
  const [edge, cells, cursor, plate, number, caption, prompt, end] = half.children;
  const { left, top, width, height } = box;
  const { x, y, thick } = scales(promptLength, numSteps, box);
  const rows = rowsOf(promptLength, fed);
  set(edge, { d: `M${left} ${top}V${top + height}H${left + width}M${x(promptLength)} ${top}V${top + height}` });
  set(cells, { d: rows.map((row, place) => cellsOf(row, x, y(place), thick)).join("") });
  const row = step === null ? undefined : rows[step];
  cursor.toggleAttribute("hidden", !row);
  if (row && step !== null) {
    const wide = Math.max(x(row.end) - x(row.start), 4);
    set(cursor, { x: x(row.start) - 2, y: y(step) - 2, width: wide + 4, height: thick + 4 });
  }
  const text = count(sum(fed));
  const size = Math.max(18, Math.min(44, 0.24 * height, (0.7 * width) / (0.62 * text.length)));
  const foot = top + height - 10;
  const letters = isRoomy && width > CAPTIONED ? (caption.textContent?.length ?? 0) : 0;
  const base = letters ? foot - 26 : foot;
  set(number, { x: left + 10, y: base, "font-size": size.toFixed(1) });
  say(number, text);
  const wide = Math.max(0.62 * size * text.length, LETTER * letters) + 12; // a count is read on stripes and on nothing
  set(plate, { x: left + 4, y: base - 0.8 * size - 4, width: wide, height: foot - base + 0.8 * size + 10 });
  caption.toggleAttribute("hidden", !letters);
  prompt.toggleAttribute("hidden", !isRoomy);
  set(caption, { x: left + 10, y: foot });
  set(prompt, { x: left, y: top + height + 20 });
  say(prompt, words.say("cache_on_off.work.prompt", { prompt: promptLength }));
  end.toggleAttribute("hidden", !isRoomy || width < 330);
  set(end, { x: left + width, y: top + height + 20 });
  say(end, words.say("cache_on_off.work.position", { position: promptLength + numSteps - 1 }));
}

/** @param {number} promptLength @param {number} numSteps @param {Box} box */
function scales(promptLength, numSteps, { left, top, width, height }) {
  const each = Math.min(height / numSteps, MOST_OF_HEIGHT * height);
  return {
    x: linearScale([0, promptLength + numSteps - 1], [left, left + width]),
    y: linearScale([0, numSteps], [top, top + numSteps * each]),
    thick: Math.max(each > 4 ? 0.84 * each : each, 1),
  };
}

/** The positions that each step computes: step n ends at position P + n, and what was fed reaches back from there.
 * @param {number} promptLength @param {number[]} fed */
export function rowsOf(promptLength, fed) {
  return fed.map((numFed, step) => ({ start: promptLength + step - numFed, end: promptLength + step }));
}

/** One row of a path. A cell of a long text would be thinner than what can be seen.
 * @param {{ start: number, end: number }} row @param {(value: number) => number} x @param {number} top @param {number} thick */
function cellsOf({ start, end }, x, top, thick) {
  const wide = Math.max(x(end) - x(start), 2.5);
  return `M${(x(end) - wide).toFixed(1)} ${top.toFixed(1)}h${wide.toFixed(1)}v${thick.toFixed(1)}h${(-wide).toFixed(1)}z`;
}

/** @param {number[]} values */
const sum = (values) => values.reduce((total, each) => total + each, 0);
