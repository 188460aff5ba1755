// The generate loop as code, the lines of the engine themselves: the line that runs now is lit, and what the three lines
// that matter make of the step looked at stands below, beside the picture of the work. value: { lines }

import { chips } from "../../page/js/chips.js";
import { decimals } from "../../page/js/numbers.js";
import { highestLogits } from "../../page/js/reread.js";
import { node, say, set, svg } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { drawWork, fedWithoutCache } from "./work_picture.js";

/** @typedef {import("../../page/js/types.js").Run} Run */
/** @typedef {{ text: string, part: "loop" | "feed", lit: string | null }} Line */

const VALUES = ["slice", "forward", "choose", "append"];
const LINE_MS = 900; // of a playing loop
const MOST_IDS = 8; // shown of a slice

/** The token ids of a slice; of a long one both ends. @param {number[]} ids */
export function spelledIds(ids) {
  if (ids.length <= MOST_IDS) return ids.join(", ");
  return `${ids.slice(0, MOST_IDS / 2).join(", ")}, …, ${ids.slice(-MOST_IDS / 2).join(", ")}`;
}

/** What the cache has not seen before a step: all of the text without a cache. @param {Run} run @param {number} step @param {boolean} isCached */
export function unseenAt(run, step, isCached) {
  const text = [...run.promptIds, ...run.tokenIds.slice(0, step)];
  return isCached ? text.slice(text.length - run.numFed[step]) : text;
}

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const lines = /** @type {Line[]} */ (api.props.value.lines);
  const order = ["call", "slice", "forward", "distribution", "choose", "append"];
  let at = 0; // place in `order` of the line that runs
  let isCached = true;
  let timer = 0;
  const view = build(element, lines, {
    next: () => {
      stop();
      next();
    },
    play: () => (timer ? stop() : play()),
    cache: (place) => {
      isCached = place === 0;
      draw();
    },
  });

  /** The next line, or the first one of the next step. Returns whether there was one. */
  function next() {
    const { run, step } = api.store.get();
    if (!run || (at === order.length - 1 && step >= run.numSteps - 1)) return false;
    at = (at + 1) % order.length;
    if (!at) api.store.set({ step: step + 1 });
    draw();
    return true;
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    draw();
  }

  function play() {
    const { run, step } = api.store.get();
    if (run && step >= run.numSteps - 1) api.store.set({ step: 0 });
    at = 0;
    timer = window.setInterval(() => {
      if (!next()) stop();
    }, LINE_MS);
    draw();
  }

  function draw() {
    const { run, step } = api.store.get();
    view.empty.hidden = Boolean(run?.numSteps);
    view.controls.hidden = view.side.hidden = !run?.numSteps;
    for (const [place, item] of view.items.entries())
      item.classList.toggle("is-lit", Boolean(run) && lines[place].lit === order[at]);
    if (!run?.numSteps || !api.width) return;
    say(view.play, words.say(`cache_on_off.loop.${timer ? "pause" : "play"}`));
    say(view.step, words.say("cache_on_off.loop.step", { step: step + 1, steps: run.numSteps }));
    view.cache.draw([words.say("cache_on_off.loop.on"), words.say("cache_on_off.loop.off")], isCached ? 0 : 1);
    const said = valuesAt(run, step, isCached);
    for (const [key, line] of Object.entries(view.values)) {
      say(line.text, said[key]);
      line.row.classList.toggle("is-lit", key === order[at]);
    }
    const width = Math.floor(view.side.clientWidth);
    const fedWith = run.numFed.slice(0, step + 1);
    const work = { promptLength: run.promptLength, fedWith, fedWithout: fedWithoutCache(run.promptLength, step + 1) };
    drawWork(view.picture, { ...work, numSteps: run.numSteps, step }, { width, height: 200 });
  }

  return { reads: ["run", "step"], draw };
}

/** @param {HTMLElement} element @param {Line[]} lines @param {{ next: () => void, play: () => void, cache: (place: number) => void }} act */
function build(element, lines, act) {
  const empty = node("p.empty-note", {}, element, words.say("cache_on_off.loop.empty"));
  const controls = node("div.loop-controls", {}, element);
  const next = node("button.small-button", { type: "button" }, controls, words.say("cache_on_off.loop.next"));
  const play = node("button.small-button", { type: "button" }, controls);
  next.addEventListener("click", act.next);
  play.addEventListener("click", act.play);
  const step = node("span.loop-step", {}, controls);
  const cache = chips(controls, words.say("cache_on_off.loop.cache"), act.cache);
  const board = node("div.loop", {}, element);
  const code = node("div.loop-code", { tabindex: 0, role: "group", translate: "no" }, board);
  set(code, { "aria-label": words.say("cache_on_off.loop.code") });
  const lists = Object.fromEntries(
    ["loop", "feed"].map((part) => {
      node("p.loop-part", {}, code, words.say(`cache_on_off.loop.part.${part}`));
      return [part, node("ol.loop-lines", {}, code)];
    }),
  );
  const items = lines.map(({ text, part }) => node("li", {}, lists[part], text));
  const side = node("div.loop-side", {}, board);
  const values = Object.fromEntries(
    VALUES.map((key) => {
      const row = node("div.loop-value", {}, side);
      node("span.loop-name", { translate: "no" }, row, words.say(`cache_on_off.loop.name.${key}`));
      return [key, { row, text: node("span", {}, row) }];
    }),
  );
  const picture = svg("svg", {}, side);
  return { empty, controls, next, play, step, cache, items, side, values, picture };
}

/** What each line has made at a step, in words. @param {Run} run @param {number} step @param {boolean} isCached @returns {Record<string, string>} */
function valuesAt(run, step, isCached) {
  const unseen = unseenAt(run, step, isCached);
  const label = (/** @type {number} */ id) => run.vocabulary[id];
  const known = run.logits ? highestLogits(run, step, 3) : []; // not while it is being written
  const top = known.map(({ id, logit }) => `${label(id)} ${decimals(logit, 2)}`);
  const text = run.promptLength + step + 1;
  const chosen = run.tokenIds[step];
  const facts = { count: unseen.length, ids: spelledIds(unseen), newest: label(unseen[unseen.length - 1]) };
  return {
    slice: words.say("cache_on_off.loop.value.slice", facts),
    forward: words.say("cache_on_off.loop.value.forward", { size: run.vocabSize, top: top.join(" · ") }),
    choose: words.say("cache_on_off.loop.value.choose", {
      uniform: run.uniforms[step],
      id: chosen,
      label: label(chosen),
    }),
    append: words.say(`cache_on_off.loop.value.${isCached ? "append" : "append_off"}`, { text, cache: text - 1 }),
  };
}
