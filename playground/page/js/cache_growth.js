// The cache as layers × tokens: the prompt in one wide block, then a slice for every token that was fed.
// Three paths hold all cells, so that a redraw makes no node, however many tokens there are.

import { bytes } from "./numbers.js";
import { node, pool, say, set, svg } from "./svg.js";
import * as words from "./words.js";

/** @typedef {import("./types.js").Run} Run */

const LABEL_WIDTH = 44,
  GAP = 1.5,
  WIDEST_CELL = 20,
  NARROWEST_SLICE = 3,
  NARROWEST_PROMPT = 60;

/** @param {HTMLElement} element @param {import("./types.js").PanelApi} api @returns {import("./types.js").Panel} */
export function mount(element, api) {
  const parts = build(element);
  /** Of the last drawing: turns a pointer into a position. @type {{ run: Run, layout: Layout } | null} */
  let shown = null;

  /** @type {import("./types.js").Listener} */
  function draw({ run, step }) {
    const has = Boolean(run?.cacheBytes?.length);
    parts.empty.hidden = has;
    parts.picture.toggleAttribute("hidden", !has);
    parts.caption.hidden = parts.detail.hidden = !has;
    shown = null;
    if (!run || !has) return;
    const layout = layOut(api.width, run, Math.min(step, run.cacheBytes.length - 1));
    shown = { run, layout };
    paint(parts, layout);
    tell(parts, run, layout);
  }

  parts.picture.addEventListener("pointermove", (event) => {
    if (shown)
      say(parts.detail, describe(shown.run, shown.layout, placeUnder(parts.picture, shown.layout, event).position));
  });
  parts.picture.addEventListener("pointerleave", () => {
    if (shown) say(parts.detail, written(shown.run, shown.layout));
  });
  parts.picture.addEventListener("click", (event) => {
    if (!shown) return;
    const { position, layer } = placeUnder(parts.picture, shown.layout, event);
    if (position !== null) api.store.set({ step: Math.max(0, position - shown.run.promptLength + 1) });
    if (layer !== null) api.store.set({ layer }); // the heat maps of "Inside the cache" follow
  });
  return { reads: ["run", "step"], draw };
}

/** @param {HTMLElement} element */
function build(element) {
  element.classList.add("cache-growth");
  const empty = node("p.growth-empty", {}, element, words.say("page.growth.empty"));
  const picture = svg("svg", { role: "img" }, element);
  const shapes = {
    room: svg("path.growth-room", {}, picture),
    stored: svg("path.growth-stored", {}, picture),
    newest: svg("path.growth-newest", {}, picture),
  };
  const names = svg("g", {}, picture);
  const prompt = svg("text.growth-prompt", { x: LABEL_WIDTH }, picture);
  const caption = node("div.growth-caption", {}, element);
  const sum = node("span", {}, caption);
  caption.append(" ");
  const total = node("strong", {}, caption);
  const detail = node("div.growth-detail", {}, element);
  return { picture, shapes, names, prompt, empty, caption, sum, total, detail };
}

/** @typedef {ReturnType<typeof build>} Parts */

/**
 * Where everything stands, in pixels of the element. Slices stay at least 3 px wide; a long prompt gives way and says so.
 * @param {number} width
 * @param {Pick<Run, "cacheBytes" | "promptLength" | "maxNewTokens">} run
 * @param {number} step
 */
export function layOut(width, run, step) {
  const perLayer = run.cacheBytes[step];
  const { promptLength } = run;
  const slices = Math.max(run.cacheBytes.length, run.maxNewTokens || 0) - 1;
  const room = width - LABEL_WIDTH - 2;
  let cell = Math.min(WIDEST_CELL, room / (promptLength + slices));
  let promptWidth = cell * promptLength;
  const toScale = cell >= NARROWEST_SLICE || promptWidth <= NARROWEST_PROMPT;
  if (!toScale) {
    cell = Math.min(NARROWEST_SLICE, (room - NARROWEST_PROMPT) / slices);
    promptWidth = room - cell * slices;
  }
  const rowHeight = Math.max(6, Math.min(40, 200 / perLayer.length));
  return { perLayer, step, slices, cell, promptWidth, toScale, rowHeight, promptLength };
}

/** @typedef {ReturnType<typeof layOut>} Layout */

/** @param {Layout} layout @param {number} position */
const left = ({ promptLength, promptWidth, cell }, position) =>
  LABEL_WIDTH +
  (position < promptLength ? (promptWidth * position) / promptLength : promptWidth + cell * (position - promptLength));

/** @param {Layout} layout @param {number} layer @param {number} from @param {number} to */
function box(layout, layer, from, to) {
  const x = left(layout, from),
    width = left(layout, to) - x;
  const gap = Math.min(GAP, width / 3);
  const height = layout.rowHeight - Math.min(2, layout.rowHeight / 4);
  return `M${x.toFixed(2)} ${layer * layout.rowHeight}h${(width - gap).toFixed(2)}v${height}h${(gap - width).toFixed(2)}z`;
}

/** @param {Parts} parts @param {Layout} layout */
function paint({ picture, shapes, names, prompt }, layout) {
  const { perLayer, step, promptLength, rowHeight, slices, toScale } = layout;
  const paths = { room: "", stored: "", newest: "" };
  perLayer.forEach((layerBytes, layer) => {
    paths.room += box(layout, layer, 0, promptLength + slices);
    if (!layerBytes) return;
    paths[step === 0 ? "newest" : "stored"] += box(layout, layer, 0, promptLength);
    for (let slice = 1; slice <= step; slice++) {
      const position = promptLength + slice - 1;
      paths[slice === step ? "newest" : "stored"] += box(layout, layer, position, position + 1);
    }
  });
  set(shapes.room, { d: paths.room });
  set(shapes.stored, { d: paths.stored });
  set(shapes.newest, { d: paths.newest });
  set(picture, { height: perLayer.length * rowHeight + 22 });
  nameLayers(names, perLayer.length, rowHeight);
  set(prompt, { y: perLayer.length * rowHeight + 15 });
  say(prompt, words.say(toScale ? "page.growth.prompt" : "page.growth.narrowed", { count: promptLength }));
}

/** @param {Element} group @param {number} count @param {number} rowHeight */
function nameLayers(group, count, rowHeight) {
  const every = Math.ceil(14 / rowHeight); // names must not touch
  const texts = pool(group, Math.ceil(count / every), () => svg("text.growth-layer", { x: LABEL_WIDTH - 8 }));
  for (let index = 0; index * every < count; index += 1) {
    const layer = index * every;
    say(texts[index], words.say("page.growth.layer", { number: layer + 1 }));
    set(texts[index], { y: layer * rowHeight + rowHeight / 2 + 5 });
  }
}

/** @param {Parts} parts @param {Run} run @param {Layout} layout */
function tell({ picture, caption, sum, total, detail }, run, layout) {
  const { perLayer, step } = layout;
  const all = perLayer.reduce((before, one) => before + one, 0);
  say(sum, all ? factors(perLayer) : words.say("page.growth.nothing"));
  say(total, all ? bytes(all) : "");
  say(detail, written(run, layout));
  const what = (caption.textContent ?? "").trim();
  set(picture, { "aria-label": words.say("page.growth.spoken", { step, what }) });
}

/** Where the bytes come from. @param {number[]} perLayer */
function factors(perLayer) {
  const [layers, each] = [perLayer.length, perLayer[0]];
  if (perLayer.some((one) => one !== each)) return words.say("page.growth.layers", { layers });
  return words.say("page.growth.per_layer", { layers, each });
}

/** @param {Run} run @param {Layout} layout */
function written(run, { step, perLayer, promptLength }) {
  if (!perLayer.some(Boolean)) return "";
  if (step === 0) return words.say("page.growth.wrote_prompt", { count: promptLength });
  return words.say("page.growth.wrote", { step, token: run.labels[step - 1] });
}

/** @param {Run} run @param {Layout} layout @param {number | null} position */
function describe(run, layout, position) {
  if (position === null) return written(run, layout);
  const index = position - layout.promptLength;
  if (index < 0) return words.say("page.growth.in_prompt", { position, token: run.promptLabels[position] });
  const facts = { position, index, token: run.labels[index] ?? "" };
  if (index < layout.step) return words.say("page.growth.in_answer", facts);
  return words.say(facts.token ? "page.growth.not_yet" : "page.growth.not_written", facts);
}

/** The position and the layer under the pointer, each null where there is none.
 * @param {Element} picture @param {Layout} layout @param {MouseEvent} event */
function placeUnder(picture, layout, { clientX, clientY }) {
  const corner = picture.getBoundingClientRect();
  const layer = Math.floor((clientY - corner.top) / layout.rowHeight);
  return {
    position: positionAt(layout, clientX - corner.left),
    layer: layer >= 0 && layer < layout.perLayer.length ? layer : null,
  };
}

/** The position whose column holds a point, null beside all of them. @param {Layout} layout @param {number} x  pixels */
export function positionAt(layout, x) {
  const { promptLength, promptWidth, cell, slices } = layout;
  if (x < LABEL_WIDTH || x >= left(layout, promptLength + slices)) return null;
  const along = x - LABEL_WIDTH;
  if (along < promptWidth) return Math.floor((along / promptWidth) * promptLength);
  return promptLength + Math.floor((along - promptWidth) / cell);
}
