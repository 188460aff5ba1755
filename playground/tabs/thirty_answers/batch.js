// The batch, rows by steps, as two programs compute it: one feeds ended rows the end token until the last row is done,
// ours lets an ended row leave.

import { count } from "../../page/js/numbers.js";
import { node, pool, say, set, svg } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/**
 * @typedef {{ steps: number[], prompt_length: number, minimind: number, padded: number, dropped: number,
 *   merged: number, filled: number }} Batch  from batch_work.py; `steps` of each row
 * @typedef {"live" | "end" | "filled"} Kind
 * @typedef {{ row: number, step: number, line: number, kind: Kind }} Cell  `line`: where its row is drawn
 * @typedef {ReturnType<typeof makePicture>} Picture
 */

/** @type {Kind[]} */
const KINDS = ["live", "end", "filled"];
const NARROW = 520; // pixels: the pictures are one below the other

/** What each cell of the padded rectangle is: rows by steps. @param {{ steps: number[] }} batch @returns {Cell[]} */
export function paddedCells({ steps }) {
  const longest = Math.max(...steps);
  return steps.flatMap((count, row) =>
    Array.from({ length: longest }, (_, step) => ({ row, step, line: row, kind: kindAt(step, count) })),
  );
}

/** Our batch: the rows that are still in it at each step move up. @param {{ steps: number[] }} batch @returns {Cell[]} */
export function droppedCells({ steps }) {
  const longest = Math.max(...steps);
  return Array.from({ length: longest }, (_, step) => step).flatMap((step) =>
    steps
      .flatMap((count, row) => (step < count ? [row] : []))
      .map((row, line) => ({ row, step, line, kind: kindAt(step, steps[row]) })),
  );
}

/** @param {number} step @param {number} count  steps of the row @returns {Kind} */
function kindAt(step, count) {
  if (step >= count) return "filled";
  return step === count - 1 ? "end" : "live";
}

/** The size of a cell where `width` pixels hold both pictures. @param {number} width @param {number} columns */
export function cellSize(width, columns) {
  const [wide, most] = width < NARROW ? [width, 11] : [width / 2 - 12, 16];
  return Math.max(4, Math.min(most, Math.floor(wide / columns)));
}

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  element.classList.add("batch");
  const { most } = api.props.value;
  const pictures = node("div.batch-pictures", {}, element);
  const padded = makePicture(pictures, words.say("thirty_answers.batch.padded"));
  const dropped = makePicture(pictures, words.say("thirty_answers.batch.dropped"));
  makeLegend(element);
  const body = node("tbody", {}, node("table.batch-table", {}, element));
  const note = node("p.note", {}, element);
  /** What the words are about. @type {Batch | null} */
  let told = null;

  return {
    reads: ["answers", "answerRows"],
    draw({ answers, answerRows }) {
      const batch = /** @type {Batch | undefined} */ (answers.value?.batch);
      if (!batch) return;
      if (batch !== told) {
        told = batch;
        tellPictures(padded, dropped, batch);
        drawTable(body, batch, most);
        say(note, fillWords(batch));
      }
      const size = cellSize(pictures.clientWidth, Math.max(...batch.steps));
      drawCells(padded, paddedCells(batch), answerRows, batch.steps, size);
      drawCells(dropped, droppedCells(batch), answerRows, batch.steps, size);
    },
  };
}

/** @param {Element} parent @param {string} title */
function makePicture(parent, title) {
  const figure = node("figure", {}, parent);
  const caption = node("figcaption", {}, figure);
  node("b", {}, caption, title);
  const total = node("span.batch-total", {}, caption);
  const canvas = svg("svg", { role: "img" }, figure);
  const cells = svg("g", {}, canvas);
  return { total, canvas, cells, foot: svg("text.axis", { "text-anchor": "end" }, canvas) };
}

/** @param {Element} element */
function makeLegend(element) {
  const legend = node("p.note.batch-legend", {}, element);
  for (const kind of KINDS) {
    const entry = node("span.batch-entry", {}, legend);
    node(`span.batch-key.is-${kind}`, { "aria-hidden": "true" }, entry);
    node("span", {}, entry, words.say(`thirty_answers.batch.kind.${kind}`));
  }
}

/** @param {Picture} picture @param {Cell[]} all @param {number[] | null} lit @param {number[]} steps @param {number} size */
function drawCells({ canvas, cells, foot }, all, lit, steps, size) {
  const [width, bottom] = [Math.max(...steps) * size, steps.length * size];
  set(canvas, { width, height: bottom + 24, viewBox: `0 0 ${width} ${bottom + 24}` });
  set(foot, { x: width, y: bottom + 19 });
  say(foot, words.say("thirty_answers.batch.step", { step: Math.max(...steps) }));
  const items = pool(cells, all.length, () => svg("rect"));
  all.forEach(({ row, step, line, kind }, place) => {
    const look = `batch-cell is-${kind}${lit?.includes(row) ? " is-lit" : ""}`;
    const at = { x: step * size + 0.5, y: line * size + 0.5 };
    set(items[place], { ...at, width: size - 1, height: size - 1, class: look });
  });
}

/** @param {Picture} padded @param {Picture} dropped @param {Batch} batch */
function tellPictures(padded, dropped, { steps, filled, ...batch }) {
  const longest = Math.max(...steps);
  const rows = steps.length;
  say(padded.total, words.say("thirty_answers.batch.tokens", { count: batch.padded }));
  say(dropped.total, words.say("thirty_answers.batch.tokens", { count: batch.dropped }));
  const spoken = words.say("thirty_answers.batch.padded_spoken", { rows, steps: longest, filled });
  set(padded.canvas, { "aria-label": spoken });
  const last = steps.filter((count) => count === longest).length;
  set(dropped.canvas, { "aria-label": words.say("thirty_answers.batch.dropped_spoken", { rows, last }) });
}

/** Four ways to write the same answers, and why each feeds as many tokens as it does. @param {Batch} batch @param {number} most  of the answers that are sampled for one picture
 * @returns {[way: string, tokens: number, why: string][]} */
export function waysOf({ steps, prompt_length: prompt, filled, minimind, padded, dropped, merged }, most) {
  const rows = steps.length;
  const fed = Math.max(...steps) - 1;
  return [
    [
      words.say("thirty_answers.batch.way.minimind"),
      minimind,
      words.say("thirty_answers.batch.why.minimind", { rows, prompt, steps: fed }),
    ],
    [
      words.say("thirty_answers.batch.way.padded"),
      padded,
      words.say("thirty_answers.batch.why.padded", { rows, prompt, steps: fed, saved: minimind - padded }),
    ],
    [
      words.say("thirty_answers.batch.way.dropped"),
      dropped,
      words.say("thirty_answers.batch.why.dropped", { prompt, more: dropped - prompt, saved: filled }),
    ],
    [words.say("thirty_answers.batch.way.merged"), merged, words.say("thirty_answers.batch.why.merged", { most })],
  ];
}

/** @param {Element} body @param {Batch} batch @param {number} most */
function drawTable(body, batch, most) {
  const lines = waysOf(batch, most);
  const rows = pool(body, lines.length, () => {
    const line = node("tr");
    node("th", { scope: "row" }, line);
    node("span.batch-bar", {}, node("td.batch-lane", {}, line));
    node("td.batch-number", {}, line);
    node("td.batch-why", {}, line);
    return line;
  });
  lines.forEach(([way, tokens, why], place) => {
    const [head, lane, number, reason] = rows[place].children;
    say(head, way);
    /** @type {HTMLElement} */ (lane.firstChild).style.setProperty("--part", String(tokens / batch.minimind));
    say(number, count(tokens));
    say(reason, why);
  });
}

/** @param {Batch} batch */
function fillWords({ steps, filled }) {
  if (!filled) return words.say("thirty_answers.batch.nothing_filled");
  return words.say("thirty_answers.batch.filled", { filled, cells: steps.length * Math.max(...steps) });
}
