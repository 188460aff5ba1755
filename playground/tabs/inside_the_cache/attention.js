// Who reads whom: a strip for the token of this step, and the matrix of all rows so far.
// With a cache a step computes its last row only; the rows above it are what a run without one computes again.

import { chips, layerChips } from "../../page/js/chips.js";
import { percent } from "../../page/js/numbers.js";
import { node, pool, say, set } from "../../page/js/svg.js";

const LABEL = 118; // px for the name of a row, less on a phone

export function mount(element, api) {
  const bar = node("div.attention-bar", {}, element);
  const layers = layerChips(bar, api.store);
  const heads = chips(bar, "Head", (place) => api.store.set({ head: place - 1 }));
  const lead = node("p.strip-words", {}, element);
  const strip = node("div.token-strip.small-tokens.weights", {}, element);
  const legend = node("p.matrix-legend", {}, element);
  node("b.is-accent", {}, legend, "Framed: what this step computes with a cache. ");
  node("b.is-kept", {}, legend, "Blue: rows that a run without cache computes again.");
  const canvas = node("canvas.matrix", { role: "img" }, element);
  const words = node("p.note", { "aria-live": "off" }, element);
  let value = null;
  /** @type {any} */
  let shown = null;

  canvas.addEventListener("pointermove", (event) => {
    if (shown) say(words, describe(shown, event.offsetX, event.offsetY));
  });
  canvas.addEventListener("pointerleave", () => {
    if (shown) say(words, shown.summary);
  });
  canvas.addEventListener("click", (event) => {
    const row = shown && Math.floor(event.offsetY / shown.high) + shown.firstRow;
    if (shown && row < value.labels.length) api.store.set({ step: Math.max(0, row - value.prompt_length + 1) });
  });

  function draw(state) {
    element.classList.toggle("is-empty", !value);
    if (!value || !element.clientWidth) return;
    const head = state.head < value.num_heads ? state.head : -1; // -1: the mean of all heads
    layers.draw(value.num_layers, value.layer);
    heads.draw(["Mean", ...Array.from({ length: value.num_heads }, (_, index) => `Head ${index + 1}`)], head + 1);
    const row = Math.min(value.labels.length - 1, value.prompt_length - 1 + state.step);
    const read = (from, to) => weightAt(value, head, from, to);
    drawStrip(strip, value, row, read);
    say(
      lead,
      `What “${value.labels[row]}” (position ${row}) reads, layer ${value.layer + 1}, ${head < 0 ? "mean of all heads" : `head ${head + 1}`}`,
    );
    const firstNew = row < value.prompt_length ? 0 : row; // the prompt's rows are computed together
    const sizes = size(element, value);
    const largest = largestWeight(sizes.firstRow, row, read);
    shown = { ...sizes, value, row, read, firstNew, largest, summary: summary(value, row, firstNew) };
    paint(canvas, shown);
    set(canvas, {
      "aria-label": `Attention weights, ${count(row + 1, "row")}, ${row - firstNew + 1} of this step`,
      "data-row-height": shown.high,
    });
    say(words, shown.summary);
  }

  return {
    reads: ["step", "head", "dark"],
    update(next) {
      value = next?.weights ? decode(next) : null;
      draw(api.store.get());
    },
    draw,
  };
}

function summary(value, row, firstNew) {
  const kept = value.labels.length - value.first_row;
  const gone = `Of a long text the last ${kept} rows are kept here; this one stands before them. `;
  return (row < value.first_row ? gone : "") + work(row, firstNew);
}

function work(row, firstNew) {
  const rows = row ? `${(row + 1).toLocaleString("en")} rows` : "one row";
  const scores = `${count((row + 1) ** 2, "score")}, of which the mask hides ${((row * (row + 1)) / 2).toLocaleString("en")}.`;
  if (firstNew === 0) return `Step 0 computes the prompt's ${rows}, with a cache and without: ${scores}`;
  return `With the cache this step computes one row of ${row + 1} weights. Without it, all ${rows} again: ${scores}`;
}

const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

function decode(value) {
  const raw = Uint8Array.from(atob(value.weights), (letter) => letter.charCodeAt(0));
  return { ...value, weights: new Uint16Array(raw.buffer) };
}

// weights: (head, row from first_row on, position), 65,535 for 1.
function weightAt({ weights, num_heads, first_row, labels }, head, row, position) {
  const length = labels.length,
    rows = length - first_row;
  const one = (which) => weights[(which * rows + row - first_row) * length + position] / 65535;
  if (head >= 0) return one(head);
  let sum = 0;
  for (let which = 0; which < num_heads; which += 1) sum += one(which);
  return sum / num_heads;
}

function drawStrip(strip, value, row, read) {
  const tokens = pool(strip, value.labels.length, () => node("span.token"));
  const isKept = row >= value.first_row;
  const largest = isKept ? Math.max(...value.labels.slice(0, row + 1).map((_, position) => read(row, position))) : 1;
  value.labels.forEach((label, position) => {
    const weight = isKept && position <= row ? read(row, position) : 0;
    const token = tokens[position];
    say(token, label);
    token.classList.toggle("is-later", position > row);
    token.style.setProperty("--share", String(0.9 * Math.sqrt(weight / largest)));
    set(token, { title: `position ${position}: ${percent(weight)}`, "data-weight": weight.toFixed(4) });
    token.classList.toggle("is-chosen", position === row);
  });
  const present = tokens[row],
    top = present.offsetTop; // the strip is positioned
  if (top < strip.scrollTop || top + present.offsetHeight > strip.scrollTop + strip.clientHeight)
    strip.scrollTop = top - 40;
}

function size(element, value) {
  // Room for all rows from the start: a picture that grows must not shrink its cells.
  const width = element.clientWidth,
    length = value.labels.length;
  const left = Math.min(LABEL, width / 4);
  const wide = Math.max(1, Math.min(26, (width - left) / length));
  const high = Math.max(2, Math.min(22, wide, 560 / (length - value.first_row)));
  return { left, wide, high, width, firstRow: value.first_row };
}

function paint(canvas, { largest, left, wide, high, width, firstRow, value, row, firstNew, read }) {
  const height = (value.labels.length - firstRow) * high + 4,
    scale = window.devicePixelRatio || 1;
  set(canvas, { width: Math.round(width * scale), height: Math.round(height * scale) });
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const style = getComputedStyle(canvas),
    colour = (variable) => style.getPropertyValue(variable).trim();
  const [kept, grid, accent, muted] = ["--kept", "--grid", "--accent", "--muted"].map(colour);
  const ink = canvas.getContext("2d");
  ink.scale(scale, scale);
  ink.textBaseline = "middle";
  const gap = high > 5 ? 1 : 0,
    hasLabels = high >= 14;
  for (let from = firstRow; from < value.labels.length; from += 1) {
    const isLater = from > row;
    const top = (from - firstRow) * high + 2;
    if (hasLabels || from === row) {
      ink.globalAlpha = isLater ? 0.35 : 1;
      ink.font = `${from === row ? "bold " : ""}${from === row ? 16 : Math.min(16, high - 1)}px "DejaVu Sans Mono", monospace`;
      ink.fillStyle = from === row ? accent : muted;
      const label = value.labels[from];
      ink.fillText(label.length > 11 ? `${label.slice(0, 10)}…` : label, 0, top + high / 2);
    }
    for (let to = 0; to <= from && !isLater; to += 1) {
      ink.globalAlpha = 0.5;
      ink.fillStyle = grid;
      ink.fillRect(left + to * wide, top, wide - gap, high - gap);
      ink.globalAlpha = Math.sqrt(read(from, to) / largest);
      ink.fillStyle = from >= firstNew ? accent : kept;
      ink.fillRect(left + to * wide, top, wide - gap, high - gap);
    }
  }
  ink.globalAlpha = 1;
  ink.strokeStyle = accent;
  ink.lineWidth = 2;
  if (row < firstRow) return;
  const top = Math.max(firstNew - firstRow, 0);
  ink.strokeRect(left - 1, top * high + 1, (row + 1) * wide + 1, (row - firstRow - top + 1) * high + 1);
}

function largestWeight(firstRow, row, read) {
  let largest = 1e-6;
  for (let from = Math.max(firstRow, 1); from <= row; from += 1) {
    // row 0 has one token to read: always 1
    for (let to = 0; to <= from; to += 1) largest = Math.max(largest, read(from, to));
  }
  return largest;
}

function describe({ left, wide, high, firstRow, value, row, read, summary }, x, y) {
  const from = Math.floor((y - 2) / high) + firstRow,
    to = Math.floor((x - left) / wide);
  if (from < firstRow || from > row || to < 0 || to > row) return summary;
  const names = `“${value.labels[from]}” (${from}) and “${value.labels[to]}” (${to})`;
  if (to > from) return `${names}: hidden by the mask, a later token`;
  return `${names}: ${percent(read(from, to))} of what it reads`;
}
