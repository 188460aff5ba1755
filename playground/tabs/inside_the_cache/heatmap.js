// The keys and values that one layer keeps: a row a token, a column a number, heads side by side.
// The row that the step added is marked; rows of later steps are not in the cache yet and stay empty.

import { layerChips } from "../../page/js/chips.js";
import { node, say, set } from "../../page/js/svg.js";

const ROW = 22,
  LABEL = 112,
  HEAD = 24,
  GAP = 6;

export function mount(element, api) {
  const layers = layerChips(element, api.store);
  const pictures = node("div.heat-pair", {}, element);
  const hover = node("p.note", {}, element);
  const maps = ["keys", "values"].map((name) => makeMap(pictures, name, (words) => say(hover, words)));
  let value = null;

  function draw(state) {
    element.classList.toggle("is-empty", !value);
    if (!value) return;
    layers.draw(value.num_layers, value.layer);
    const step = Math.min(state.step ?? 0, value.first_row + value.labels.length - value.prompt_length);
    const total = value.prompt_length + step; // tokens in the cache; of a long text the first rows are not shown
    const numStored = Math.max(0, total - value.first_row);
    for (const map of maps) map.draw(value, numStored, step > 0 ? Math.max(0, numStored - 1) : 0);
    say(
      hover,
      `Layer ${value.layer + 1}: ${total} rows of ${value.num_heads} heads × ${value.head_dim} numbers, twice. ` +
        "Colour: above 0; grey: below 0.",
    );
  }

  return {
    reads: ["step", "dark"],
    update(next) {
      value = next?.keys ? decode(next) : null;
      draw(api.store.get());
    },
    draw,
  };
}

function decode(value) {
  const numbers = (text) => Int8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return { ...value, keys: numbers(value.keys), values: numbers(value.values) };
}

function makeMap(parent, name, tell) {
  const block = node("div.heat", {}, parent);
  node(`h3.is-${name}`, {}, block, name === "keys" ? "Keys" : "Values");
  const scroller = node("div.heat-scroll", { tabindex: 0 }, block);
  const canvas = node("canvas", { role: "img" }, scroller);
  let shown = null;
  let before = -1;

  canvas.addEventListener("pointermove", (event) => {
    if (shown) tell(describe(shown, event.offsetX, event.offsetY));
  });

  function draw(value, numStored, firstNew) {
    const width = block.clientWidth - 12;
    if (width <= 0) return;
    const cells = value[name],
      columns = value.num_heads * value.head_dim;
    const cell = (width - LABEL - GAP * (value.num_heads - 1)) / columns;
    shown = { value, cells, columns, cell, numStored, largest: value.largest[name] };
    paint(canvas, shown, width, firstNew, name);
    set(canvas, { "aria-label": `${name} of layer ${value.layer + 1}, ${numStored} tokens` });
    if (before !== numStored) scroller.scrollTop = HEAD + numStored * ROW - scroller.clientHeight;
    before = numStored;
  }
  return { draw };
}

function paint(canvas, shown, width, firstNew, name) {
  const { value, cells, columns, cell, numStored } = shown;
  const style = getComputedStyle(canvas),
    colour = (variable) => style.getPropertyValue(variable).trim();
  const height = HEAD + value.labels.length * ROW,
    scale = window.devicePixelRatio || 1;
  set(canvas, { width: Math.round(width * scale), height: Math.round(height * scale) });
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const ink = canvas.getContext("2d");
  ink.scale(scale, scale);
  const above = colour(name === "keys" ? "--key" : "--value"),
    below = colour("--muted");
  ink.font = '15px "DejaVu Sans Mono", monospace';
  ink.textBaseline = "middle";
  ink.fillStyle = colour("--muted");
  for (let head = 0; head < value.num_heads; head += 1)
    ink.fillText(`head ${head + 1}`, left(shown, head * value.head_dim), HEAD / 2);
  value.labels.forEach((label, row) => {
    const top = HEAD + row * ROW;
    const isStored = row < numStored;
    ink.globalAlpha = isStored ? 1 : 0.35;
    ink.fillStyle = row >= firstNew && isStored ? colour("--accent") : colour("--ink");
    ink.fillText(label.length > 11 ? `${label.slice(0, 10)}…` : label, 4, top + ROW / 2);
    if (!isStored) return;
    for (let column = 0; column < columns; column += 1) {
      const number = cells[row * columns + column] / 127;
      ink.globalAlpha = Math.sqrt(Math.abs(number)); // small numbers stay visible
      ink.fillStyle = number > 0 ? above : below;
      ink.fillRect(left(shown, column), top + 1, cell + 0.3, ROW - 2);
    }
  });
  ink.globalAlpha = 1;
  ink.strokeStyle = colour("--accent");
  ink.lineWidth = 2.5;
  ink.strokeRect(1.5, HEAD + firstNew * ROW, width - 3, (numStored - firstNew) * ROW);
}

const left = ({ value, cell }, column) => LABEL + column * cell + GAP * Math.floor(column / value.head_dim);

function describe({ value, cells, columns, cell, numStored, largest }, x, y) {
  const row = Math.floor((y - HEAD) / ROW);
  if (row < 0 || row >= value.labels.length) return "";
  const token = `position ${row + value.first_row}, “${value.labels[row]}”`;
  if (row >= numStored) return `${token}: not in the cache at this step`;
  const headWidth = value.head_dim * cell + GAP,
    head = Math.floor((x - LABEL) / headWidth);
  const dimension = Math.floor((x - LABEL - head * headWidth) / cell);
  if (head < 0 || head >= value.num_heads || dimension >= value.head_dim) return token;
  const number = (cells[row * columns + head * value.head_dim + dimension] / 127) * largest;
  return `${token}, head ${head + 1}, number ${dimension + 1}: ≈ ${number.toFixed(2)}`;
}
