// What a run can be written again from: a few words and numbers, short enough for an address.

import { reread } from "./reread.js";

/**
 * Null until the run is complete. `forced` names the tokens that the settings alone would not give: those that a person
 * chose, and the beginning of a branch where the sliders have moved since.
 * @param {import("./types.js").Run | null} run
 * @returns {import("./types.js").Recipe | null}
 */
export function recipeOf(run) {
  if (!run?.logits) return null;
  const { model, prompt, system, history, params, maxNewTokens } = run;
  const { chosenIds } = reread(run, params);
  /** @type {[number, number][]} */
  const tokens = run.tokenIds.map((id, step) => [step, id]);
  const forced = tokens.filter(([step, id]) => run.forced.has(step) || chosenIds[step] !== id);
  return { model, prompt, system, history, params, maxNewTokens, forced };
}
