// What a result was made with, in one line: without it a number can't be made again.

import { settingsOf, valueUnder } from "./stage_table.js";
import * as words from "./words.js";

/**
 * @param {{ model: string, prompt: string, system?: string, params: Record<string, any> }} made
 * @param {string | null} except  a setting that was varied
 */
export function conditionsOf({ model, prompt, system, params }, except = null) {
  const settings = [systemWords(system), settingsWords(params, except)].filter(Boolean).join(", ");
  return words.say("page.conditions.line", { model, prompt: cut(prompt), settings });
}

/** @param {string | undefined} system */
export const systemWords = (system) => (system ? words.say("page.conditions.system", { system: cut(system) }) : "");

/** The settings that do something, the seed, and whose order it is. @param {Record<string, any>} params @param {string | null} except */
function settingsWords(params, except) {
  const on = settingsOf()
    .filter(({ field }) => field !== except)
    .filter((setting) => setting.field === "temperature" || valueUnder(params, setting) !== setting.off);
  const said = on.map((setting) =>
    words.say("page.conditions.setting", {
      name: words.say(`page.controls.label.${setting.field}`),
      value: valueUnder(params, setting),
    }),
  );
  const seed = words.say("page.conditions.seed", { seed: params.seed });
  return [...said, seed, words.say("page.conditions.rule", { rule: params.rule })].join(", ");
}

/**
 * Whether something was made as the request says. What either does not mention makes no difference.
 * @typedef {import("./types.js").AnswersRequest} AnswersRequest
 * @param {AnswersRequest | null} made
 * @param {AnswersRequest | null} request
 */
export function isFor(made, request) {
  if (!made || !request || made.model !== request.model || made.prompt !== request.prompt) return false;
  const { params, system, history } = request;
  if ((made.system ?? system) !== system) return false;
  if (JSON.stringify(made.history ?? []) !== JSON.stringify(history ?? [])) return false;
  return Object.entries(made.params).every(([name, value]) => params[name] === undefined || params[name] === value);
}

/** @param {string} prompt */
function cut(prompt) {
  return prompt.length <= 60 ? prompt : `${prompt.slice(0, 59)}…`;
}
