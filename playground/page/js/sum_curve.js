// The sum of the probabilities from the most likely token down, as top-p sees them, over the bars; and p as a line.

import { barLength, sumsBeforeTopP } from "./candidates.js";
import { isOn } from "./stage_table.js";
import { say, set, svg } from "./svg.js";
import * as words from "./words.js";

const CAPTION = 110; // pixels that "sum so far" takes, with the gap before it

/** @param {Element} table */
export function sumCurve(table) {
  const view = svg("svg.sum-curve", { "aria-hidden": "true" }, table);
  const line = svg("polyline.sum-line", {}, view);
  const dots = svg("path.sum-dots", {}, view);
  const limit = svg("path.sum-limit", {}, view);
  const caption = svg("text.sum-words", {}, view);
  /** Where the bars stand, measured once for each width. @type {{ left: number, width: number } | null} */
  let lane = null;
  new ResizeObserver(() => {
    lane = null;
  }).observe(table);

  return {
    /**
     * @param {import("./types.js").StepReread} now
     * @param {import("./candidates.js").Row[]} rows
     * @param {import("./types.js").State} state
     * @param {HTMLElement[]} lines  the rows on the page
     */
    draw(now, rows, { params, log }, lines) {
      if (!params) return;
      lane ??= measure(lines[0]);
      const { left, width } = lane;
      const at = (/** @type {number} */ sum) => left + barLength(Math.min(sum, 1), log) * width;
      const middle = (/** @type {HTMLElement} */ line) => line.offsetTop + line.offsetHeight / 2;
      const points = sumsBeforeTopP(now, rows).map(([index, sum]) => [at(sum), middle(lines[index])]);
      const [x, y] = points[points.length - 1];
      const last = lines[lines.length - 1];
      const bottom = last.offsetTop + last.offsetHeight;
      set(line, { points: points.map((point) => `${point[0].toFixed(1)},${point[1]}`).join(" ") });
      set(dots, { d: points.map((point) => `M${point[0].toFixed(1)} ${point[1]}h0`).join("") });
      const on = isOn("top-p", params);
      set(limit, { d: on ? `M${at(params.top_p)} ${lines[0].offsetTop - 4}V${bottom}` : null });
      const isFree = x - left > CAPTION; // or it would stand on the names of the tokens
      const soFar = isFree ? words.say("page.sum_curve.so_far") : "";
      say(caption, on ? words.say("page.sum_curve.limit", { p: params.top_p }) : soFar);
      set(caption, { x: (on ? at(params.top_p) : x) - 8, y: on ? bottom - 6 : y + 5, "text-anchor": "end" });
    },
  };
}

/** @param {HTMLElement} line */
function measure(line) {
  const lane = /** @type {HTMLElement} */ (line.children[1]);
  return { left: lane.offsetLeft, width: lane.offsetWidth };
}
