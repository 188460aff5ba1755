// The curve of distinct answers: a Plotly picture, the present slider as a line on it, and its table as CSV.

import { linearScale, logScale } from "../../page/js/axis.js";
import * as words from "../../page/js/words.js";
import { plotCard } from "./plot_card.js";
import { barRequest, isFor } from "./request.js";

/** @typedef {{ values: number[], places: number[], knob: string }} Marks  of the axis */

/** Where a slider's value is on the axis; between two marks in proportion, top-k by ratios, 0 (off) at the end.
 * @param {number} value @param {Marks} marks */
export function placeOf(value, { values, places, knob }) {
  const byRatios = knob === "top_k";
  if (byRatios && value <= 0) return places[places.length - 1];
  const last = values.length - (byRatios ? 2 : 1); // the last mark of top-k is "off"
  const next = values.findIndex((mark, index) => index > 0 && index <= last && value <= mark);
  if (next < 0) return places[last];
  const scaleOf = byRatios ? logScale : linearScale;
  const place = scaleOf([values[next - 1], values[next]], [places[next - 1], places[next]]);
  return Math.max(place(value), places[0]);
}

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  element.classList.add("answers-curve");
  const by = () => api.store.get().compareBy;
  const { update, draw } = plotCard(element, api, {
    button: "#answers-plot",
    invitation: words.say("thirty_answers.curve.invitation", { count: api.props.value.count }),
    stale: words.say("thirty_answers.curve.stale"),
    csvHint: words.say("thirty_answers.curve.csv_hint"),
    file: "distinct_answers.csv",
    csvOf: (/** @type {any} */ value) => value.views[by()].csv,
    pictureOf: (/** @type {any} */ value, state) => ({
      figure: withSlider(value.views[by()].figure, value, state.params?.[value.knob]),
      isStale: !isFor(value, barRequest(state), value.knob),
    }),
  });
  return { reads: ["params", "bar", "compareBy", "dark"], update, draw };
}

/** The figure with a line where the slider is. @param {any} figure @param {Marks} marks @param {number | undefined} value */
function withSlider(figure, marks, value) {
  const changed = structuredClone(figure);
  if (value === undefined) return changed;
  const x = placeOf(value, marks);
  const line = { color: "var(--accent)", width: 3, dash: "dot" };
  changed.layout.shapes = [{ type: "line", x0: x, x1: x, yref: "paper", y0: 0, y1: 1, line }];
  return changed;
}
