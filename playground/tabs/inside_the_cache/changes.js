// Which stored rows move when something is changed: one picture an experiment, layers × positions.
// A click on a token changes that one. An empty cell moved by exactly 0.

import { small } from "../../page/js/numbers.js";
import { node, pool, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { sheetOf } from "./canvas.js";

const ROW = 24,
  NAME = 34,
  NUMBERS = 108; // px beside the picture, as in style.css

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

/** @typedef {{ labels: string[], position: number, replacement: string, maps: Map[] }} Changes as changes_value makes them */

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const lead = node("p.strip-words", {}, element);
  const name = words.say("inside_the_cache.change.tokens");
  const strip = node("div.token-strip.small-tokens", { role: "group", "aria-label": name }, element);
  const maps = node("div.change-maps", {}, element);
  /** @type {Changes | null} */
  let value = null;

  function draw() {
    element.classList.toggle("is-empty", !value);
    if (!value) return;
    const { labels, position, replacement } = value;
    say(lead, words.say("inside_the_cache.change.lead", { token: labels[position], replacement, position }));
    drawStrip(strip, value, (chosen) => api.store.set({ position: chosen }));
    const blocks = pool(maps, value.maps.length, makeBlock);
    for (const [index, map] of value.maps.entries()) drawBlock(blocks[index], map);
  }

  return {
    reads: ["dark"],
    update(next) {
      value = next?.maps ? next : null;
      draw();
    },
    draw,
  };
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
    tokens[place].classList.toggle("is-chosen", place === position);
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
  verdict.classList.toggle("is-good", map.is_zero);
  verdict.classList.toggle("is-changed", !map.is_zero);
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

/** Whether something moved, and more than rounding does. @param {number} change @param {number} rounding */
export function sizeOf(change, rounding) {
  if (change === 0) return "zero";
  return change <= rounding ? "rounding" : "real";
}

const COLOURS = { zero: "--grid", rounding: "--cut", real: "--accent" };

/** @param {HTMLCanvasElement} canvas @param {Map} map @param {number} width in pixels */
function paint(canvas, { cells, rounding, from_position }, width) {
  if (width <= 0) return;
  const length = cells[0].length;
  const height = cells.length * ROW;
  const cell = (width - NAME) / length;
  const { ink, colour, font } = sheetOf(canvas, width, height);
  ink.font = `16px ${font}`;
  const largest = Math.max(1e-6, ...cells.flat());
  cells.forEach((row, layer) => {
    ink.globalAlpha = 1;
    ink.fillStyle = colour("--muted");
    ink.fillText(words.say("inside_the_cache.layer_row", { number: layer + 1 }), 0, (layer + 0.5) * ROW);
    row.forEach((change, position) => {
      const size = sizeOf(change, rounding);
      ink.fillStyle = colour(COLOURS[size]);
      ink.globalAlpha = size === "real" ? 0.25 + 0.75 * Math.sqrt(change / largest) : 0.6;
      ink.fillRect(NAME + position * cell, layer * ROW + 2, cell - (cell > 5 ? 1 : 0), ROW - 4);
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
