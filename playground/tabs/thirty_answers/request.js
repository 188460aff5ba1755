// What the model is asked to answer many times, and whether what was sampled still is that.

export { isFor } from "../../page/js/conditions.js";

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
