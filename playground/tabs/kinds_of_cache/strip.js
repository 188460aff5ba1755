// Which positions a cache holds, a line for each layer, or for each head where heads differ, and how many bits its
// choices are off, a bar for each step.

import { pool, set, svg } from "../../page/js/svg.js";

const LINE = { least: 2, most: 11 }; // pixels of a layer, with the gap below it
const LINES = 132; // pixels for all of them, where that is enough
const MARK = 8; // of the marks above
const BITS = 34; // of the tallest bar

/**
 * @typedef {object} Held
 * @property {[number, number][][]} layers  or heads: runs of positions: first, how many
 * @property {number} rounded  how many from the first on are stored in few bits
 * @property {number[]} places  to be marked
 * @property {number} seen  tokens of the text so far
 * @property {number} total  tokens of the whole text
 */

/** Runs cut in two where those in few bits end.
 * @param {[number, number][]} runs @param {number} rounded @returns {{ start: number, count: number, isRounded: boolean }[]} */
export function pieces(runs, rounded) {
  return runs.flatMap(([start, count]) => {
    const few = Math.max(0, Math.min(count, rounded - start));
    return [
      { start, count: few, isRounded: true },
      { start: start + few, count: count - few, isRounded: false },
    ].filter((piece) => piece.count > 0);
  });
}

/** @param {Element} holder @param {Held} held @param {string} name */
export function drawStrip(holder, { layers, rounded, places, seen, total }, name) {
  const each = Math.max(LINE.least, Math.min(LINE.most, Math.floor(LINES / layers.length)));
  const height = MARK + layers.length * each;
  const [picture] = pool(holder, 1, () => svg("svg.kinds-strip", { preserveAspectRatio: "none", role: "img" }));
  set(picture, { viewBox: `0 0 ${total} ${height}`, "aria-label": name, height });
  const boxes = [
    ...places.map((x) => ({ kind: "mark", x, width: 1, y: 0, height: MARK - 2 })),
    ...layers.flatMap((runs, layer) => {
      const line = { y: MARK + layer * each, height: each > 6 ? each - 3 : each - 1 };
      const stored = pieces(runs, rounded).map(({ start, count, isRounded }) => ({
        kind: isRounded ? "rounded" : "held",
        x: start,
        width: count,
        ...line,
      }));
      return [{ kind: "gone", x: 0, width: seen, ...line }, ...stored];
    }),
  ];
  const rects = pool(picture, boxes.length, () => svg("rect"));
  boxes.forEach(({ kind, ...box }, index) => {
    set(rects[index], { class: `kinds-${kind}`, ...box });
  });
}

/** Where the pointer is in the text. @param {Element} strip @param {number} clientX @param {number} total */
export function positionAt(strip, clientX, total) {
  const { left, width } = strip.getBoundingClientRect();
  return Math.max(0, Math.min(total - 1, Math.floor(((clientX - left) / width) * total)));
}

/** @param {Element} holder @param {number[]} bits @param {number} step @param {number} most */
export function drawBits(holder, bits, step, most) {
  const [picture] = pool(holder, 1, () =>
    svg("svg.kinds-bits", { preserveAspectRatio: "none", "aria-hidden": "true" }),
  );
  set(picture, { viewBox: `0 0 ${bits.length} ${BITS}`, height: BITS });
  const rects = pool(picture, bits.length, () => svg("rect.kinds-bit"));
  bits.forEach((bit, index) => {
    const height = Math.max(2, (bit / most) * BITS);
    rects[index].classList.toggle("is-now", index === step);
    set(rects[index], { x: index + 0.12, width: 0.76, y: BITS - height, height });
  });
}
