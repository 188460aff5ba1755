// What each stage leaves of the ranking: the second telling of playground/engine/stages.py and ranking.py.
//
// A stage keeps a stretch of the ranking, the places from `start` up to `stop`. With running sums over it, finding the
// ends of a stretch is a binary search. A new sampler is one function in KEEP.
//
// Where the tail came in bins, a stage is asked three times: with the sums as they are estimated, and with those that keep
// the fewest and the most. `stop` is exact where the two agree.

import { isOn, ruleOf, settingsOf, valueUnder } from "./stage_table.js";
import { firstPlace } from "./weights.js";

/**
 * @typedef {import("./types.js").Stage} Stage
 * @typedef {import("./types.js").Params} Params
 * @typedef {import("./weights.js").StepScores} StepScores
 * @typedef {ReturnType<StepScores["weights"]>} Weights
 */

// Sums within this of p count as p, as in stages.py.
const BOUNDARY = 1e-6;

/** What is left before a stage. With a `bound` below 0 it is seen so that the fewest stay, above 0 so that the most do. */
class Left {
  /** @param {StepScores} step @param {Stage} before @param {number} bound */
  constructor(step, before, bound) {
    this.step = step;
    this.weights = step.weights(before.temperature, before.base);
    this.temperature = before.temperature;
    this.start = bound === 0 ? before.start : before.starts[bound < 0 ? 1 : 0];
    this.stop = bound === 0 ? before.stop : bound < 0 ? before.least : before.most;
    this.before = before;
    this.bound = bound;
  }

  /** Of all that is left. */
  get mass() {
    const { weights, start, stop, bound } = this;
    return weights.mass(start, this.wholeBin(stop)) + bound * weights.slackAt(stop);
  }

  /** Where in a bin a sum is reached can't be told: so it is the bin's beginning, or its end. @param {number} place */
  wholeBin(place) {
    const { bound } = this;
    const { tail } = this.step;
    if (!tail || bound === 0) return place;
    return bound < 0 ? tail.floor(place) : tail.ceil(place);
  }

  /** From the first place up to one. @param {number} place */
  massTo(place) {
    const { weights, start, bound } = this;
    return weights.mass(start, place) - bound * weights.slackAt(place);
  }

  /** @param {number} place */
  score(place) {
    return this.step.score(place, this.bound);
  }
}

/**
 * Each takes what is left, the value of its setting and the rule, and gives [start, stop]. Where that is empty, the most
 * likely token that was left stays.
 * @type {Record<string, (left: Left, value: number, rule: import("./stage_table.js").Rule) => [number, number]>}
 */
const KEEP = {
  "top-k"(left, k, { keep_ties }) {
    const { step, start, stop, bound } = left;
    let end = Math.min(stop, start + k);
    if (bound < 0 && end >= step.head) return [start, end]; // ties in a bin can't be seen
    while (keep_ties && end < stop && left.score(end) === left.score(end - 1)) end++;
    return [start, end];
  },
  /** The smallest set of most likely tokens whose probability reaches p: a token stays if the sum before it is below p. */
  "top-p"(left, p, { past_p }) {
    const { start, stop } = left;
    const limit = (p + (past_p ? BOUNDARY : -BOUNDARY)) * left.mass;
    const end = firstPlace(start, stop, (place) => left.massTo(place) >= limit);
    return [start, Math.min(stop, left.wholeBin(end))];
  },
  /** At least min_p times as likely as the most likely token. */
  "min-p"(left, min_p) {
    const { start, stop, temperature } = left;
    if (min_p <= BOUNDARY) return [start, stop];
    const lowest = left.score(start) + Math.log(min_p - BOUNDARY) * temperature;
    return [start, firstPlace(start, stop, (place) => left.score(place) < lowest)];
  },
  /** Tokens whose surprise is nearest to the entropy, until their probability reaches p: maybe not the most likely. */
  "typical-p"(left, p) {
    const { step, weights, start, stop, bound, before } = left;
    // Surprise less entropy is the mean exponent less the exponent: log(mass) falls out.
    const limit = (p - BOUNDARY) * left.mass;
    if (bound === 0) return typicalStretch(left, weights.mean(start, stop), limit);
    // Both ends of the stretch go down with the mean, and the mean goes down with the end of what is left.
    const high = weights.mean(start, before.least) + weights.meanError(start, before.least);
    const low = weights.mean(start, before.most) - weights.meanError(start, before.most);
    if (low < weights.exponent(step.head)) return [bound < 0 ? stop - 1 : start, stop]; // it may lie in a bin: all is open
    const [first] = typicalStretch(left, bound < 0 ? low : high, limit);
    const [, end] = typicalStretch(left, bound < 0 ? high : low, limit);
    return [first, end];
  },
  /** Logits at most n standard deviations of all logits below the largest. */
  "top-n-sigma"(left, n) {
    const { step, start, stop, bound } = left;
    const lowest = -n * (step.spread + (step.tail ? bound * BOUNDARY : 0)) - BOUNDARY;
    return [start, firstPlace(start, stop, (place) => left.score(place) < lowest)];
  },
};

/** @param {Left} left @param {number} mean  exponent @param {number} limit @returns {[number, number]} */
function typicalStretch({ weights, start, stop, bound }, mean, limit) {
  // The fewest stay where tokens of the tail are as near as they may be, so that the limit is soon reached, but where no
  // more of them are within it than must be.
  /** @param {number} place */
  const distance = (place) => Math.abs(weights.exponent(place, -bound) - mean);
  const middle = firstPlace(start, stop, (place) => weights.exponent(place) <= mean);
  /** @param {number} radius @param {number} [side] @returns {[number, number]} */
  const within = (radius, side = -bound) => [
    firstPlace(start, middle, (place) => distance(place) <= radius),
    firstPlace(middle, stop, (place) => Math.abs(weights.exponent(place, side) - mean) > radius),
  ];
  /** @param {number} radius */
  const reaches = (radius) => {
    const [first, end] = within(radius);
    return weights.mass(first, end) - bound * weights.slackAt(end) >= limit;
  };
  // The nearest token on either side that takes in enough.
  const above = firstPlace(start, middle, (place) => !reaches(distance(place))) - 1;
  const below = firstPlace(middle, stop, (place) => reaches(distance(place)));
  const radius = Math.min(above < start ? Infinity : distance(above), below === stop ? Infinity : distance(below));
  return within(radius + BOUNDARY, bound);
}

/** What there is before the first stage: tokens with a probability above 0. @param {StepScores} step @returns {Stage} */
export function uncut(step) {
  const weights = step.weights(1, 0);
  const stop = weights.possible;
  const kept = { start: 0, stop, numKept: stop, keptMass: 1, keptError: 0, cuts: false, temperature: 1, base: 0 };
  const stage = { name: "model", ...kept, ...startAt(0), ...possible(weights, step), error: 0 };
  return { ...stage, error: errorOf(weights, stage) };
}

/**
 * The stages in the order of the rule: { name, start, stop, numKept, keptMass, cuts, temperature, base } and how sure
 * these are. keptMass is the part of the probability before the stage that it kept, and keptError how far that may be
 * off; base is the place from which exponents count.
 * @param {StepScores} step @param {Params} params @returns {Stage[]}
 */
export function stagesOf(step, params) {
  const stages = [];
  let before = uncut(step);
  for (const name of ruleOf(params).order) {
    const change = changed(name, before, step, params);
    const stage = { ...before, ...change, name, keptMass: 1, keptError: 0 };
    stage.numKept = stage.stop - stage.start;
    stage.cuts = stage.numKept < before.numKept;
    const weights = step.weights(stage.temperature, stage.base);
    if (stage.cuts) stage.keptMass = weights.mass(stage.start, stage.stop) / weights.mass(before.start, before.stop);
    if (change) stage.error = errorOf(weights, stage);
    if (stage.cuts) stage.keptError = before.error + stage.error;
    stages.push(stage);
    before = stage;
  }
  return stages;
}

/** Whether the stretch that a stage leaves is right. @param {Stage} stage */
export function isExact({ least, most, starts }) {
  return least === most && starts[0] === starts[1];
}

/** @param {number} start @returns {{ start: number, starts: [number, number] }} */
const startAt = (start) => ({ start, starts: [start, start] });

/** How far probabilities after a stage may be off, as a part of themselves. @param {Weights} weights @param {Stage} stage */
function errorOf(weights, stage) {
  const { start, stop, least, most, starts } = stage;
  if (isExact(stage) && weights.slackAt(stop) === 0) return 0;
  const { tail } = weights;
  const mass = weights.mass(start, stop);
  const low = weights.mass(starts[1], tail?.floor(least) ?? least) - weights.slackAt(least);
  const high = weights.mass(starts[0], tail?.ceil(most) ?? most) + weights.slackAt(most);
  return low > 0 ? Math.max(high - mass, mass - low) / low : Infinity;
}

/** @param {Weights} weights @param {StepScores} step */
function possible(weights, { tail, head }) {
  const stop = weights.possible;
  if (!tail || stop < head) return { least: stop, most: stop };
  return { least: weights.possibleUnder(-1), most: weights.possibleUnder(1) };
}

/** What one stage makes otherwise than the one before it; null: nothing.
 * @param {string} name @param {Stage} before @param {StepScores} step @param {Params} params @returns {Partial<Stage> | null} */
function changed(name, before, step, params) {
  const greedy = params.temperature === 0;
  if (name === "temperature" && greedy) return { ...startAt(0), stop: 1, least: 1, most: 1 }; // the first, whatever the others say
  if (name === "temperature") {
    const temperature = params.temperature ?? 1;
    const base = before.starts[0]; // no exponent that may be left is above 0
    const weights = step.weights(temperature, base);
    const { least, most } = possible(weights, step);
    return {
      stop: Math.min(before.stop, weights.possible),
      least: Math.min(before.least, least),
      most: Math.min(before.most, most),
      temperature,
      base,
    };
  }
  if (greedy || !KEEP[name] || !isOn(name, params)) return null;
  const keep = (/** @type {number} */ bound) => {
    const left = new Left(step, before, bound);
    const [start, stop] = KEEP[name](left, valueUnder(params, settingsOf(name)[0]), ruleOf(params));
    return stop > start ? { start, stop } : { start: left.start, stop: left.start + 1 };
  };
  const kept = keep(0);
  const isWhole = isExact(before) && before.stop <= step.head; // the tail is gone, or there is none
  if (!step.tail || isWhole) return { ...startAt(kept.start), stop: kept.stop, least: kept.stop, most: kept.stop };
  const [fewest, most] = [keep(-1), keep(1)];
  return {
    ...kept,
    starts: [Math.min(most.start, kept.start), Math.max(fewest.start, kept.start)],
    least: Math.min(fewest.stop, kept.stop),
    most: Math.max(most.stop, kept.stop),
  };
}
