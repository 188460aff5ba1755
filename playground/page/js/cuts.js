// What each stage leaves of the ranking: the second telling of playground/engine/stages.py and ranking.py.
//
// A stage keeps a stretch of the ranking, the places from `start` up to `stop`. With running sums over it, finding the
// ends of a stretch is a binary search. A new sampler is one function in KEEP.

import { isOn, ruleOf, settingsOf, valueUnder } from "./stage_table.js";
import { firstPlace } from "./weights.js";

/**
 * @typedef {import("./types.js").Stage} Stage
 * @typedef {import("./types.js").Params} Params
 * @typedef {import("./weights.js").StepScores} StepScores
 * @typedef {ReturnType<StepScores["weights"]>} Weights
 * @typedef {{ step: StepScores, weights: Weights, start: number, stop: number, temperature: number }} Left
 */

// Sums within this of p count as p, as in stages.py.
const BOUNDARY = 1e-6;

/**
 * Each takes what is left ({ step, weights, start, stop, temperature }), the value of its setting and the rule, and
 * gives [start, stop]. Where that is empty, the most likely token that was left stays.
 * @type {Record<string, (left: Left, value: number, rule: import("./stage_table.js").Rule) => [number, number]>}
 */
const KEEP = {
  "top-k"({ step: { scores }, start, stop }, k, { keep_ties }) {
    let end = Math.min(stop, start + k);
    while (keep_ties && end < stop && scores[end] === scores[end - 1]) end++;
    return [start, end];
  },
  /** The smallest set of most likely tokens whose probability reaches p: a token stays if the sum before it is below p. */
  "top-p"({ weights, start, stop }, p, { past_p }) {
    const limit = (p + (past_p ? BOUNDARY : -BOUNDARY)) * weights.mass(start, stop);
    return [start, firstPlace(start, stop, (place) => weights.mass(start, place) >= limit)];
  },
  /** At least min_p times as likely as the most likely token. */
  "min-p"({ step: { scores }, start, stop, temperature }, min_p) {
    if (min_p <= BOUNDARY) return [start, stop];
    const lowest = scores[start] + Math.log(min_p - BOUNDARY) * temperature;
    return [start, firstPlace(start, stop, (place) => scores[place] < lowest)];
  },
  /** Tokens whose surprise is nearest to the entropy, until their probability reaches p: maybe not the most likely. */
  "typical-p"({ weights, start, stop }, p) {
    // Surprise less entropy is the mean exponent less the exponent: log(mass) falls out.
    const mean = weights.mean(start, stop);
    /** @param {number} place */
    const distance = (place) => Math.abs(weights.exponent(place) - mean);
    const middle = firstPlace(start, stop, (place) => weights.exponent(place) <= mean);
    /** @param {number} radius @returns {[number, number]} */
    const within = (radius) => [
      firstPlace(start, middle, (place) => distance(place) <= radius),
      firstPlace(middle, stop, (place) => distance(place) > radius),
    ];
    const limit = (p - BOUNDARY) * weights.mass(start, stop);
    /** @param {number} radius */
    const reaches = (radius) => weights.mass(...within(radius)) >= limit;
    // The nearest token on either side that takes in enough.
    const above = firstPlace(start, middle, (place) => !reaches(distance(place))) - 1;
    const below = firstPlace(middle, stop, (place) => reaches(distance(place)));
    const radius = Math.min(above < start ? Infinity : distance(above), below === stop ? Infinity : distance(below));
    return within(radius + BOUNDARY);
  },
  /** Logits at most n standard deviations of all logits below the largest. */
  "top-n-sigma"({ step, start, stop }, n) {
    const lowest = -n * step.spread - BOUNDARY;
    return [start, firstPlace(start, stop, (place) => step.scores[place] < lowest)];
  },
};

/** What there is before the first stage: tokens with a probability above 0. @param {StepScores} step @returns {Stage} */
export function uncut(step) {
  const stop = step.weights(1, 0).possible;
  return { name: "model", start: 0, stop, numKept: stop, keptMass: 1, cuts: false, temperature: 1, base: 0 };
}

/**
 * The stages in the order of the rule: { name, start, stop, numKept, keptMass, cuts, temperature, base }. keptMass is
 * the part of the probability before the stage that it kept; base is the place from which exponents count.
 * @param {StepScores} step @param {Params} params @returns {Stage[]}
 */
export function stagesOf(step, params) {
  const stages = [];
  let before = uncut(step);
  for (const name of ruleOf(params).order) {
    const stage = { ...before, ...changed(name, before, step, params), name, keptMass: 1 };
    stage.numKept = stage.stop - stage.start;
    stage.cuts = stage.numKept < before.numKept;
    if (stage.cuts) {
      const weights = step.weights(stage.temperature, stage.base);
      stage.keptMass = weights.mass(stage.start, stage.stop) / weights.mass(before.start, before.stop);
    }
    stages.push(stage);
    before = stage;
  }
  return stages;
}

/** What one stage makes otherwise than the one before it.
 * @param {string} name @param {Stage} before @param {StepScores} step @param {Params} params @returns {Partial<Stage>} */
function changed(name, before, step, params) {
  const greedy = params.temperature === 0;
  const { start, stop } = before;
  if (name === "temperature" && greedy) return { start: 0, stop: 1 }; // the first, whatever the others say
  if (name === "temperature") {
    const temperature = params.temperature ?? 1;
    return { stop: Math.min(stop, step.weights(temperature, start).possible), temperature, base: start };
  }
  if (greedy || !KEEP[name] || !isOn(name, params)) return {};
  const { temperature, base } = before;
  const left = { step, weights: step.weights(temperature, base), start, stop, temperature };
  const [first, end] = KEEP[name](left, valueUnder(params, settingsOf(name)[0]), ruleOf(params));
  return end > first ? { start: first, stop: end } : { stop: start + 1 };
}
