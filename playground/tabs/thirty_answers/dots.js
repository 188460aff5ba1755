// On the first tab: the answers to the prompt of the run on the screen, as dots, and what they say most often.

import { jobWords } from "../../page/js/jobs.js";
import { node, say } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { want } from "./asking.js";
import { drawDots } from "./dot_grid.js";
import { isFor, requestFor } from "./request.js";
import { textOf } from "./texts.js";

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const row = node("div.dots-row", {}, element);
  const number = node("div.key-number", {}, row, "–");
  const grid = node("div.dots", {}, row);
  const { count } = api.props.value;
  const invitation = words.say("thirty_answers.dots.invitation", { count });
  const about = node("p.note.dots-words", { role: "status" }, element, invitation);

  /** @param {Record<string, any>} value */
  function show({ views }) {
    const { rows } = views.tokens;
    say(number, String(rows.length));
    drawDots(grid, views.tokens, (_row, place) => rows[place].text);
    const facts = { text: textOf(rows[0].text), times: rows[0].count };
    say(about, words.say("thirty_answers.dots.most_often", facts));
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
      if (failed) say(about, problem);
      else if (isHere && value) show(value);
      else if (job?.state === "queued") say(about, jobWords(job));
    },
  };
}
