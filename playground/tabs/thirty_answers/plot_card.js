// A Plotly picture that a button asks for: a line that says how it stands, the picture, and its numbers as CSV.

import { download } from "../../page/js/download.js";
import { statusFollower } from "../../page/js/jobs.js";
import { mount as mountPlot } from "../../page/js/plot.js";
import { node, say } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/**
 * Calls `update` and `draw` of the panel that it is in, `draw` only when there is something to show.
 * @template {import("../../page/js/types.js").AnswersRequest & { words: import("../../page/js/words.js").Told }} Value
 * @param {HTMLElement} element
 * @param {import("../../page/js/types.js").PanelApi} api
 * @param {object} card
 * @param {string} card.button  selector of the button that asks
 * @param {string} card.invitation  what the line says before there is a picture
 * @param {string} card.stale  and when it no longer is what the page asks for
 * @param {string} card.csvHint
 * @param {string} card.file  name of the CSV
 * @param {(value: Value) => string} card.csvOf
 * @param {(value: Value, state: import("../../page/js/types.js").State) => { figure: any, isStale: boolean }} card.pictureOf
 */
export function plotCard(element, api, { button, invitation, stale, csvHint, file, csvOf, pictureOf }) {
  const status = node("p.note", { role: "status" }, element, invitation);
  const problem = node("p.answers-problem", { role: "alert" }, element);
  const inner = node("div", {}, element);
  const plot = mountPlot(inner);
  const buttons = inner.querySelector(".plot-buttons");
  const save = node(
    "button.small-button",
    { type: "button", title: csvHint },
    buttons,
    words.say("thirty_answers.csv"),
  );
  const running = words.say("thirty_answers.sampling");
  const jobs = statusFollower(status, { problem, buttons: [button], running });
  /** @type {Value | null} */
  let value = null;
  plot.update(null);
  save.addEventListener("click", () => {
    if (value) download(csvOf(value), file);
  });

  /** @param {import("../../page/js/types.js").State} state */
  function draw(state) {
    if (!value || !element.clientWidth) return;
    const { figure, isStale } = pictureOf(value, state);
    plot.update(figure);
    element.classList.toggle("is-stale", isStale);
    say(status, isStale ? stale : words.say(value.words));
  }

  return {
    /** @param {any} given */
    update(given) {
      if (!jobs.hear(given) || !given?.words) return;
      value = given;
      draw(api.store.get());
    },
    draw,
  };
}
