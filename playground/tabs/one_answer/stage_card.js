// One card of stages.js: its words, and bars of the most likely tokens, pale where this stage cut them.

import { isKept } from "../../page/js/reread.js";
import { node, say, set, svg } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { nameOf } from "./stage_words.js";

/**
 * @typedef {import("./stage_words.js").Stage} Stage
 * @typedef {import("./stage_words.js").CardWords} CardWords
 * @typedef {import("../../page/js/types.js").StepReread} StepReread
 * @typedef {{ from: number, to: number, top: number }} View  the places that have bars, and the probability of the longest
 * @typedef {{ kept: string, gone: string, floor?: string }} Paths
 */

const BARS = 24;
const PICTURE = { width: 216, height: 56 };
const CROWDED = 178; // pixels: in a narrower card the setting stands below the name

/** @param {string} name  of a stage, "pass", "model" or "sample" */
export function stageCard(name) {
  const box = node("li.stage", { "data-stage": name });
  // Gradio takes @container out of a style sheet, so the card is told its width here.
  new ResizeObserver(([{ contentRect }]) => {
    box.classList.toggle("is-crowded", contentRect.width < CROWDED);
  }).observe(box);
  const head = node("div.stage-head", {}, box);
  const number = node("span.stage-number", {}, head);
  node("b", {}, head, nameOf(name));
  const setting = node("span.stage-setting", {}, head);
  const badge = node("span.stage-badge", { hidden: "" }, box, words.say("one_answer.stage.last_cut"));
  const size = { viewBox: `0 0 ${PICTURE.width} ${PICTURE.height}`, preserveAspectRatio: "none" };
  const view = svg("svg.stage-picture", { ...size, "aria-hidden": "true" }, box);
  const gone = svg("path.stage-gone", {}, view);
  const kept = svg("path.stage-kept", {}, view);
  const floor = svg("path.stage-floor", { d: `M0 ${PICTURE.height - 0.5}h${PICTURE.width}` }, view);
  const line = node("div.stage-count", {}, box);
  const big = node("strong", {}, line);
  const small = node("span", {}, line);
  const why = node("p.stage-why", {}, box);

  return {
    box,
    /** @param {number} place  in the row, from 1 @param {CardWords} texts @param {Paths} paths */
    draw(place, texts, paths) {
      say(number, String(place));
      say(setting, texts.setting);
      say(big, texts.big);
      say(small, texts.small);
      say(why, texts.why);
      set(kept, { d: paths.kept || null });
      set(gone, { d: paths.gone || null });
      if (paths.floor) set(floor, { d: paths.floor });
    },
    /** One that is off is a thin arrow with its name, where it would stand. @param {{ off: boolean, idle: boolean, last: boolean }} looks */
    look({ off, idle, last }) {
      badge.hidden = !last;
      box.classList.toggle("is-binding", last);
      box.classList.toggle("is-off", off);
      set(box, { title: off ? words.say("one_answer.stage.is_off", { name: nameOf(name) }) : null });
      box.classList.toggle("is-idle", off || idle);
    },
  };
}

/** Which bars all cards show, and their common scale, so that sharpening is seen. @param {StepReread} now @returns {View} */
export function viewOf(now) {
  const from = now.start > BARS / 2 ? now.start - BARS / 4 : 0; // what is kept may begin far down
  const to = Math.min(from + BARS, now.probs.length);
  const shown = [now.modelProbs, ...now.stages.map(({ probs }) => probs)].map((probs) => probs.subarray(from, to));
  return { from, to, top: Math.max(...shown.map((probs) => Math.max(...probs))) };
}

/** Bars of the tokens that a stage keeps, and of those that it cut. @param {Stage} stage @param {Stage | null} before @param {View} view @returns {Paths} */
export function barsOf(stage, before, { from, to, top }) {
  const slot = PICTURE.width / BARS;
  const paths = { kept: "", gone: "" };
  for (let place = from; place < to; place += 1) {
    const stays = isKept(stage, place);
    if (!stays && !(before && isKept(before, place))) continue;
    const share = (stays || !before ? stage : before).probs[place];
    const height = Math.max(1.5, (share / top) * (PICTURE.height - 2));
    const left = (place - from) * slot + 1;
    paths[stays ? "kept" : "gone"] +=
      `M${left.toFixed(1)} ${PICTURE.height}v${-height.toFixed(2)}h${(slot - 2).toFixed(1)}V${PICTURE.height}z`;
  }
  return paths;
}

/** The text as a row of boxes: dark those that this pass reads, pale those that the cache holds from before.
 * @param {number} cached @param {number} fed @returns {Paths} */
export function passOf(cached, fed) {
  const slot = PICTURE.width / Math.max(cached + fed, 12);
  const wide = Math.max(slot - 2, 0.6);
  const box = (/** @type {number} */ place) =>
    `M${(place * slot).toFixed(1)} 18h${wide.toFixed(1)}v24h${(-wide).toFixed(1)}z`;
  const boxes = Array.from({ length: cached + fed }, (_, place) => box(place));
  return { gone: boxes.slice(0, cached).join(""), kept: boxes.slice(cached).join("") };
}

/** A band from 0 to 1, the piece of it that the sampled token has, and the random number as a mark on it. @param {StepReread} now @returns {Paths} */
export function bandOf({ probs, start, sampledPlace, uniform }) {
  const { width, height } = PICTURE;
  const before = probs.subarray(start, sampledPlace).reduce((sum, prob) => sum + prob, 0);
  const x = (/** @type {number} */ share) => (share * width).toFixed(1);
  const piece = Math.max(probs[sampledPlace] * width, 1.5).toFixed(1);
  return {
    gone: `M0 ${height - 24}h${width}v16H0z`,
    kept: `M${x(before)} ${height - 24}h${piece}v16H${x(before)}z`,
    floor: `M${x(uniform)} ${height - 4}V${height - 30}l-5 -9h10l-5 9`,
  };
}
