// A Plotly picture that asks for itself: how it stands, what it was sampled with, and its numbers as CSV.

import { conditionsOf } from "../../page/js/conditions.js";
import { download } from "../../page/js/download.js";
import { mount as mountPlot } from "../../page/js/plot.js";
import { node, say } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { asksItself } from "./asks_itself.js";

/**
 * Calls `update` and `draw` of the panel that it is in.
 * @template {import("../../page/js/types.js").AnswersRequest & { words: import("../../page/js/words.js").Told }} Value
 * @param {HTMLElement} element
 * @param {import("../../page/js/types.js").PanelApi} api
 * @param {object} card
 * @param {string} card.csvHint
 * @param {string} card.file  name of the CSV
 * @param {(value: Value) => string} card.csvOf
 * @param {(value: Value, state: import("../../page/js/types.js").State) => any} card.figureOf
 * @param {(state: import("../../page/js/types.js").State) => Record<string, any> | null} card.questionOf
 * @param {(asked: any) => string | null} [card.except]  of a question or a value, the setting that makes no difference
 */
export function plotCard(element, api, { csvHint, file, csvOf, figureOf, questionOf, except = () => null }) {
  const asking = asksItself(element, api);
  const inner = node("div", {}, element);
  const plot = mountPlot(inner);
  const conditions = node("p.note.answers-conditions", {}, element);
  const buttons = inner.querySelector(".plot-buttons");
  const csv = words.say("thirty_answers.csv");
  const save = node("button.small-button", { type: "button", title: csvHint }, buttons, csv);
  /** @type {Value | null} */
  let value = null;
  plot.update(null);
  save.addEventListener("click", () => {
    if (value) download(csvOf(value), file);
  });

  /** @param {import("../../page/js/types.js").State} state */
  function draw(state) {
    const question = questionOf(state);
    const isFresh = question !== null && asking.want(question, except(question));
    element.classList.toggle("is-stale", value !== null && !isFresh);
    if (!value || !element.clientWidth) return;
    plot.update(figureOf(value, state));
    say(asking.status, isFresh ? words.say(value.words) : words.say("thirty_answers.stale"));
    say(conditions, conditionsOf(value, except(value)));
  }

  return {
    /** @param {any} given */
    update(given) {
      if (!asking.hear(given)) return;
      value = given;
      draw(api.store.get());
    },
    draw,
  };
}
