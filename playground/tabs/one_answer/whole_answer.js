// Two curves over the steps of one answer, one below the other: how many tokens can be sampled, and the probability of
// the one that was written. Below them the same as a table.

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
import { count, percent } from "../../page/js/numbers.js";
import { told } from "../../page/js/reread.js";
import { slideOverSteps } from "../../page/js/step_slider.js";
import { node, pool, say, set, svg } from "../../page/js/svg.js";
import { cellOf, fill } from "../../page/js/table.js";
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

const EDGE = { left: 66, right: 14, top: 4, bottom: 28 };
const HEAD = 32; // of each curve, for its name and its value
const HEIGHT = 80; // of each curve
const NARROW = 520; // pixels: below, the words get shorter
const STRIDE = HEAD + HEIGHT + 8;
const WHOLE = 2 * STRIDE + EDGE.bottom;
const COLUMNS = ["step", "token", "candidates", "prob", "model", "rank", "entropy"];

/** @param {import("../../page/js/types.js").Run} run @param {import("../../page/js/types.js").Reread} reread @param {boolean} isNarrow @returns {Curve[]} */
export function curvesOf(run, reread, isNarrow) {
  const { numCandidates, chosenProb, chosenModelProb } = reread;
  return [
    {
      name: words.say(isNarrow ? "one_answer.whole.candidates_narrow" : "one_answer.whole.candidates"),
      values: numCandidates,
      at: logScale([1, run.vocabSize], [0, 1]),
      marks: logMarks(run.vocabSize, HEIGHT),
      say: (_, step) => words.say("one_answer.whole.candidates_value", { value: told(reread, "numCandidates", step) }),
    },
    {
      name: words.say(isNarrow ? "one_answer.whole.prob_narrow" : "one_answer.whole.prob"),
      values: chosenProb,
      pale: chosenModelProb,
      at: (share) => share,
      marks: [0, 0.5, 1],
      say: (_, step) => {
        const [value, model] = [told(reread, "chosenProb", step), told(reread, "chosenModelProb", step)];
        return isNarrow
          ? words.say("one_answer.whole.prob_short", { value })
          : words.say("one_answer.whole.prob_value", { value, model });
      },
    },
  ];
}

/** The cells of a step, in words. @param {import("../../page/js/types.js").Run} run @param {import("../../page/js/types.js").Reread} reread @param {number} step */
export function cellsOf(run, reread, step) {
  const entropy = words.say("one_answer.whole.nats", { value: told(reread, "entropy", step) });
  const [prob, model] = [percent(told(reread, "chosenProb", step)), percent(told(reread, "chosenModelProb", step))];
  const kept = count(told(reread, "numCandidates", step));
  return [step, run.labels[step], kept, prob, model, reread.chosenRank[step], entropy];
}

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const empty = node("p.empty-note", {}, element, words.say("one_answer.whole.empty"));
  const label = words.say("one_answer.whole.label");
  const picture = svg("svg.whole-answer", { role: "slider", tabindex: 0, "aria-label": label, height: WHOLE }, element);
  const fork = forkIn(picture);
  const stem = svg("path.whole-stem", {}, picture);
  const rows = Array.from({ length: 2 }, (_, index) => rowIn(picture, index));
  picture.append(fork.words);
  const ticks = svg("g", {}, picture);
  const table = tableBelow(element, api.store);
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
      table.draw(run, reread);
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

/** Filled only while it is open. @param {Element} element @param {import("../../page/js/types.js").Store} store */
function tableBelow(element, store) {
  const box = node("details.plot-numbers", {}, element);
  node("summary", {}, box, words.say("one_answer.whole.numbers"));
  const region = { tabindex: 0, role: "region", "aria-label": words.say("one_answer.whole.numbers") };
  const table = node("table.plot-table", {}, node("div.plot-scroll", region, box));
  const heads = COLUMNS.map((name) => words.say(`one_answer.whole.column.${name}`));
  fill(node("tr", {}, node("thead", {}, table)), heads, () => node("th", { scope: "col" }));
  const body = node("tbody", {}, table);
  /** @param {import("../../page/js/types.js").Run | null} run @param {import("../../page/js/types.js").Reread | null} reread */
  function draw(run, reread) {
    box.hidden = !run || !reread;
    if (!run || !reread || !box.open) return;
    const lines = pool(body, run.numSteps, () => node("tr"));
    for (let step = 0; step < run.numSteps; step += 1) fill(lines[step], cellsOf(run, reread, step), cellOf);
  }
  box.addEventListener("toggle", () => draw(store.get().run, store.get().reread));
  return { draw };
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
  const name = svg("text.whole-name", { x: EDGE.left, y: top + 21 }, group);
  const value = svg("text.whole-value", { y: top + 21, "text-anchor": "end" }, group);
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
