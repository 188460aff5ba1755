// The one table of stages, settings and rules. It stands in playground/engine/stages.py and comes with the controls.

/**
 * @typedef {{ field: string, off: number, low: number|null, high: number|null, span: [number, number|null],
 *   step: number, whole: boolean }} Setting  `span` is what a slider offers; null: up to the size of the vocabulary
 * @typedef {import("./types.js").Params} Params
 * @typedef {{ order: string[], past_p: boolean, keep_ties: boolean }} Rule
 * @typedef {{ stages: Record<string, Setting[]>, rules: Record<string, Rule> }} Table
 */

/** @type {Table | null} */
let table = null;

/** Takes the table in, before anything is read again under other settings. @param {Table} given */
export function useTable(given) {
  table = given;
}

export function ruleNames() {
  return Object.keys(known().rules);
}

/** @param {Partial<Params>} params @returns {Rule} */
export function ruleOf(params) {
  const { rules } = known();
  const rule = rules[params.rule ?? "transformers"];
  if (!rule) throw new RangeError(`rule must be one of ${Object.keys(rules).join(", ")}, got ${params.rule}`);
  return rule;
}

/** All stages, in no rule's order. */
export function stageNames() {
  return Object.keys(known().stages);
}

/** Of one stage, or of all. @param {string | null} [stage] @returns {Setting[]} */
export function settingsOf(stage = null) {
  const { stages } = known();
  return stage === null ? Object.values(stages).flat() : stages[stage];
}

/** What the sliders say for a setting; what they do not mention is off. @param {Partial<Params>} params @param {Pick<Setting, "field" | "off">} setting */
export function valueUnder(params, { field, off }) {
  return params[field] ?? off;
}

/** The settings of a stage that do something. @param {string} stage @param {Partial<Params>} params */
export function notOff(stage, params) {
  return settingsOf(stage).filter((setting) => valueUnder(params, setting) !== setting.off);
}

/** @param {string} stage @param {Partial<Params>} params */
export function isOn(stage, params) {
  return notOff(stage, params).length > 0;
}

function known() {
  if (!table) throw new Error("the table of stages has not come yet: useTable(table) first");
  return table;
}
