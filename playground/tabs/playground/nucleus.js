// How many tokens could have been chosen at each step, on a logarithmic axis: the nucleus breathes.

import { slideOverSteps } from "../../page/js/step_slider.js";
import { node, pool, say, set, svg } from "../../page/js/svg.js";

const EDGE = { left: 62, right: 18, top: 14, bottom: 34 };

export function mount(element, api) {
  const empty = node("p.empty-note", {}, element, "After Generate: the number of candidates at every step.");
  const picture = svg("svg", { role: "slider", tabindex: 0, "aria-label": "Step", height: 235 }, element);
  const grid = svg("g", {}, picture);
  const line = svg("polyline.nucleus-line", {}, picture);
  const dots = svg("g", {}, picture);
  const stem = svg("line.nucleus-stem", {}, picture);
  const chosen = svg("circle.nucleus-chosen", { r: 8 }, picture);
  const words = svg("text.nucleus-words", {}, picture);
  const title = svg("text.axis", { "text-anchor": "middle" }, picture, "decoding step");

  function scales(run) {
    const width = api.width,
      height = 235;
    const steps = Math.max(run.numSteps - 1, 1),
      top = Math.log(run.vocabSize);
    return {
      width,
      height,
      x: (step) => EDGE.left + (step / steps) * (width - EDGE.left - EDGE.right),
      y: (size) => height - EDGE.bottom - (Math.log(size) / top) * (height - EDGE.top - EDGE.bottom),
    };
  }

  function draw({ run, reread, step }) {
    const ready = Boolean(run && reread);
    empty.hidden = ready;
    picture.style.display = ready ? "" : "none";
    if (!ready) return;
    const { width, height, x, y } = scales(run);
    set(picture, { width });
    drawGrid(run.vocabSize, width, y);
    const sizes = reread.numCandidates;
    let points = "";
    for (let index = 0; index < run.numSteps; index += 1)
      points += `${x(index).toFixed(1)},${y(sizes[index]).toFixed(1)} `;
    set(line, { points });
    const circles = pool(dots, run.numSteps, () => svg("circle.nucleus-dot", { r: 4 }));
    for (let index = 0; index < run.numSteps; index += 1) set(circles[index], { cx: x(index), cy: y(sizes[index]) });
    set(chosen, { cx: x(step), cy: y(sizes[step]) });
    set(stem, { x1: x(step), x2: x(step), y1: y(sizes[step]), y2: height - EDGE.bottom });
    const words_ = `${sizes[step].toLocaleString("en")} token${sizes[step] === 1 ? "" : "s"}`;
    say(words, words_);
    const right = x(step) > width * 0.7;
    set(words, {
      x: x(step) + (right ? -14 : 14),
      y: y(sizes[step]) + (y(sizes[step]) < 60 ? 30 : -12),
      "text-anchor": right ? "end" : "start",
    });
    set(title, { x: (EDGE.left + width) / 2, y: height - 8 });
    set(picture, {
      "aria-valuenow": step,
      "aria-valuemin": 0,
      "aria-valuemax": run.numSteps - 1,
      "aria-valuetext": `step ${step}: ${words_}`,
    });
  }

  function drawGrid(vocabSize, width, y) {
    const marks = [1, 10, 100, 1000, 10000, 100000].filter((mark) => mark < vocabSize * 0.7).concat(vocabSize);
    const rows = pool(grid, marks.length, () => {
      const row = svg("g");
      svg("line.grid-line", {}, row);
      svg("text.axis", { x: EDGE.left - 10, "text-anchor": "end", dy: "0.35em" }, row);
      return row;
    });
    marks.forEach((mark, index) => {
      set(rows[index].children[0], { x1: EDGE.left, x2: width - EDGE.right, y1: y(mark), y2: y(mark) });
      set(rows[index].children[1], { y: y(mark) });
      say(rows[index].children[1], mark.toLocaleString("en"));
    });
  }

  slideOverSteps(picture, api.store, ({ offsetX }) => (offsetX - EDGE.left) / (api.width - EDGE.left - EDGE.right));
  return { draw };
}
