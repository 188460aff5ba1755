// What the model is asked to answer many times, and whether what was sampled still is that.

export { isFor } from "../../page/js/conditions.js";

import { settingsOf } from "../../page/js/stage_table.js";

/**
 * @typedef {import("../../page/js/types.js").AnswersRequest} AnswersRequest
 * @typedef {import("../../page/js/types.js").State} State
 */

/** Null until everything is known. @param {Omit<AnswersRequest, "params"> | null} about @param {State["params"]} params
 * @returns {AnswersRequest | null} */
export function requestFor(about, params) {
  if (!about || !params) return null;
  const fields = [...settingsOf().map(({ field }) => field), "seed", "penalty_counts_prompt", "rule"];
  const { model, prompt, system, history } = about;
  return { model, prompt, system, history, params: Object.fromEntries(fields.map((field) => [field, params[field]])) };
}

/** What the tab asks for: what is in the bar, by itself, under the sliders. @param {State} state */
export const barRequest = ({ bar, params }) =>
  requestFor(bar && { ...bar, system: params?.system ?? "", history: [] }, params);
