// Who reads whom: a strip for the token of this step, and the matrix of all rows so far.
// With a cache a step computes its last row only; the rows above it are what a run without one computes again.

import { chips, layerChips } from "../../page/js/chips.js";
import { node, pool, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { sheetOf, shortened } from "./canvas.js";
import { numbersBelow } from "./numbers_below.js";
import { decoded, lookAt, pointedAt, tableOf, weightAt, workOf } from "./reading.js";
import { lastStep, stepOf } from "./steps.js";

/**
 * @typedef {import("./reading.js").Weights} Weights
 * @typedef {import("./reading.js").Look} Look
 */

const MOST_SHADE = 0.5; // of the colour behind a token: darker, and its letters could not be read

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const parts = build(element, api.store);
  /** @type {Weights | null} */
  let value = null;
  /** Of the last drawing: turns a pointer into a token. @type {Look | null} */
  let shown = null;
  const numbers = numbersBelow(element, words.say("inside_the_cache.attention.numbers"), () => shown && tableOf(shown));

  parts.canvas.addEventListener("pointermove", (event) => {
    if (shown) say(parts.note, words.say(pointedAt(shown, event.offsetX, event.offsetY)));
  });
  parts.canvas.addEventListener("pointerleave", () => {
    if (shown) say(parts.note, words.say(workOf(shown)));
  });
  parts.canvas.addEventListener("click", (event) => {
    if (!shown) return;
    const { value, grid } = shown;
    const row = Math.floor(event.offsetY / grid.high) + value.first_row;
    const step = Math.max(0, row - value.prompt_length + 1);
    if (step <= lastStep(api.store.get())) api.store.set({ cacheStep: step });
  });

  /** @param {import("../../page/js/types.js").State} state */
  function draw(state) {
    element.classList.toggle("is-empty", !value);
    shown = null;
    if (!value || !api.width) return;
    shown = lookAt(value, state.head, stepOf(state), api.width);
    drawWords(parts, shown);
    drawStrip(parts.strip, shown);
    paint(parts.canvas, shown);
    numbers.update();
  }

  return {
    reads: ["cacheStep", "head", "dark"],
    update(next) {
      value = next?.weights ? decoded(next) : null;
      draw(api.store.get());
    },
    draw,
  };
}

/** @param {HTMLElement} element @param {import("../../page/js/types.js").Store} store */
function build(element, store) {
  const bar = node("div.attention-bar", {}, element);
  const layers = layerChips(bar, store);
  const heads = chips(bar, words.say("inside_the_cache.attention.heads"), (place) => store.set({ head: place - 1 }));
  const lead = node("p.strip-words", {}, element);
  const name = words.say("inside_the_cache.attention.strip");
  const strip = node(
    "div.token-strip.small-tokens.weights",
    { tabindex: 0, role: "group", "aria-label": name },
    element,
  );
  const legend = node("p.matrix-legend", {}, element);
  node("b.is-kept", {}, legend, words.say("inside_the_cache.attention.framed"));
  legend.append(" ");
  node("b.is-off", {}, legend, words.say("inside_the_cache.attention.again"));
  const canvas = node("canvas.matrix", { role: "img" }, element);
  const note = node("p.note", { "aria-live": "off" }, element);
  return { layers, heads, lead, strip, canvas, note };
}

/** @param {ReturnType<typeof build>} parts @param {Look} look */
function drawWords({ layers, heads, lead, canvas, note }, look) {
  const { value, head, row, firstNew, grid } = look;
  const names = Array.from({ length: value.num_heads }, (_, index) =>
    words.say("inside_the_cache.attention.head", { number: index + 1 }),
  );
  layers.draw(value.num_layers, value.layer);
  heads.draw([words.say("inside_the_cache.attention.mean"), ...names], head + 1);
  const facts = { token: value.labels[row], position: row, layer: value.layer + 1 };
  say(
    lead,
    head < 0
      ? words.say("inside_the_cache.attention.lead_mean", facts)
      : words.say("inside_the_cache.attention.lead_head", { ...facts, head: head + 1 }),
  );
  set(canvas, {
    "aria-label": words.say("inside_the_cache.attention.picture", { rows: row + 1, now: row - firstNew + 1 }),
    "data-row-height": grid.high,
  });
  say(note, words.say(workOf(look)));
}

/** @param {HTMLElement} strip @param {Look} look */
function drawStrip(strip, look) {
  const { value, row } = look;
  const tokens = pool(strip, value.labels.length, () => node("span.token"));
  const isKept = row >= value.first_row;
  const weights = value.labels.map((_, position) => (isKept && position <= row ? weightAt(look, row, position) : 0));
  const largest = isKept ? Math.max(...weights) : 1;
  weights.forEach((weight, position) => {
    const token = tokens[position];
    say(token, value.labels[position]);
    token.classList.toggle("is-later", position > row);
    token.classList.toggle("is-cursor", position === row);
    token.style.setProperty("--share", String(MOST_SHADE * Math.sqrt(weight / largest)));
    const title = words.say("inside_the_cache.attention.token", { position, share: weight });
    set(token, { title, "data-weight": weight });
  });
  const present = tokens[row];
  const top = present.offsetTop; // the strip is positioned
  if (top < strip.scrollTop || top + present.offsetHeight > strip.scrollTop + strip.clientHeight)
    strip.scrollTop = top - 40;
}

/** @param {HTMLCanvasElement} canvas @param {Look} look */
function paint(canvas, look) {
  const { value, row, firstNew, grid } = look;
  const { first_row, labels } = value;
  const sheet = sheetOf(canvas, grid.width, (labels.length - first_row) * grid.high + 4);
  for (let from = first_row; from < labels.length; from += 1) {
    if (grid.high >= 18 || from === row) paintLabel(sheet, look, from);
    if (from <= row) paintRow(sheet, look, from);
  }
  if (row < first_row) return;
  const { ink, colour } = sheet;
  ink.globalAlpha = 1;
  ink.strokeStyle = colour("--ink");
  ink.lineWidth = 2;
  const top = Math.max(firstNew - first_row, 0);
  const height = (row - first_row - top + 1) * grid.high + 1;
  ink.strokeRect(grid.left - 1, top * grid.high + 1, (row + 1) * grid.wide + 1, height);
}

/** @param {import("./canvas.js").Sheet} sheet @param {Look} look @param {number} from */
function paintLabel({ ink, colour, font }, { value, row, grid }, from) {
  const isNow = from === row;
  ink.globalAlpha = 1;
  ink.font = `${isNow ? "bold " : ""}18px ${font}`;
  ink.fillStyle = colour(isNow ? "--ink" : "--muted");
  const middle = (from - value.first_row + 0.5) * grid.high + 2;
  const lowest = (value.labels.length - value.first_row) * grid.high - 6; // or the last name would be cut
  ink.fillText(shortened(value.labels[from]), 0, Math.max(10, Math.min(middle, lowest)));
}

/** @param {import("./canvas.js").Sheet} sheet @param {Look} look @param {number} from */
function paintRow({ ink, colour }, look, from) {
  const { value, firstNew, largest, grid } = look;
  const gap = grid.high > 5 ? 1 : 0;
  const top = (from - value.first_row) * grid.high + 2;
  const [empty, full] = [colour("--grid"), colour(from >= firstNew ? "--kept" : "--off")];
  for (let to = 0; to <= from; to += 1) {
    const left = grid.left + to * grid.wide;
    ink.globalAlpha = 0.5;
    ink.fillStyle = empty;
    ink.fillRect(left, top, grid.wide - gap, grid.high - gap);
    ink.globalAlpha = Math.sqrt(weightAt(look, from, to) / largest);
    ink.fillStyle = full;
    ink.fillRect(left, top, grid.wide - gap, grid.high - gap);
  }
}
