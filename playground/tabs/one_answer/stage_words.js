// What the card of a stage says: its setting, how many tokens it left, and what it did to them or why it did nothing.
// A context is { stage, before, run, params, step }; `before` is the stage before, or what there was at the beginning.

import { about, count, percent } from "../../page/js/numbers.js";
import { isEstimate, keptTold, massTold, probTold } from "../../page/js/reread.js";
import { isOn, notOff, ruleOf, valueUnder } from "../../page/js/stage_table.js";
import * as words from "../../page/js/words.js";

/**
 * @typedef {import("../../page/js/types.js").Stage & { probs: Float64Array }} Stage
 * @typedef {import("../../page/js/types.js").Params} Params
 * @typedef {import("../../page/js/types.js").Run} Run
 * @typedef {import("../../page/js/types.js").StepReread} StepReread
 * @typedef {{ stage: Stage, before: Stage, run: Run, params: Params, step: number }} Context
 * @typedef {{ setting: string, big: string, small: string, why: string }} CardWords
 */

/** @param {string} name  of a stage, "pass", "model" or "sample" */
export function nameOf(name) {
  return words.say(`page.stage.${name}`);
}

/** @param {string} rule */
export function ruleName(rule) {
  return words.say(`one_answer.rule_name.${rule}`);
}

/** What the model reads for this step. @param {Run} run @param {number} step @returns {CardWords & { cached: number, fed: number }} */
export function passWords({ promptLength, numFed }, step) {
  const fed = numFed[step];
  const cached = promptLength + step - fed;
  return {
    cached,
    fed,
    setting: words.say("one_answer.stage.step", { step }),
    big: count(fed),
    small: words.say("one_answer.stage.read", { count: fed }),
    why: cached > 0 ? words.say("one_answer.why.pass", { cached }) : words.say("one_answer.why.pass_whole"),
  };
}

/** What the model gave, before any stage. @param {Stage} uncut @param {Run} run @returns {CardWords} */
export function modelWords(uncut, { vocabSize }) {
  const impossible = vocabSize - uncut.numKept;
  return {
    setting: words.say("one_answer.stage.softmax"),
    ...keptWords(uncut),
    why: impossible
      ? words.say("one_answer.why.impossible", { count: impossible, all: vocabSize })
      : words.say("one_answer.why.all_possible"),
  };
}

/** @param {Context} context @returns {CardWords} */
export function stageWords(context) {
  const { stage, params } = context;
  return { setting: settingOf(stage.name, params), ...keptWords(stage), why: reason(context) };
}

/** The token that the random number picks now, and whether the run has it. @param {StepReread} now @param {Run} run @returns {CardWords} */
export function sampleWords(now, run) {
  const token = run.labels[now.step];
  const key = run.forced.has(now.step)
    ? "sample_forced"
    : now.sampledPlace !== now.chosenPlace
      ? "sample_changed"
      : now.numCandidates === 1
        ? "sample_one"
        : "sample";
  return {
    setting: words.say("one_answer.stage.uniform", { uniform: now.uniform }),
    big: run.vocabulary[now.ranking[now.sampledPlace]],
    small: percent(probTold(now, now.sampledPlace)),
    why: words.say(`one_answer.why.${key}`, { token }),
  };
}

/** @param {Stage} stage */
function keptWords(stage) {
  const small =
    stage.keptMass < 1
      ? words.say("one_answer.stage.kept", { mass: massTold(stage) })
      : words.say("one_answer.stage.tokens", { count: keptTold(stage) });
  return { big: count(keptTold(stage)), small };
}

/** @param {string} name @param {Params} params */
function settingOf(name, params) {
  if (name === "temperature") return count(params.temperature);
  const on = notOff(name, params).map((setting) => {
    const value = valueUnder(params, setting);
    return name === "penalty" ? words.say(`one_answer.stage.${setting.field}`, { value }) : count(value);
  });
  return on.join(", ") || words.say("one_answer.stage.off");
}

/** @param {Context} context */
function reason(context) {
  const { stage, before, params } = context;
  const { key, ...facts } = reasonOf(stage.name, before, params) ?? REASONS[stage.name](context);
  return words.say(`one_answer.why.${key}`, facts);
}

/** Why a stage that could cut does nothing, if it is for no reason of its own. @param {string} name @param {Stage} before @param {Params} params */
function reasonOf(name, before, params) {
  if (name === "temperature") return null;
  if (!isOn(name, params)) return { key: "off" };
  if (name === "penalty") return null;
  if (params.temperature === 0) return { key: before.numKept === 1 ? "greedy_left_one" : "greedy" };
  return before.numKept === 1 ? { key: "one_left" } : null;
}

/** The text and its facts, for a stage that is on. @type {Record<string, (context: Context) => { key: string, [fact: string]: any }>} */
const REASONS = {
  temperature({ stage, before, params: { temperature } }) {
    if (temperature === 0) return { key: "temperature_greedy" };
    if (temperature === 1) return { key: "temperature_idle" };
    if (before.numKept === 1) return { key: "one_left" };
    const [was, is] = [topTold(before), topTold(stage)];
    return { key: temperature < 1 ? "sharper" : "flatter", was, is };
  },
  penalty({ params, run, step }) {
    const counted = params.penalty_counts_prompt ?? true;
    const seen = new Set([...(counted ? run.promptIds : []), ...run.tokenIds.slice(0, step)]).size;
    return { key: seen === 0 ? "penalty_idle" : counted ? "penalty_prompt" : "penalty", seen };
  },
  "top-k"({ stage, before, params: { top_k: k } }) {
    if (!stage.cuts) return { key: "top_k_idle", before: keptTold(before) };
    const ties = stage.numKept - k;
    return ties > 0 ? { key: "top_k_ties", k, ties } : { key: "top_k", k };
  },
  "top-p"({ stage, before, params }) {
    const p = params.top_p;
    if (!stage.cuts) return { key: "all_needed", before: keptTold(before), p };
    if (stage.numKept === 1) return { key: "top_p_one", share: topTold(before) };
    return { key: ruleOf(params).past_p ? "top_p_past" : "top_p", p };
  },
  "min-p"({ stage, before, params: { min_p } }) {
    return { key: stage.cuts ? "min_p" : "min_p_idle", min_p, least: topTold(before, min_p) };
  },
  "typical-p"({ stage, before, params: { typical_p: p } }) {
    if (!stage.cuts) return { key: "all_needed", before: keptTold(before), p };
    return {
      key: "typical_p",
      nats: about(entropyOf(before.probs), isEstimate(before.error)),
      dropped: stage.start - before.start,
    };
  },
  "top-n-sigma"({ stage, params: { top_n_sigma: n } }) {
    return { key: stage.cuts ? "top_n_sigma" : "top_n_sigma_idle", n };
  },
};

/** The probability of the most likely token after a stage, times a factor, as it is said. @param {Context["before"]} stage @param {number} factor */
function topTold({ probs, start, error }, factor = 1) {
  return about(factor * probs[start], isEstimate(error));
}

/** In nats. @param {Float64Array} probs */
function entropyOf(probs) {
  return -probs.reduce((sum, prob) => (prob > 0 ? sum + prob * Math.log(prob) : sum), 0);
}
