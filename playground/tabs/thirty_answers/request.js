// What the model is asked to answer many times, and whether what was sampled still is that.

import { settingsOf } from "../../page/js/stage_table.js";

/**
 * @typedef {import("../../page/js/types.js").AnswersRequest} AnswersRequest
 * @typedef {import("../../page/js/types.js").State} State
 */

/** Null until everything is known. @param {{ model: string, prompt: string } | null} about @param {State["params"]} params
 * @returns {AnswersRequest | null} */
export function requestFor(about, params) {
  if (!about || !params) return null;
  const fields = [...settingsOf().map(({ field }) => field), "seed", "penalty_counts_prompt", "rule"];
  const { model, prompt } = about;
  return { model, prompt, params: Object.fromEntries(fields.map((field) => [field, params[field]])) };
}

/** What the tab asks for: what is in the bar, under the sliders. @param {State} state */
export const barRequest = ({ bar, params }) => requestFor(bar, params);

/**
 * Whether something was sampled as the request says. What the sliders don't mention makes no difference.
 * @param {AnswersRequest | null} sampled
 * @param {AnswersRequest | null} request
 * @param {string | null} except  a setting that may differ
 */
export function isFor(sampled, request, except = null) {
  if (!sampled || !request || sampled.model !== request.model || sampled.prompt !== request.prompt) return false;
  const { params } = request;
  return Object.entries(sampled.params).every(
    ([name, value]) => name === except || params[name] === undefined || params[name] === value,
  );
}
