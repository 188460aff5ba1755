// The keys and values that one layer keeps: a row a token, a column a number, heads side by side. A number above 0
// stands on the middle line of its row, one below 0 hangs from it. The row that the step added is framed; rows of later
// steps are not in the cache yet and stay empty.

import { layerChips } from "../../page/js/chips.js";
import { node, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { bytesOf, sheetOf, shortened } from "./canvas.js";
import { numbersBelow } from "./numbers_below.js";
import { stepOf } from "./steps.js";

const ROW = 26,
  LABEL = 128,
  HEAD = 28,
  GAP = 8;

/** @typedef {"keys" | "values"} Name */

/**
 * @typedef {object} Kept  one layer's, as heat_value makes them
 * @property {number} layer
 * @property {number} num_layers
 * @property {number} num_heads
 * @property {number} head_dim
 * @property {number} prompt_length
 * @property {number} first_row  of a long text only the last rows are sent
 * @property {string[]} labels  of the rows sent
 * @property {Record<Name, number>} largest
 * @property {Int8Array} keys  (rows, heads, head size), 127 for the largest
 * @property {Int8Array} values
 */

/**
 * One of the two maps at one step.
 * @typedef {object} Look
 * @property {Kept} value
 * @property {Name} name
 * @property {number} numStored  of the rows sent
 * @property {number} firstNew  the first row that the step added
 * @property {number} width  in pixels
 * @property {number} cell  width of a number, in pixels
 */

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const layers = layerChips(element, api.store);
  const pictures = node("div.heat-pair", {}, element);
  const note = node("p.note", {}, element);
  const maps = [
    makeMap(pictures, "keys", words.say("inside_the_cache.heat.keys"), note),
    makeMap(pictures, "values", words.say("inside_the_cache.heat.values"), note),
  ];
  /** @type {Kept | null} */
  let value = null;
  const numbers = numbersBelow(element, words.say("inside_the_cache.heat.numbers"), () =>
    value ? tableOf(value, rowsAt(value, stepOf(api.store.get()))) : null,
  );

  /** @param {import("../../page/js/types.js").State} state */
  function draw(state) {
    element.classList.toggle("is-empty", !value);
    if (!value) return;
    const { layer, num_layers, num_heads, head_dim } = value;
    layers.draw(num_layers, layer);
    const { total, numStored, firstNew } = rowsAt(value, stepOf(state));
    for (const map of maps) map.draw(value, numStored, firstNew);
    const facts = { layer: layer + 1, rows: total, heads: num_heads, size: head_dim };
    say(note, words.say("inside_the_cache.heat.summary", facts));
    numbers.update();
  }

  return {
    reads: ["cacheStep", "dark"],
    update(next) {
      value = next?.keys ? { ...next, keys: numbersOf(next.keys), values: numbersOf(next.values) } : null;
      draw(api.store.get());
    },
    draw,
  };
}

/** @param {string} base64 */
const numbersOf = (base64) => new Int8Array(bytesOf(base64).buffer);

/** How many tokens are in the cache at a step, how many of the rows sent are, and the first that the step added.
 * @param {Pick<Kept, "first_row" | "labels" | "prompt_length">} value @param {number} step */
export function rowsAt({ first_row, labels, prompt_length }, step) {
  const total = Math.min(prompt_length + step, first_row + labels.length);
  const numStored = Math.max(0, total - first_row);
  return { total, numStored, firstNew: step > 0 ? Math.max(0, numStored - 1) : 0 };
}

/** A row for each token, head and kind that is stored. @param {Kept} value @param {{ numStored: number }} at
 * @returns {import("./numbers_below.js").Table} */
export function tableOf(value, { numStored }) {
  const { labels, num_heads, head_dim, first_row } = value;
  const places = Array.from({ length: head_dim }, (_, place) => place);
  const rows = labels
    .slice(0, numStored)
    .flatMap((token, row) =>
      /** @type {Name[]} */ (["keys", "values"]).flatMap((name) =>
        Array.from({ length: num_heads }, (_, head) => [
          words.say("inside_the_cache.heat.token", { position: row + first_row, token }),
          words.say(`inside_the_cache.heat.${name}`),
          words.say("inside_the_cache.head", { number: head + 1 }),
          ...places.map((place) =>
            words.say("inside_the_cache.row.number", { number: numberAt(value, name, row, head, place) }),
          ),
        ]),
      ),
    );
  const names = ["token", "kind", "head"].map((name) => words.say(`inside_the_cache.heat.column.${name}`));
  return { columns: [...names, ...places.map((place) => place + 1)], rows };
}

/** @param {Pick<Kept, "num_heads" | "head_dim" | "largest"> & Partial<Record<Name, Int8Array>>} value @param {Name} name
 * @param {number} row @param {number} head @param {number} place */
function numberAt(value, name, row, head, place) {
  const { num_heads, head_dim, largest } = value;
  return ((value[name]?.[(row * num_heads + head) * head_dim + place] ?? 0) / 127) * largest[name];
}

/** @param {HTMLElement} parent @param {Name} name @param {string} title @param {HTMLElement} note says what the pointer is on */
function makeMap(parent, name, title, note) {
  const block = node("div.heat", {}, parent);
  const heading = node("h3", {}, block, title);
  heading.classList.add(`is-${name}`);
  const scroller = node("div.heat-scroll", { tabindex: 0, role: "group", "aria-label": title }, block);
  const canvas = node("canvas", { role: "img" }, scroller);
  /** Of the last drawing: turns a pointer into a number. @type {Look | null} */
  let shown = null;

  canvas.addEventListener("pointermove", (event) => {
    const told = shown && pointedAt(shown, event.offsetX, event.offsetY);
    say(note, told ? words.say(told) : "");
  });

  return {
    /** @param {Kept} value @param {number} numStored @param {number} firstNew */
    draw(value, numStored, firstNew) {
      const width = block.clientWidth - 12;
      if (width <= 0) return;
      const before = shown?.numStored;
      shown = { value, name, numStored, firstNew, width, cell: cellWidth(value, width) };
      paint(canvas, shown);
      const facts = { layer: value.layer + 1, tokens: numStored };
      set(canvas, { "aria-label": words.say(`inside_the_cache.heat.picture.${name}`, facts) });
      if (before !== numStored) scroller.scrollTop = HEAD + numStored * ROW - scroller.clientHeight;
    },
  };
}

/** @param {Kept} value @param {number} width */
export function cellWidth({ num_heads, head_dim }, width) {
  return (width - LABEL - GAP * (num_heads - 1)) / (num_heads * head_dim);
}

/** Where a number's bar stands in its row: pixels from the row's top, and how high. Up for above 0, down for below.
 * Small numbers stay visible by the root. @param {number} number  from -1 to 1 */
export function barOf(number) {
  const middle = ROW / 2;
  const high = Math.sqrt(Math.abs(number)) * (middle - 1);
  return { top: number > 0 ? middle - high : middle, high };
}

/** Where a column begins, in pixels. @param {Look} look @param {number} column */
const leftOf = ({ value, cell }, column) => LABEL + column * cell + GAP * Math.floor(column / value.head_dim);

/** @param {HTMLCanvasElement} canvas @param {Look} look */
function paint(canvas, look) {
  const { value, numStored, firstNew, width } = look;
  const sheet = sheetOf(canvas, width, HEAD + value.labels.length * ROW);
  const { ink, colour, font } = sheet;
  ink.font = `18px ${font}`;
  ink.fillStyle = colour("--muted");
  for (let head = 0; head < value.num_heads; head += 1) {
    const name = words.say("inside_the_cache.head", { number: head + 1 });
    ink.fillText(name, leftOf(look, head * value.head_dim), HEAD / 2);
  }
  for (let row = 0; row < value.labels.length; row += 1) paintRow(sheet, look, row);
  ink.strokeStyle = colour("--ink");
  ink.lineWidth = 2.5;
  ink.strokeRect(1.5, HEAD + firstNew * ROW, width - 3, (numStored - firstNew) * ROW);
}

/** @param {import("./canvas.js").Sheet} sheet @param {Look} look @param {number} row */
function paintRow({ ink, colour, font }, look, row) {
  const { value, name, numStored, firstNew, cell } = look;
  const top = HEAD + row * ROW;
  const isStored = row < numStored;
  ink.font = `${isStored && row >= firstNew ? "bold " : ""}18px ${font}`;
  ink.fillStyle = colour(isStored ? "--ink" : "--muted");
  ink.fillText(shortened(value.labels[row]), 4, top + ROW / 2);
  if (!isStored) return;
  const columns = value.num_heads * value.head_dim;
  ink.fillStyle = colour("--grid");
  for (let head = 0; head < value.num_heads; head += 1)
    ink.fillRect(leftOf(look, head * value.head_dim), top + ROW / 2, value.head_dim * cell, 1);
  ink.fillStyle = colour(name === "keys" ? "--key" : "--value");
  for (let column = 0; column < columns; column += 1) {
    const bar = barOf(value[name][row * columns + column] / 127);
    ink.fillRect(leftOf(look, column), top + bar.top, Math.max(1, cell - 1), bar.high);
  }
}

/** What the pointer at this pixel is on. @param {Look} look @param {number} x @param {number} y
 * @returns {import("../../page/js/words.js").Told | null} */
export function pointedAt({ value, name, cell, numStored }, x, y) {
  const row = Math.floor((y - HEAD) / ROW);
  if (row < 0 || row >= value.labels.length) return null;
  const facts = { position: row + value.first_row, token: value.labels[row] };
  if (row >= numStored) return { key: "inside_the_cache.heat.later", facts };
  const headWidth = value.head_dim * cell + GAP;
  const head = Math.floor((x - LABEL) / headWidth);
  const place = Math.floor((x - LABEL - head * headWidth) / cell);
  if (head < 0 || head >= value.num_heads || place >= value.head_dim)
    return { key: "inside_the_cache.heat.token", facts };
  const number = numberAt(value, name, row, head, place);
  return { key: "inside_the_cache.heat.number", facts: { ...facts, head: head + 1, place: place + 1, number } };
}
