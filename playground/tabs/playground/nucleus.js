// How many tokens could have been chosen at each step, on a logarithmic axis: the nucleus breathes.

import { drawRows, linearScale, logMarks, logScale, pointsOf } from "../../page/js/axis.js";
import { slideOverSteps } from "../../page/js/step_slider.js";
import { node, pool, say, set, svg } from "../../page/js/svg.js";

const HEIGHT = 235;
const EDGE = { left: 62, right: 18, top: 14, bottom: 34 };

export function mount(element, api) {
  const empty = node("p.empty-note", {}, element, "After Generate: the number of candidates at every step.");
  const picture = svg("svg", { role: "slider", tabindex: 0, "aria-label": "Step", height: HEIGHT }, element);
  const grid = svg("g", {}, picture);
  const line = svg("polyline.nucleus-line", {}, picture);
  const dots = svg("g", {}, picture);
  const stem = svg("line.nucleus-stem", {}, picture);
  const chosen = svg("circle.nucleus-chosen", { r: 8 }, picture);
  const words = svg("text.nucleus-words", {}, picture);
  const title = svg("text.axis", { y: HEIGHT - 8, "text-anchor": "middle" }, picture, "decoding step");

  function draw({ run, reread, step }) {
    const ready = Boolean(run && reread);
    empty.hidden = ready;
    picture.style.display = ready ? "" : "none";
    if (!ready) return;
    const { width } = api;
    const sizes = reread.numCandidates;
    const { x, y } = scales(run, width);
    set(picture, { width });
    const marks = logMarks(run.vocabSize, HEIGHT - EDGE.top - EDGE.bottom);
    const word = (mark) => mark.toLocaleString("en");
    drawRows(grid, marks, { y, left: EDGE.left, right: width - EDGE.right, word });
    set(line, { points: pointsOf(sizes, x, y) });
    const circles = pool(dots, run.numSteps, () => svg("circle.nucleus-dot", { r: 4 }));
    for (let index = 0; index < run.numSteps; index += 1) set(circles[index], { cx: x(index), cy: y(sizes[index]) });
    drawChosen(x(step), y(sizes[step]), sizes[step]);
    set(title, { x: (EDGE.left + width) / 2 });
    set(picture, {
      "aria-valuenow": step,
      "aria-valuemin": 0,
      "aria-valuemax": run.numSteps - 1,
      "aria-valuetext": `step ${step}: ${words.textContent}`,
    });
  }

  /** The step looked at, and beside it how many tokens that is. */
  function drawChosen(x, y, size) {
    set(chosen, { cx: x, cy: y });
    set(stem, { x1: x, x2: x, y1: y, y2: HEIGHT - EDGE.bottom });
    say(words, `${size.toLocaleString("en")} token${size === 1 ? "" : "s"}`);
    const isRight = x > api.width * 0.7;
    const anchor = isRight ? "end" : "start";
    set(words, { x: x + (isRight ? -14 : 14), y: y + (y < 60 ? 30 : -12), "text-anchor": anchor });
  }

  slideOverSteps(picture, api.store, ({ offsetX }) => (offsetX - EDGE.left) / (api.width - EDGE.left - EDGE.right));
  return { reads: ["run", "reread", "step"], draw };
}

function scales({ numSteps, vocabSize }, width) {
  return {
    x: linearScale([0, Math.max(numSteps - 1, 1)], [EDGE.left, width - EDGE.right]),
    y: logScale([1, vocabSize], [HEIGHT - EDGE.bottom, EDGE.top]),
  };
}
