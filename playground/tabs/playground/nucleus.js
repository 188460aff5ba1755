// How many tokens could have been chosen at each step, on a logarithmic axis: the nucleus breathes.

import { drawRows, linearScale, logMarks, logScale, pointsOf } from "../../page/js/axis.js";
import { count } from "../../page/js/numbers.js";
import { slideOverSteps } from "../../page/js/step_slider.js";
import { node, pool, say, set, svg } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

const HEIGHT = 235;
const EDGE = { left: 62, right: 18, top: 14, bottom: 34 };

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const parts = build(element);
  const { picture } = parts;

  /** @type {import("../../page/js/types.js").Listener} */
  function draw({ run, reread, step }) {
    parts.empty.hidden = Boolean(run && reread);
    picture.toggleAttribute("hidden", !run || !reread);
    if (!run || !reread) return;
    const { width } = api;
    const sizes = reread.numCandidates;
    const { x, y } = scales(run, width);
    set(picture, { width });
    const marks = logMarks(run.vocabSize, HEIGHT - EDGE.top - EDGE.bottom);
    drawRows(parts.grid, marks, { y, left: EDGE.left, right: width - EDGE.right, word: count });
    set(parts.line, { points: pointsOf(sizes, x, y) });
    const circles = pool(parts.dots, run.numSteps, () => svg("circle.nucleus-dot", { r: 4 }));
    for (let index = 0; index < run.numSteps; index += 1) set(circles[index], { cx: x(index), cy: y(sizes[index]) });
    drawChosen(parts, x(step), y(sizes[step]), x(step) > width * 0.7);
    say(parts.caption, words.say("playground.nucleus.tokens", { count: sizes[step] }));
    set(parts.axis, { x: (EDGE.left + width) / 2 });
    set(picture, {
      "aria-valuenow": step,
      "aria-valuemin": 0,
      "aria-valuemax": run.numSteps - 1,
      "aria-valuetext": words.say("playground.nucleus.spoken", { step, count: sizes[step] }),
    });
  }

  slideOverSteps(picture, api.store, ({ offsetX }) => (offsetX - EDGE.left) / (api.width - EDGE.left - EDGE.right));
  return { reads: ["run", "reread", "step"], draw };
}

/** @param {HTMLElement} element */
function build(element) {
  const empty = node("p.empty-note", {}, element, words.say("playground.nucleus.empty"));
  const name = words.say("playground.nucleus.slider");
  const picture = svg("svg", { role: "slider", tabindex: 0, "aria-label": name, height: HEIGHT }, element);
  const grid = svg("g", {}, picture);
  const line = svg("polyline.nucleus-line", {}, picture);
  const dots = svg("g", {}, picture);
  const stem = svg("line.nucleus-stem", {}, picture);
  const chosen = svg("circle.nucleus-chosen", { r: 8 }, picture);
  const caption = svg("text.nucleus-words", {}, picture);
  const place = { y: HEIGHT - 8, "text-anchor": "middle" };
  const axis = svg("text.axis", place, picture, words.say("playground.nucleus.axis"));
  return { empty, picture, grid, line, dots, stem, chosen, caption, axis };
}

/** The step looked at, and where the words beside it stand.
 * @param {ReturnType<typeof build>} parts @param {number} x @param {number} y @param {boolean} isRight */
function drawChosen({ chosen, stem, caption }, x, y, isRight) {
  set(chosen, { cx: x, cy: y });
  set(stem, { x1: x, x2: x, y1: y, y2: HEIGHT - EDGE.bottom });
  const anchor = isRight ? "end" : "start";
  set(caption, { x: x + (isRight ? -14 : 14), y: y + (y < 60 ? 30 : -12), "text-anchor": anchor });
}

/** @param {{ numSteps: number, vocabSize: number }} run @param {number} width */
function scales({ numSteps, vocabSize }, width) {
  return {
    x: linearScale([0, Math.max(numSteps - 1, 1)], [EDGE.left, width - EDGE.right]),
    y: logScale([1, vocabSize], [HEIGHT - EDGE.bottom, EDGE.top]),
  };
}
