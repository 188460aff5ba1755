// Which stored keys and values change when one of the reasons for caching is taken away: layers × positions.
// A click on a token changes that one. An empty cell changed by exactly 0.

import { chips } from "../../page/js/chips.js";
import { small } from "../../page/js/numbers.js";
import { node, pool, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { sheetOf } from "./canvas.js";
import { numbersBelow } from "./numbers_below.js";

const ROW = 32,
  NAME = 40,
  NUMBERS = 128; // px beside the picture, as in style.css

/** @typedef {import("../../page/js/words.js").Told} Told */

/**
 * @typedef {object} Map  one experiment
 * @property {Told} title
 * @property {Told} text
 * @property {Told} verdict
 * @property {boolean} is_zero
 * @property {number} rounding  what is not larger is rounding only
 * @property {number[][]} cells  (layers, positions)
 * @property {number[]} earlier  the largest of each layer, before `from_position`
 * @property {number} from_position
 */

/** @typedef {{ name: string, maps: Map[] }} Reason */
/** @typedef {{ labels: string[], position: number, replacement: string, reasons: Reason[] }} Changes as changes_value makes them */

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const parts = build(element, (place) => {
    if (value) api.store.set({ reason: value.reasons[place].name });
  });
  /** @type {Changes | null} */
  let value = null;
  const numbers = numbersBelow(element, words.say("inside_the_cache.change.numbers"), () =>
    value ? tableOf(value, reasonOf(value, api.store.get())) : null,
  );

  /** @param {import("../../page/js/types.js").State} state */
  function draw(state) {
    element.classList.toggle("is-empty", !value);
    if (!value) return;
    const { labels, position, replacement, reasons } = value;
    const reason = reasonOf(value, state);
    const names = reasons.map(({ name }) => words.say(`inside_the_cache.reason.${name}.name`));
    parts.reasons.draw(names, reasons.indexOf(reason));
    say(parts.why, words.say(`inside_the_cache.reason.${reason.name}.text`));
    const changesToken = reason.name === "mask" || reason.name === "feed_forward";
    parts.lead.hidden = parts.strip.hidden = !changesToken;
    say(parts.lead, words.say("inside_the_cache.change.lead", { token: labels[position], replacement, position }));
    drawStrip(parts.strip, value, (chosen) => api.store.set({ position: chosen }));
    const blocks = pool(parts.maps, reason.maps.length, makeBlock);
    for (const [index, map] of reason.maps.entries()) drawBlock(blocks[index], map);
    numbers.update();
  }

  return {
    reads: ["dark", "reason"],
    update(next) {
      value = next?.reasons ? next : null;
      draw(api.store.get());
    },
    draw,
  };
}

/** @param {HTMLElement} element @param {(place: number) => void} choose */
function build(element, choose) {
  const reasons = chips(element, words.say("inside_the_cache.reason.choice"), choose);
  const why = node("p.why", {}, element);
  const lead = node("p.strip-words", {}, element);
  const name = words.say("inside_the_cache.change.tokens");
  const strip = node("div.token-strip.small-tokens", { role: "group", "aria-label": name, tabindex: 0 }, element);
  const maps = node("div.change-maps", {}, element);
  return { reasons, why, lead, strip, maps };
}

/** @param {Changes} value @param {{ reason: string }} state */
const reasonOf = ({ reasons }, { reason }) => reasons.find(({ name }) => name === reason) ?? reasons[0];

/** A row for each token, a column for each layer of each map. @param {Pick<Changes, "labels">} value @param {Reason} reason
 * @returns {import("./numbers_below.js").Table} */
export function tableOf({ labels }, { maps }) {
  const columns = maps.flatMap(({ title, cells }) =>
    cells.map((_, layer) => words.say("inside_the_cache.change.column", { title, layer: layer + 1 })),
  );
  const rows = labels.map((token, position) => [
    words.say("inside_the_cache.heat.token", { position, token }),
    ...maps.flatMap(({ cells }) => cells.map((row) => small(row[position]))),
  ]);
  return { columns: [words.say("inside_the_cache.heat.column.token"), ...columns], rows };
}

/** @param {HTMLElement} strip @param {Changes} value @param {(position: number) => void} choose */
function drawStrip(strip, { labels, position, replacement }, choose) {
  const tokens = pool(strip, labels.length, (place) => {
    const token = node("button.token", { type: "button" });
    token.addEventListener("click", () => choose(place));
    return token;
  });
  labels.forEach((label, place) => {
    say(tokens[place], place === position ? replacement : label);
    tokens[place].classList.toggle("is-cursor", place === position);
    set(tokens[place], { "aria-pressed": String(place === position) });
    tokens[place].disabled = place === 0; // nothing stands before it
  });
}

function makeBlock() {
  const block = node("div.change-map");
  node("h3", {}, block);
  node("p.verdict", {}, block);
  const body = node("div.change-body", {}, block);
  node("canvas", { role: "img" }, body);
  node("div.change-numbers", {}, body);
  node("p.note", {}, block);
  return block;
}

/** @param {Element} block @param {Map} map */
function drawBlock(block, map) {
  const [title, verdict, body, note] = block.children;
  say(title, words.say(map.title));
  say(verdict, words.say(map.verdict));
  set(verdict, { "data-size": map.is_zero ? "zero" : "real" });
  say(note, words.say(map.text));
  const [canvas, numbers] = body.children;
  paint(/** @type {HTMLCanvasElement} */ (canvas), map, block.clientWidth - NUMBERS);
  set(canvas, {
    "aria-label": words.say("inside_the_cache.change.picture", { title: map.title, verdict: map.verdict }),
  });
  const lines = pool(numbers, map.earlier.length, () => node("div"));
  map.earlier.forEach((change, layer) => {
    say(lines[layer], small(change));
    set(lines[layer], { "data-size": sizeOf(change, map.rounding) });
  });
}

/** Whether something changed, and more than rounding does. @param {number} change @param {number} rounding */
export function sizeOf(change, rounding) {
  if (change === 0) return "zero";
  return change <= rounding ? "rounding" : "real";
}

const COLOURS = { zero: "--grid", rounding: "--cut", real: "--off" };

/** @param {HTMLCanvasElement} canvas @param {Map} map @param {number} width in pixels */
function paint(canvas, { cells, rounding, from_position }, width) {
  if (width <= 0) return;
  const length = cells[0].length;
  const height = cells.length * ROW;
  const cell = (width - NAME) / length;
  const { ink, colour, font } = sheetOf(canvas, width, height);
  ink.font = `18px ${font}`;
  const largest = Math.max(1e-6, ...cells.flat());
  cells.forEach((row, layer) => {
    ink.globalAlpha = 1;
    ink.fillStyle = colour("--muted");
    ink.fillText(words.say("inside_the_cache.layer_row", { number: layer + 1 }), 0, (layer + 0.5) * ROW);
    row.forEach((change, position) => {
      const size = sizeOf(change, rounding);
      ink.fillStyle = colour(COLOURS[size]);
      ink.globalAlpha = size === "real" ? 0.25 + 0.75 * Math.sqrt(change / largest) : 0.6;
      // How large it is shows in the height too: no colour is needed to see it.
      const high = size === "real" ? (ROW - 4) * (0.4 + 0.6 * Math.sqrt(change / largest)) : 4;
      ink.fillRect(NAME + position * cell, (layer + 1) * ROW - 2 - high, cell - (cell > 5 ? 1 : 0), high);
    });
  });
  if (from_position === length) return;
  ink.globalAlpha = 1;
  ink.strokeStyle = colour("--ink");
  ink.setLineDash([5, 4]);
  ink.beginPath();
  ink.moveTo(NAME + from_position * cell, 0);
  ink.lineTo(NAME + from_position * cell, height);
  ink.stroke();
}
