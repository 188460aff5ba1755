// Four curves over the steps of one answer, one below the other: nucleus size, entropy, probability, rank.

import {
  dotsOf,
  drawColumns,
  drawRows,
  linearScale,
  logMarks,
  logScale,
  pointsOf,
  stepMarks,
} from "../../page/js/axis.js";
import { count } from "../../page/js/numbers.js";
import { slideOverSteps } from "../../page/js/step_slider.js";
import { node, say, set, svg } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/**
 * @typedef {import("../../page/js/axis.js").Scale} Scale
 * @typedef {object} Curve
 * @property {string} name
 * @property {ArrayLike<number>} values  one for each step
 * @property {ArrayLike<number>} [pale]  before any stage
 * @property {Scale} at  where a value is, from 0 (bottom) to 1 (top)
 * @property {number[]} marks  of its axis
 * @property {(value: number, step: number) => string} say
 */

const EDGE = { left: 60, right: 14, top: 4, bottom: 26 };
const HEAD = 30; // of each curve, for its name and its value
const HEIGHT = 84; // of each curve
const NARROW = 460; // pixels: below, the words get shorter
const STRIDE = HEAD + HEIGHT + 8;
const WHOLE = 4 * STRIDE + EDGE.bottom;

/** @param {import("../../page/js/types.js").Run} run @param {import("../../page/js/types.js").Reread} reread @param {boolean} isNarrow @returns {Curve[]} */
export function curvesOf(run, reread, isNarrow) {
  const { entropy, chosenModelProb } = reread;
  const entropyTop = [1, 2, 4, 8, 16].find((top) => entropy.every((nats) => nats <= top)) ?? 16;
  const log = logScale([1, run.vocabSize], [0, 1]);
  const powers = logMarks(run.vocabSize, HEIGHT);
  return [
    {
      name: words.say("one_answer.whole.nucleus"),
      values: reread.numCandidates,
      at: log,
      marks: powers,
      say: (value) => words.say("one_answer.whole.nucleus_value", { value }),
    },
    {
      name: words.say("one_answer.whole.entropy"),
      values: entropy,
      at: (nats) => nats / entropyTop,
      marks: [0, entropyTop / 2, entropyTop],
      say: (value) =>
        isNarrow
          ? words.say("one_answer.whole.entropy_short", { value })
          : words.say("one_answer.whole.entropy_value", { value, equal: equalTokens(value) }),
    },
    {
      name: words.say(isNarrow ? "one_answer.whole.prob_narrow" : "one_answer.whole.prob"),
      values: reread.chosenProb,
      pale: chosenModelProb,
      at: (share) => share,
      marks: [0, 0.5, 1],
      say: (value, step) =>
        isNarrow
          ? words.say("one_answer.whole.prob_short", { value })
          : words.say("one_answer.whole.prob_value", { value, model: chosenModelProb[step] }),
    },
    {
      name: words.say("one_answer.whole.rank"),
      values: reread.chosenRank,
      at: (rank) => 1 - log(rank),
      marks: powers,
      say: (value) => words.say("one_answer.whole.rank_value", { value }),
    },
  ];
}

/** How many equally likely tokens would be as uncertain, as exact as one wants to read it. @param {number} nats */
function equalTokens(nats) {
  const tokens = Math.exp(nats);
  return tokens < 10 ? Math.round(10 * tokens) / 10 : Math.round(tokens);
}

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const empty = node("p.empty-note", {}, element, words.say("one_answer.whole.empty"));
  const label = words.say("one_answer.whole.label");
  const picture = svg("svg.whole-answer", { role: "slider", tabindex: 0, "aria-label": label, height: WHOLE }, element);
  const fork = forkIn(picture);
  const stem = svg("path.whole-stem", {}, picture);
  const rows = Array.from({ length: 4 }, (_, index) => rowIn(picture, index));
  picture.append(fork.words);
  const ticks = svg("g", {}, picture);
  const word = (/** @type {number} */ step) => words.say("one_answer.whole.step_mark", { step });
  slideOverSteps(picture, api.store, ({ clientX }) => {
    return (clientX - picture.getBoundingClientRect().left - EDGE.left) / (api.width - EDGE.left - EDGE.right);
  });

  return {
    reads: ["run", "reread", "step"],
    draw({ run, reread, step }) {
      const ready = run !== null && reread !== null;
      empty.hidden = ready;
      picture.style.display = ready ? "" : "none";
      if (!ready) return;
      const { width } = api;
      set(picture, { width });
      const x = linearScale([0, Math.max(run.numSteps - 1, 1)], [EDGE.left, width - EDGE.right]);
      const curves = curvesOf(run, reread, width < NARROW);
      for (const [index, curve] of curves.entries()) rows[index].draw(curve, step, x, width);
      set(stem, { d: `M${x(step)} ${EDGE.top + HEAD}V${WHOLE - EDGE.bottom}` });
      fork.draw(reread.firstDifference, x, width);
      drawColumns(ticks, stepMarks(run.numSteps, width / 90), { x, y: WHOLE - 4, word });
      const values = curves.map((curve) => curve.say(curve.values[step], step)).join(", ");
      set(picture, {
        "aria-valuenow": step,
        "aria-valuemin": 0,
        "aria-valuemax": run.numSteps - 1,
        "aria-valuetext": words.say("one_answer.whole.spoken", { step, token: run.labels[step], values }),
      });
    },
  };
}

/** One curve. @param {SVGElement} picture @param {number} index */
function rowIn(picture, index) {
  const top = EDGE.top + index * STRIDE;
  const bottom = top + HEAD + HEIGHT;
  const group = svg("g", {}, picture);
  const grid = svg("g", {}, group);
  const pale = svg("polyline.whole-pale", {}, group);
  const line = svg("polyline.whole-line", {}, group);
  const dots = svg("path.whole-dots", {}, group);
  const chosen = svg("circle.whole-chosen", { r: 7 }, group);
  const name = svg("text.whole-name", { x: EDGE.left, y: top + 20 }, group);
  const value = svg("text.whole-value", { y: top + 20, "text-anchor": "end" }, group);
  return {
    /** @param {Curve} curve @param {number} step @param {Scale} x @param {number} width */
    draw(curve, step, x, width) {
      const y = (/** @type {number} */ each) => bottom - Math.max(0, Math.min(1, curve.at(each))) * HEIGHT;
      say(name, curve.name);
      say(value, curve.say(curve.values[step], step));
      set(value, { x: width - EDGE.right });
      drawRows(grid, curve.marks, { y, left: EDGE.left, right: width - EDGE.right, word: count });
      set(line, { points: pointsOf(curve.values, x, y) });
      set(pale, { points: curve.pale ? pointsOf(curve.pale, x, y) : null });
      set(dots, { d: dotsOf(curve.values, x, y) });
      set(chosen, { cx: x(step), cy: y(curve.values[step]) });
    },
  };
}

/** The step from which the sliders would write another answer. @param {SVGElement} picture */
function forkIn(picture) {
  const [top, bottom] = [EDGE.top + HEAD - 6, WHOLE - EDGE.bottom];
  const beyond = svg("rect.whole-beyond", { y: top, height: bottom - top }, picture);
  const line = svg("path.whole-fork", {}, picture);
  const text = svg("text.whole-fork-words", { y: bottom - 6 }, null, words.say("one_answer.whole.would_differ"));
  return {
    words: text, // stands in front of the curves
    /** @param {number | null} step @param {Scale} x @param {number} width */
    draw(step, x, width) {
      for (const part of [beyond, line, text]) part.style.display = step === null ? "none" : "";
      if (step === null) return;
      const left = x(step);
      const isFarRight = left > width * 0.6;
      set(line, { d: `M${left} ${top}V${bottom}` });
      set(beyond, { x: left, width: Math.max(width - EDGE.right - left, 0) });
      set(text, { x: left + (isFarRight ? -6 : 6), "text-anchor": isFarRight ? "end" : "start" });
    },
  };
}
