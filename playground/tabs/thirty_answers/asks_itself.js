// A picture that nobody has to ask for: in sight, and with the hand at rest, it asks Python for what the page now says.

import { nextNumber, statusFollower } from "../../page/js/jobs.js";
import { node } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

const REST_MS = 600; // without a slider moved or a letter typed

/**
 * The lines in which it says how it stands, and what it needs to ask.
 * @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api
 */
export function asksItself(element, api) {
  const status = node("p.note", { role: "status" }, element);
  const problem = node("p.answers-problem", { role: "alert" }, element);
  const again = node("button.small-button", { type: "button", hidden: "" }, element, words.say("thirty_answers.again"));
  const jobs = statusFollower(status, { problem, running: words.say("thirty_answers.sampling") });
  /** What the page says, what was asked for last, and what is shown. */
  const keys = { now: "", asked: "", shown: "" };
  /** @type {Record<string, any>} */
  let wanted = {};
  let timer = 0;

  function ask() {
    const number = nextNumber();
    jobs.expect(number);
    again.hidden = true;
    keys.asked = keys.now;
    api.setValue({ ...wanted, number });
    api.trigger("asked");
  }
  again.addEventListener("click", ask);

  return {
    status,
    /** Whether what is shown is what the page says; if not, it is asked for. @param {Record<string, any>} question
     * @param {string | null} except  a setting that makes no difference */
    want(question, except = null) {
      wanted = question;
      const { params, ...rest } = question;
      const key = JSON.stringify([rest, Object.entries(params ?? {}).filter(([name]) => name !== except)]);
      if (key !== keys.now) {
        keys.now = key;
        clearTimeout(timer);
        // Also where something else is on its way, which would take the place of what is shown.
        if (key !== keys.shown || keys.asked !== keys.shown) timer = window.setTimeout(ask, REST_MS);
      }
      return key === keys.shown;
    },
    /** Whether a value holds something to show. @param {any} given */
    hear(given) {
      if (!given?.job || !jobs.hear(given)) return false;
      again.hidden = given.job.gave_way || !["stopped", "failed"].includes(given.job.state);
      if (given.job.gave_way) keys.now = keys.asked = ""; // seen again, it asks again
      const { job: _job, ...more } = given;
      if (!Object.keys(more).length) return false;
      keys.shown = keys.asked;
      return true;
    },
  };
}
