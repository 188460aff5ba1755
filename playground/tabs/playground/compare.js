// The same answer with the cache and without: what each computes, and, once both have been run, whether they agree.

import { announce } from "../../page/js/announce.js";
import { verdict } from "../../page/js/comparison.js";
import { follower, isUnderWay, jobWords } from "../../page/js/jobs.js";
import { node, say } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { drawWork, fedWithoutCache } from "../cache_on_off/work_picture.js";
import { miniPicture } from "./mini.js";

/** @typedef {import("../../page/js/types.js").Comparison} Comparison */

const SMALLEST = 40; // pixels of the picture's height

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const { picture, fill } = miniPicture(element, {}, SMALLEST, () => draw(api.store.get()));
  const outcome = node("p.verdict", { role: "status" }, element);
  /** @type {import("../../page/js/jobs.js").Job | null} */
  let job = null;
  /** @type {Comparison | null} what the job has brought */
  let made = null;
  const jobs = follower({
    buttons: ["#compare"],
    tell: (told) => {
      job = told;
      draw(api.store.get());
    },
  });

  /** @type {import("../../page/js/types.js").Listener} */
  function draw({ run, step, comparison }) {
    picture.toggleAttribute("hidden", !run);
    if (!run) return;
    const { promptLength, numFed, numSteps } = run;
    const work = { promptLength, fedWith: numFed, fedWithout: fedWithoutCache(promptLength, numSteps), step };
    drawWork(picture, work, fill());
    const said = isUnderWay(job) ? jobWords(job, words.say("playground.compare.running")) : "";
    const failed = job?.state === "failed" ? jobWords(job) : "";
    say(outcome, said || failed || (comparison && isOf(comparison, run) ? outcomeOf(comparison) : ""));
  }

  return {
    update(given) {
      if (!jobs.hear(given)) return;
      if (given?.sides) made = given;
      if (job?.state === "done" && made?.result) {
        api.store.set({ comparison: made });
        announce(outcomeOf(made));
      }
    },
    reads: ["run", "step", "comparison"],
    draw,
  };
}

/** Whether two runs were of the answer on the screen. @param {Comparison} comparison @param {import("../../page/js/types.js").Run} run */
function isOf({ model, prompt, sides }, run) {
  const ids = sides.on.token_ids;
  return model === run.model && prompt === run.prompt && ids.join() === run.tokenIds.join();
}

/** @param {Comparison} comparison */
function outcomeOf({ result }) {
  if (!result) return "";
  const { equal, new_tokens: count, token_ratio: ratio } = result;
  return equal ? words.say("playground.compare.same", { count, ratio }) : verdict(result);
}
