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
import { percent } from "../../page/js/numbers.js";
import { slideOverSteps } from "../../page/js/step_slider.js";
import { node, say, set, svg } from "../../page/js/svg.js";

const EDGE = { left: 60, right: 14, top: 4, bottom: 26 };
const HEAD = 30; // of each curve, for its name and its value
const HEIGHT = 84; // of each curve
const NARROW = 460; // pixels: below, the words get shorter
const STRIDE = HEAD + HEIGHT + 8;

const count = (value) => value.toLocaleString("en");

/** Each curve: its name, its numbers, the scale from 0 (bottom) to 1 (top), the marks, and how a number is said. */
function curvesOf(run, reread, isNarrow) {
  const entropyTop = [1, 2, 4, 8, 16].find((top) => reread.entropy.every((nats) => nats <= top)) ?? 16;
  const log = logScale([1, run.vocabSize], [0, 1]);
  const powers = logMarks(run.vocabSize, HEIGHT);
  return [
    {
      name: "Nucleus size",
      values: reread.numCandidates,
      at: log,
      marks: powers,
      mark: count,
      say: (value) => `${count(value)} token${value === 1 ? "" : "s"}`,
    },
    {
      name: "Entropy",
      values: reread.entropy,
      at: (nats) => nats / entropyTop,
      marks: [0, entropyTop / 2, entropyTop],
      mark: String,
      say: (nats) => `${nats.toFixed(2)} nats${isNarrow ? "" : `, as ${equalTokens(nats)} equal tokens`}`,
    },
    {
      name: isNarrow ? "Probability" : "Probability of the token written",
      values: reread.chosenProb,
      pale: reread.chosenModelProb,
      at: (share) => share,
      marks: [0, 0.5, 1],
      mark: String,
      say: (share, step) => percent(share) + (isNarrow ? "" : ` (model ${percent(reread.chosenModelProb[step])})`),
    },
    {
      name: "Its rank",
      values: reread.chosenRank,
      at: (rank) => 1 - log(rank),
      marks: powers,
      mark: count,
      say: (rank) => (rank === 1 ? "1, the most likely" : count(rank)),
    },
  ];
}

/** How many equally likely tokens would be as uncertain. */
function equalTokens(nats) {
  const tokens = Math.exp(nats);
  return tokens < 10 ? tokens.toFixed(1) : count(Math.round(tokens));
}

export function mount(element, api) {
  const empty = node("p.empty-note", {}, element, "After Generate: how sure the model was at every step.");
  const height = 4 * STRIDE + EDGE.bottom;
  const picture = svg(
    "svg.whole-answer",
    { role: "slider", tabindex: 0, "aria-label": "Step of the answer", height },
    element,
  );
  const beyond = svg("rect.whole-beyond", { y: EDGE.top }, picture);
  const fork = svg("path.whole-fork", {}, picture);
  const stem = svg("path.whole-stem", {}, picture);
  const rows = Array.from({ length: 4 }, (_, index) => makeRow(picture, index));
  const forkWords = svg("text.whole-fork-words", {}, picture, "would differ from here");
  const ticks = svg("g", {}, picture);
  let width = 0;

  function draw({ run, reread, step }) {
    const ready = Boolean(run && reread);
    empty.hidden = ready;
    picture.style.display = ready ? "" : "none";
    if (!ready) return;
    width = api.width;
    set(picture, { width });
    const x = linearScale([0, Math.max(run.numSteps - 1, 1)], [EDGE.left, width - EDGE.right]);
    for (const [index, curve] of curvesOf(run, reread, width < NARROW).entries())
      drawRow(rows[index], curve, index, step, x);
    set(stem, { d: `M${x(step)} ${EDGE.top + HEAD}V${height - EDGE.bottom}` });
    drawFork(reread.firstDifference, x);
    const word = (mark) => (mark === 0 ? "step 0" : String(mark));
    drawColumns(ticks, stepMarks(run.numSteps, width / 90), { x, y: height - 4, word });
    set(picture, {
      "aria-valuenow": step,
      "aria-valuemin": 0,
      "aria-valuemax": run.numSteps - 1,
      "aria-valuetext": `step ${step}: ${run.labels[step]}, ${rows.map((row) => row.value.textContent).join(", ")}`,
    });
  }

  function drawRow(row, curve, index, step, x) {
    const bottom = EDGE.top + index * STRIDE + HEAD + HEIGHT;
    const y = (value) => bottom - Math.max(0, Math.min(1, curve.at(value))) * HEIGHT;
    say(row.name, curve.name);
    say(row.value, curve.say(curve.values[step], step));
    set(row.value, { x: width - EDGE.right });
    drawRows(row.grid, curve.marks, { y, left: EDGE.left, right: width - EDGE.right, word: curve.mark });
    set(row.line, { points: pointsOf(curve.values, x, y) });
    set(row.pale, { points: curve.pale ? pointsOf(curve.pale, x, y) : null });
    set(row.dots, { d: dotsOf(curve.values, x, y) });
    set(row.chosen, { cx: x(step), cy: y(curve.values[step]) });
  }

  function drawFork(step, x) {
    const none = step === null;
    for (const part of [beyond, fork, forkWords]) part.style.display = none ? "none" : "";
    if (none) return;
    const left = x(step);
    set(fork, { d: `M${left} ${EDGE.top + HEAD - 6}V${height - EDGE.bottom}` });
    set(beyond, {
      x: left,
      y: EDGE.top + HEAD - 6,
      width: Math.max(width - EDGE.right - left, 0),
      height: height - EDGE.bottom - EDGE.top - HEAD + 6,
    });
    const right = left > width * 0.6;
    set(forkWords, { x: left + (right ? -6 : 6), y: height - EDGE.bottom - 6, "text-anchor": right ? "end" : "start" });
  }

  slideOverSteps(
    picture,
    api.store,
    ({ clientX }) => (clientX - picture.getBoundingClientRect().left - EDGE.left) / (width - EDGE.left - EDGE.right),
  );
  return { reads: ["run", "reread", "step"], draw };
}

function makeRow(picture, index) {
  const top = EDGE.top + index * STRIDE;
  const group = svg("g", {}, picture);
  return {
    grid: svg("g", {}, group),
    pale: svg("polyline.whole-pale", {}, group),
    line: svg("polyline.whole-line", {}, group),
    dots: svg("path.whole-dots", {}, group),
    chosen: svg("circle.whole-chosen", { r: 7 }, group),
    name: svg("text.whole-name", { x: EDGE.left, y: top + 20 }, group),
    value: svg("text.whole-value", { y: top + 20, "text-anchor": "end" }, group),
  };
}
