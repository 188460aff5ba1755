// On the first tab: the answers to the prompt of the run on the screen, as dots, and the list of what they say.

import { jobWords } from "../../page/js/jobs.js";
import { node, pool, say } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { want } from "./asking.js";
import { drawDots } from "./dot_grid.js";
import { isFor, requestFor } from "./request.js";
import { textOf, times } from "./texts.js";

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const row = node("div.dots-row", {}, element);
  const number = node("div.key-number", {}, row, "–");
  const grid = node("div.dots", {}, row);
  const { count } = api.props.value;
  const about = node(
    "p.dots-words",
    { role: "status" },
    element,
    words.say("thirty_answers.dots.invitation", { count }),
  );
  const waits = node("p.note", { role: "status" }, element);
  const list = node("ol.answer-list", { tabindex: 0, "aria-label": words.say("thirty_answers.dots.list") }, element);

  /** @param {Record<string, any>} value */
  function show({ views, max_new_tokens: tokens }) {
    const { groups, rows } = views.tokens;
    say(number, String(rows.length));
    drawDots(grid, views.tokens, (_row, place) => rows[place].text);
    say(about, words.say("thirty_answers.dots.distinct", { count: groups.length, tokens }));
    const lines = pool(list, rows.length, makeLine);
    rows.forEach((/** @type {any} */ { text, count }, /** @type {number} */ place) => {
      say(lines[place].children[0], times(count));
      say(lines[place].children[1], textOf(text));
    });
  }

  return {
    reads: ["run", "params", "answers"],
    draw({ run, params, answers: { asked, job, problem, value } }) {
      const request = run?.logits ? requestFor(run, params) : null;
      if (!request) return;
      want(request);
      const isHere = isFor(value, request);
      const failed = problem !== null && isFor(asked, request);
      element.classList.toggle("is-stale", !isHere && !failed);
      say(waits, job?.state === "queued" ? jobWords(job) : "");
      if (failed) say(about, problem);
      else if (isHere && value) show(value);
    },
  };
}

function makeLine() {
  const item = node("li");
  node("b", {}, item);
  node("span", {}, item);
  return item;
}
