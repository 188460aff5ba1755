// Which stored rows move when something is changed: one picture an experiment, layers × positions.
// A click on a token changes that one. An empty cell moved by exactly 0.

import { node, pool, say, set } from "../../page/js/svg.js";

const ROW = 24,
  NAME = 34;

export function mount(element, api) {
  const lead = node("p.strip-words", {}, element);
  const strip = node("div.token-strip.small-tokens", { role: "group", "aria-label": "Token to change" }, element);
  const maps = node("div.change-maps", {}, element);
  let value = null;

  function drawStrip() {
    say(
      lead,
      `Click the token to change. Now: “${value.labels[value.position]}” → “${value.replacement}” at position ${value.position}.`,
    );
    const tokens = pool(strip, value.labels.length, (index) => {
      const token = node("button.token", { type: "button" });
      token.addEventListener("click", () => api.store.set({ position: index }));
      return token;
    });
    value.labels.forEach((label, index) => {
      say(tokens[index], index === value.position ? value.replacement : label);
      tokens[index].classList.toggle("is-chosen", index === value.position);
      tokens[index].disabled = index === 0; // nothing stands before it
    });
  }

  function draw() {
    element.classList.toggle("is-empty", !value);
    if (!value) return;
    drawStrip();
    const blocks = pool(maps, value.maps.length, makeBlock);
    value.maps.forEach((map, index) => drawBlock(blocks[index], map));
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

function drawBlock(block, map) {
  const [title, verdict, body, note] = block.children;
  say(title, map.title);
  say(verdict, map.verdict);
  verdict.classList.toggle("is-good", map.is_zero);
  verdict.classList.toggle("is-changed", !map.is_zero);
  say(note, map.text);
  const [canvas, numbers] = body.children;
  paint(canvas, map);
  set(canvas, { "aria-label": `${map.title}: ${map.verdict}` });
  const lines = pool(numbers, map.earlier.length, () => node("div"));
  map.earlier.forEach((change, layer) => {
    say(lines[layer], change === 0 ? "0" : change < 0.01 ? change.toExponential(0) : change.toFixed(2));
    set(lines[layer], { "data-size": change === 0 ? "zero" : change <= map.rounding ? "rounding" : "real" });
  });
}

function paint(canvas, map) {
  const numLayers = map.cells.length,
    length = map.cells[0].length;
  const width = canvas.clientWidth || canvas.parentElement.clientWidth - 70;
  if (width <= 0) return;
  const height = numLayers * ROW,
    scale = window.devicePixelRatio || 1,
    cell = (width - NAME) / length;
  set(canvas, { width: Math.round(width * scale), height: Math.round(height * scale) });
  canvas.style.height = `${height}px`;
  const style = getComputedStyle(canvas),
    colour = (variable) => style.getPropertyValue(variable).trim();
  const ink = canvas.getContext("2d");
  ink.scale(scale, scale);
  ink.textBaseline = "middle";
  ink.font = `16px ${style.fontFamily}`;
  const largest = Math.max(1e-6, ...map.cells.flat());
  const gap = cell > 5 ? 1 : 0;
  map.cells.forEach((row, layer) => {
    ink.globalAlpha = 1;
    ink.fillStyle = colour("--muted");
    ink.fillText(`L${layer + 1}`, 0, layer * ROW + ROW / 2);
    row.forEach((change, position) => {
      const isRounding = change > 0 && change <= map.rounding;
      ink.fillStyle = change === 0 ? colour("--grid") : isRounding ? colour("--cut") : colour("--accent");
      ink.globalAlpha = change === 0 || isRounding ? 0.6 : 0.25 + 0.75 * Math.sqrt(change / largest);
      ink.fillRect(NAME + position * cell, layer * ROW + 2, cell - gap, ROW - 4);
    });
  });
  ink.globalAlpha = 1;
  if (map.from_position < length) {
    ink.strokeStyle = colour("--ink");
    ink.setLineDash([5, 4]);
    ink.beginPath();
    ink.moveTo(NAME + map.from_position * cell, 0);
    ink.lineTo(NAME + map.from_position * cell, height);
    ink.stroke();
  }
}
