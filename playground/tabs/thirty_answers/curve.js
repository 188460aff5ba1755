// How the number of different answers follows a slider: a Plotly curve, the slider as a line on it, its table as CSV.

import { linearScale, logScale } from "../../page/js/axis.js";
import { chips } from "../../page/js/chips.js";
import { node } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { plotCard } from "./plot_card.js";
import { barRequest } from "./request.js";

/** @typedef {{ values: number[], places: number[], knob: string }} Marks  of the axis */

const KNOBS = ["temperature", "top_p", "top_k"];

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
  const { store } = api;
  const head = headOf(element, store);
  if (store.get().second === null) store.set({ second: words.say("thirty_answers.fact") });
  const by = () => store.get().compareBy;
  const card = plotCard(element, api, {
    csvHint: words.say("thirty_answers.curve.csv_hint"),
    file: "different_answers.csv",
    csvOf: (/** @type {any} */ value) => value.views[by()].csv,
    figureOf: (/** @type {any} */ value, state) =>
      withSlider(value.views[by()].figure, value, state.params?.[value.knob]),
    questionOf(state) {
      const request = barRequest(state);
      return request && { ...request, knob: state.knob, second: state.second ?? "" };
    },
    except: ({ knob }) => knob, // its own slider only moves the mark
  });
  return {
    reads: ["params", "bar", "compareBy", "dark", "knob", "second"],
    update: card.update,
    draw(state) {
      head.draw(state);
      card.draw(state);
    },
  };
}

/** Which slider, and a second prompt. @param {Element} element @param {import("../../page/js/types.js").Store} store */
function headOf(element, store) {
  const head = node("div.answers-curve-bar", {}, element);
  const about = words.say("thirty_answers.curve.knob");
  const choice = node("div.choice", {}, head);
  node("span.note", {}, choice, about);
  const knobs = chips(choice, about, (place) => store.set({ knob: KNOBS[place] }));
  const label = node("label.answers-second", {}, head);
  node("span.note", {}, label, words.say("thirty_answers.curve.second"));
  const second = node("input", { type: "text", id: "answers-second" }, label);
  second.addEventListener("change", () => store.set({ second: second.value }));
  return {
    /** @param {import("../../page/js/types.js").State} state */
    draw({ knob, second: prompt }) {
      const names = KNOBS.map((each) => words.say(`thirty_answers.knob.${each}`));
      knobs.draw(names, KNOBS.indexOf(knob));
      if (document.activeElement !== second) second.value = prompt ?? "";
    },
  };
}

/** The figure with a line where the slider is. @param {any} figure @param {Marks} marks @param {number | undefined} value */
function withSlider(figure, marks, value) {
  const changed = structuredClone(figure);
  if (value === undefined) return changed;
  const x = placeOf(value, marks);
  const line = { color: "var(--ink)", width: 3, dash: "dot" };
  changed.layout.shapes = [{ type: "line", x0: x, x1: x, yref: "paper", y0: 0, y1: 1, line }];
  return changed;
}
