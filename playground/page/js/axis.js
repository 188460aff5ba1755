// Axes of the pictures that are drawn by hand: where marks stand, and lines with words for them.

import { pool, say, set, svg } from "./svg.js";

const LINE = 17; // pixels that a word needs below the one before it

/**
 * @typedef {{ left: number, right: number, top: number, bottom: number }} Edge  pixels around the curve
 * @typedef {(value: number) => number} Scale  from a value to a pixel
 */

/** From `domain` to `range` in proportion; a domain without length lies at the start of the range.
 * @param {[number, number]} domain @param {[number, number]} range @returns {Scale} */
export function linearScale([low, high], [from, to]) {
  const each = high === low ? 0 : (to - from) / (high - low);
  return (value) => from + (value - low) * each;
}

/** The same by ratios: both ends of the domain are above 0.
 * @param {[number, number]} domain @param {[number, number]} range @returns {Scale} */
export function logScale([low, high], range) {
  const scale = linearScale([Math.log(low), Math.log(high)], range);
  return (value) => scale(Math.log(value));
}

/** Powers of ten from 1 to `top`, and `top` itself, on `height` pixels; a power too near to the top gives way.
 * @param {number} top @param {number} height @returns {number[]} */
export function logMarks(top, height) {
  const y = logScale([1, top], [height, 0]);
  const marks = [];
  for (let mark = 1; mark < top && y(mark) >= LINE; mark *= 10) marks.push(mark);
  return [...marks, top];
}

/** Whole steps from 0 by a round stride, at most about `most` of them.
 * @param {number} numSteps @param {number} most @returns {number[]} */
export function stepMarks(numSteps, most) {
  const strides = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
  const stride = strides.find((size) => numSteps / size <= Math.max(most, 2)) ?? 2000;
  return Array.from({ length: Math.ceil(numSteps / stride) }, (_, index) => index * stride);
}

/** Corners of a line through one value a step, for a polyline. @param {ArrayLike<number>} values @param {Scale} x @param {Scale} y */
export function pointsOf(values, x, y) {
  return Array.from(values, (value, step) => `${x(step).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
}

/** All dots as one path of points: one node however many steps. @param {ArrayLike<number>} values @param {Scale} x @param {Scale} y */
export function dotsOf(values, x, y) {
  return Array.from(values, (value, step) => `M${x(step).toFixed(1)} ${y(value).toFixed(1)}h0`).join("");
}

/**
 * A line across the picture for each mark of the upright axis, with its word to the left.
 * @param {Element} group
 * @param {number[]} marks
 * @param {{ y: Scale, left: number, right: number, word: (mark: number) => string }} axis  left, right: ends of the lines
 */
export function drawRows(group, marks, { y, left, right, word }) {
  const rows = pool(group, marks.length, () => {
    const row = svg("g");
    svg("line.grid-line", {}, row);
    svg("text.axis", { "text-anchor": "end", dy: "0.35em" }, row);
    return row;
  });
  marks.forEach((mark, index) => {
    const [line, text] = rows[index].children;
    set(line, { x1: left, x2: right, y1: y(mark), y2: y(mark) });
    set(text, { x: left - 8, y: y(mark) });
    say(text, word(mark));
  });
}

/**
 * A word for each mark of the lower axis.
 * @param {Element} group
 * @param {number[]} marks
 * @param {{ x: Scale, y: number, word: (mark: number) => string }} axis  y: the foot of the words
 */
export function drawColumns(group, marks, { x, y, word }) {
  const texts = pool(group, marks.length, () => svg("text.axis", { "text-anchor": "middle" }));
  marks.forEach((mark, index) => {
    set(texts[index], { x: x(mark), y });
    say(texts[index], word(mark));
  });
}
