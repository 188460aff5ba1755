// The cache as layers × tokens: the prompt in one wide block, then a slice for every token that was fed.
// Three paths hold all cells, so that a redraw makes no node, however many tokens there are.

import { look } from "./look.js";
import { bytes } from "./numbers.js";

const SVG = "http://www.w3.org/2000/svg";
const LABEL_WIDTH = 44,
  GAP = 1.5,
  WIDEST_CELL = 20,
  NARROWEST_SLICE = 3,
  NARROWEST_PROMPT = 60;

export function mount(element, api) {
  const parts = build(element);
  let layout = null; // of the last drawing: turns a pointer into a position
  let last = null;

  function draw(state) {
    last = state;
    const run = state.run;
    const width = api.width;
    if (!width) return;
    const has = Boolean(run && run.cacheBytes && run.cacheBytes.length);
    parts.empty.hidden = has;
    parts.svg.toggleAttribute("hidden", !has);
    parts.caption.hidden = parts.detail.hidden = !has;
    if (!has) return;

    const step = Math.max(0, Math.min(state.step ?? Infinity, run.cacheBytes.length - 1));
    layout = layOut(width, run, step, Math.max(6, Math.min(40, 200 / run.cacheBytes[step].length)));
    paint(parts, layout);
    say(parts, run, step, layout);
  }

  parts.svg.addEventListener("pointermove", (event) => {
    if (layout) parts.detail.textContent = describe(last.run, layout, positionAt(parts.svg, layout, event));
  });
  parts.svg.addEventListener("pointerleave", () => {
    if (layout) parts.detail.textContent = written(last.run, layout);
  });
  parts.svg.addEventListener("click", (event) => {
    if (!layout) return;
    const position = positionAt(parts.svg, layout, event);
    const layer = layerAt(parts.svg, layout, event);
    if (position !== null) api.store.set({ step: Math.max(0, position - last.run.promptLength + 1) });
    if (layer !== null) look(element, { layer }); // the heat maps of "Inside the cache" follow
  });
  return {
    update() {
      if (last) draw(last);
    },
    draw,
  };
}

function build(element) {
  element.classList.add("cache-growth");
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("role", "img");
  svg.style.cssText = "display:block;width:100%;overflow:visible;cursor:pointer";
  const shapes = {};
  const styles = {
    room: "fill:none;stroke:var(--grid)",
    stored: "fill:var(--kept);fill-opacity:.78",
    newest: "fill:var(--accent)",
  };
  for (const [name, style] of Object.entries(styles)) {
    shapes[name] = svg.appendChild(document.createElementNS(SVG, "path"));
    shapes[name].style.cssText = style;
  }
  const names = svg.appendChild(document.createElementNS(SVG, "g"));
  const prompt = svg.appendChild(document.createElementNS(SVG, "text"));
  prompt.style.cssText = "fill:var(--muted);font-size:15px";
  const add = (style) => {
    const node = element.appendChild(document.createElement("div"));
    node.style.cssText = style;
    return node;
  };
  const empty = add("color:var(--muted);font-size:18px;padding:12px 0");
  empty.textContent = "Generate an answer to see what the cache keeps.";
  element.append(svg);
  const caption = add(
    `font-size:20px;padding:8px 0 0 ${LABEL_WIDTH}px;font-family:var(--mono, ui-monospace, monospace)`,
  );
  const sum = document.createElement("span"),
    total = document.createElement("strong");
  caption.append(sum, total);
  const detail = add(`font-size:16px;color:var(--muted);padding-left:${LABEL_WIDTH}px;min-height:1.5em`);
  return { svg, shapes, names, prompt, empty, caption, sum, total, detail };
}

// Where everything stands, in container pixels. Slices stay at least 3 px wide; a long prompt gives way and says so.
function layOut(width, run, step, rowHeight) {
  const perLayer = run.cacheBytes[step];
  const numSteps = Math.max(run.cacheBytes.length, run.maxNewTokens || 0);
  const slices = numSteps - 1;
  const room = width - LABEL_WIDTH - 2;
  let cell = Math.min(WIDEST_CELL, room / (run.promptLength + slices));
  let promptWidth = cell * run.promptLength;
  const toScale = cell >= NARROWEST_SLICE || promptWidth <= NARROWEST_PROMPT;
  if (!toScale) {
    cell = Math.min(NARROWEST_SLICE, (room - NARROWEST_PROMPT) / slices);
    promptWidth = room - cell * slices;
  }
  return { width, perLayer, step, slices, cell, promptWidth, toScale, rowHeight, promptLength: run.promptLength };
}

const left = (layout, position) =>
  LABEL_WIDTH +
  (position < layout.promptLength
    ? (layout.promptWidth * position) / layout.promptLength
    : layout.promptWidth + layout.cell * (position - layout.promptLength));

function box(layout, layer, from, to) {
  const x = left(layout, from),
    width = left(layout, to) - x;
  const gap = Math.min(GAP, width / 3);
  const height = layout.rowHeight - Math.min(2, layout.rowHeight / 4);
  return `M${x.toFixed(2)} ${layer * layout.rowHeight}h${(width - gap).toFixed(2)}v${height}h${(gap - width).toFixed(2)}z`;
}

function paint(parts, layout) {
  const { perLayer, step, promptLength, rowHeight, slices } = layout;
  const paths = { room: [], stored: [], newest: [] };
  perLayer.forEach((layerBytes, layer) => {
    paths.room.push(box(layout, layer, 0, promptLength + slices));
    if (!layerBytes) return;
    (step === 0 ? paths.newest : paths.stored).push(box(layout, layer, 0, promptLength));
    for (let slice = 1; slice <= step; slice++) {
      const position = promptLength + slice - 1;
      (slice === step ? paths.newest : paths.stored).push(box(layout, layer, position, position + 1));
    }
  });
  for (const [name, pieces] of Object.entries(paths)) parts.shapes[name].setAttribute("d", pieces.join(""));
  parts.svg.setAttribute("height", perLayer.length * rowHeight + 22);
  nameLayers(parts.names, perLayer.length, rowHeight);
  parts.prompt.setAttribute("x", LABEL_WIDTH);
  parts.prompt.setAttribute("y", perLayer.length * rowHeight + 15);
  parts.prompt.textContent = `prompt, ${promptLength} tokens${layout.toScale ? "" : " (narrowed)"}`;
}

function nameLayers(group, count, rowHeight) {
  const every = Math.ceil(14 / rowHeight); // names must not touch
  const wanted = Array.from({ length: count }, (_, layer) => layer).filter((layer) => layer % every === 0);
  while (group.childNodes.length < wanted.length) group.append(document.createElementNS(SVG, "text"));
  while (group.childNodes.length > wanted.length) group.lastChild.remove();
  wanted.forEach((layer, place) => {
    const text = group.childNodes[place];
    text.textContent = `L${layer + 1}`;
    text.setAttribute("x", LABEL_WIDTH - 8);
    text.setAttribute("y", layer * rowHeight + rowHeight / 2 + 5);
    text.style.cssText = "fill:var(--muted);font-size:16px;text-anchor:end";
  });
}

function say(parts, run, step, layout) {
  const { perLayer } = layout;
  const total = perLayer.reduce((sum, one) => sum + one, 0);
  const equal = perLayer.every((one) => one === perLayer[0]);
  if (!total) {
    parts.sum.textContent = "0 KiB: nothing is kept, each step is fed the whole text";
    parts.total.textContent = "";
  } else {
    parts.sum.textContent = equal
      ? `${bytes(perLayer[0])} per layer × ${perLayer.length} = `
      : `${perLayer.length} layers = `;
    parts.total.textContent = bytes(total);
  }
  parts.detail.textContent = written(run, layout);
  parts.svg.setAttribute("aria-label", `KV cache at step ${step}: ${parts.sum.textContent}${parts.total.textContent}`);
}

function written(run, layout) {
  const { step, perLayer, promptLength } = layout;
  if (!perLayer.some(Boolean)) return "";
  if (step === 0) return `step 0 wrote the prompt: ${promptLength} tokens at once`;
  return `step ${step} wrote one column: ${label(run, promptLength + step - 1)}`;
}

function describe(run, layout, position) {
  if (position === null) return written(run, layout);
  const stored = position < layout.promptLength + layout.step;
  const where = position < layout.promptLength ? "prompt" : `answer token ${position - layout.promptLength}`;
  return `position ${position}: ${label(run, position)} (${where}${stored ? "" : ", not in the cache yet"})`;
}

function label(run, position) {
  const labels = position < run.promptLength ? run.promptLabels : run.labels;
  const place = position < run.promptLength ? position : position - run.promptLength;
  return labels && labels[place] !== undefined ? `“${labels[place]}”` : "";
}

function positionAt(svg, layout, event) {
  const x = event.clientX - svg.getBoundingClientRect().left;
  const end = layout.promptLength + layout.slices;
  if (x < LABEL_WIDTH || x >= left(layout, end)) return null;
  if (x < LABEL_WIDTH + layout.promptWidth) {
    return Math.floor(((x - LABEL_WIDTH) / layout.promptWidth) * layout.promptLength);
  }
  return layout.promptLength + Math.floor((x - LABEL_WIDTH - layout.promptWidth) / layout.cell);
}

function layerAt(svg, layout, event) {
  const layer = Math.floor((event.clientY - svg.getBoundingClientRect().top) / layout.rowHeight);
  return layer >= 0 && layer < layout.perLayer.length ? layer : null;
}
