// Asks Python for the thirty answers, for every picture of them: what comes is in the store, with how the asking goes.
// A picture in sight says what it wants, and when the hand has rested that is asked for. This panel shows nothing itself.

import { asker } from "../../page/js/jobs.js";
import { isFor } from "./request.js";

/** @typedef {import("../../page/js/types.js").AnswersRequest} AnswersRequest */

const REST_MS = 300; // without a slider moved or a letter typed

/** @type {AnswersRequest | null} */
let wanted = null;
let timer = 0;
/** Of the mounted panel. @type {(request: AnswersRequest) => void} */
let ask = () => {};
/** @type {() => AnswersRequest | null} */
let askedFor = () => null;

/** What is there, or on its way, is not asked for again. @param {AnswersRequest} request */
export function want(request) {
  if (isFor(wanted, request)) return;
  wanted = request;
  clearTimeout(timer);
  if (!isFor(askedFor(), request)) timer = window.setTimeout(() => ask(request), REST_MS);
}

/** @param {HTMLElement} _element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(_element, { store, ...api }) {
  /** @param {Partial<import("../../page/js/types.js").Answers>} patch */
  const tell = (patch) => store.set({ answers: { ...store.get().answers, ...patch } });
  const question = asker(api, (job) => tell({ job }));
  askedFor = () => store.get().answers.asked;
  ask = async (request) => {
    tell({ asked: request, job: null, problem: null });
    const reply = await question.ask(request);
    if (askedFor() !== request) return; // the newer question is on its way
    if (reply.gaveWay) {
      wanted = null; // who is seen again asks again
      return tell({ asked: null, job: null });
    }
    tell({ job: null, ...(reply.problem ? { problem: reply.problem } : { value: reply }) });
  };
  return { update: question.take };
}
