// How many tokens could be sampled at each step, on a logarithmic axis: the nucleus breathes.

import { linearScale, logScale, pointsOf } from "../../page/js/axis.js";
import { count } from "../../page/js/numbers.js";
import { told } from "../../page/js/reread.js";
import { slideOverSteps } from "../../page/js/step_slider.js";
import { node, pool, say, set, svg } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { miniPicture } from "./mini.js";

const SMALLEST = 44; // pixels of the picture's height
const EDGE = 12; // pixels around the curve

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const number = node("div.key-number", {}, element);
  const attributes = { role: "slider", tabindex: 0, "aria-label": words.say("playground.nucleus.slider") };
  const { picture, fill } = miniPicture(element, attributes, SMALLEST, () => draw(api.store.get()));
  const line = svg("polyline.nucleus-line", {}, picture);
  const dots = svg("g", {}, picture);
  const cursor = svg("circle.nucleus-cursor", { r: 8 }, picture);

  /** @type {import("../../page/js/types.js").Listener} */
  function draw({ run, reread, step }) {
    picture.toggleAttribute("hidden", !run || !reread);
    if (!run || !reread) return;
    const sizes = reread.numCandidates;
    say(number, count(told(reread, "numCandidates", step))); // first: it takes room from the picture
    const { width, height } = fill();
    const x = linearScale([0, Math.max(run.numSteps - 1, 1)], [EDGE, width - EDGE]);
    const y = logScale([1, run.vocabSize], [height - EDGE, EDGE]);
    set(line, { points: pointsOf(sizes, x, y) });
    const circles = pool(dots, run.numSteps, () => svg("circle.nucleus-dot", { r: 4 }));
    for (let index = 0; index < run.numSteps; index += 1) set(circles[index], { cx: x(index), cy: y(sizes[index]) });
    set(cursor, { cx: x(step), cy: y(sizes[step]) });
    set(picture, {
      "aria-valuenow": step,
      "aria-valuemin": 0,
      "aria-valuemax": run.numSteps - 1,
      "aria-valuetext": words.say("playground.nucleus.spoken", { step, count: told(reread, "numCandidates", step) }),
    });
  }

  slideOverSteps(picture, api.store, ({ offsetX }) => (offsetX - EDGE) / (picture.clientWidth - 2 * EDGE));
  return { reads: ["run", "reread", "step"], draw };
}
