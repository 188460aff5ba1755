// The sum of the probabilities from the most likely token down, as top-p sees them, over the bars; and p as a line.

import { barLength, sumsBeforeTopP } from "./candidates.js";
import { isOn } from "./stage_table.js";
import { say, set, svg } from "./svg.js";
import * as words from "./words.js";

const ROOM_AT_CUT = 26; // pixels that page.css leaves below the last kept row, its border included

/** @param {Element} table */
export function sumCurve(table) {
  const view = svg("svg.sum-curve", { "aria-hidden": "true" }, table);
  const line = svg("polyline.sum-line", {}, view);
  const dots = svg("path.sum-dots", {}, view);
  const limit = svg("path.sum-limit", {}, view);
  const caption = svg("text.sum-words", {}, view);
  /** Where the bars stand, measured once for each width. @type {{ left: number, width: number, row: number } | null} */
  let lane = null;
  new ResizeObserver(() => {
    lane = null;
  }).observe(table);

  return {
    /**
     * @param {import("./types.js").StepReread} now
     * @param {number[]} places
     * @param {import("./types.js").State} state
     * @param {ArrayLike<HTMLElement>} rows
     */
    draw(now, places, { params, log }, rows) {
      if (!params) return;
      lane ??= measure(rows[0]);
      const { left, width, row } = lane;
      const top = topsOf(places.indexOf(now.stop - 1), rows.length, row);
      const at = (/** @type {number} */ sum) => left + barLength(Math.min(sum, 1), log) * width;
      const points = sumsBeforeTopP(now, places).map(([index, sum]) => [at(sum), top(index) + row / 2]);
      const [x, y] = points[points.length - 1];
      const bottom = top(rows.length - 1) + row;
      set(line, { points: points.map((point) => `${point[0].toFixed(1)},${point[1]}`).join(" ") });
      set(dots, { d: points.map((point) => `M${point[0].toFixed(1)} ${point[1]}h0`).join("") });
      const on = isOn("top-p", params);
      set(limit, { d: on ? `M${at(params.top_p)} -4V${bottom}` : null });
      say(caption, on ? words.say("page.sum_curve.limit", { p: params.top_p }) : words.say("page.sum_curve.so_far"));
      set(caption, { x: (on ? at(params.top_p) : x) - 8, y: on ? bottom - 6 : y + 5, "text-anchor": "end" });
    },
  };
}

/** @param {HTMLElement} row */
function measure(row) {
  const lane = /** @type {HTMLElement} */ (row.children[1]);
  return { left: lane.offsetLeft, width: lane.offsetWidth, row: row.offsetHeight };
}

/** The upper edge of each row: below the last kept one there is room for what it says.
 * @param {number} lastKept @param {number} count @param {number} height @returns {(index: number) => number} */
function topsOf(lastKept, count, height) {
  const gap = lastKept >= 0 && lastKept < count - 1 ? ROOM_AT_CUT : 0;
  return (index) => index * height + (index > lastKept ? gap : 0);
}
