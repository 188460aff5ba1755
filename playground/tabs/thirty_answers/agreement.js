// Predicted and observed: a Plotly picture, the sentence that sums it up, and the numbers as CSV.

import { node, pool, say } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { plotCard } from "./plot_card.js";
import { barRequest } from "./request.js";
import { textOf } from "./texts.js";

const NARROW = 560; // pixels

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  element.classList.add("answers-agreement");
  const { update, draw } = plotCard(element, api, {
    csvHint: words.say("thirty_answers.agreement.csv_hint"),
    file: "predicted_and_observed.csv",
    csvOf: (/** @type {any} */ value) => value.csv,
    figureOf(/** @type {any} */ value) {
      const isNarrow = element.clientWidth < NARROW;
      names.hidden = !isNarrow;
      const lines = pool(names, value.answers.length, () => node("li"));
      value.answers.forEach((/** @type {string} */ text, /** @type {number} */ place) => {
        say(lines[place], textOf(text));
      });
      return isNarrow ? withAxes(value.figure, value.narrow) : value.figure;
    },
    questionOf: barRequest,
  });
  const names = node("ol.answers-names", {}, element); // where the window is too narrow for labels on the axis
  return { reads: ["params", "bar", "dark"], update, draw };
}

/** @param {any} figure @param {Record<"xaxis" | "yaxis", object>} axes  what differs */
function withAxes(figure, { xaxis, yaxis }) {
  const { layout } = figure;
  const changed = { xaxis: { ...layout.xaxis, ...xaxis }, yaxis: { ...layout.yaxis, ...yaxis } };
  return { ...figure, layout: { ...layout, ...changed } };
}
