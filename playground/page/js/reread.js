// The sliders' arithmetic in the browser: what other settings make of recorded logits. The model does not run.
//
// The second telling of `Trace.reread` in playground/engine/trace.py, in the same float64 arithmetic: ranking.js has the
// order of the tokens, weights.js their probabilities, cuts.js the stages. tests/page/test_reread_js.py holds it against Python.
//
// A run is { numSteps, vocabSize, logits, tokenIds, uniforms, promptIds }; params is an object with the field names of
// SamplingParams. useTable comes first. Where the tail of the logits came in bins (binned.js), a number that they decide
// is an estimate: it says so, and `told` spells it with a ≈.

import { isExact, stagesOf, uncut } from "./cuts.js";
import { about } from "./numbers.js";
import { highestLogits, logitOf, orderOf, orderUnder, rankingOf, rankRun, spliceRank } from "./ranking.js";
import { settingsOf, useTable } from "./stage_table.js";
import { firstPlace } from "./weights.js";

export { highestLogits, logitOf, rankRun, spliceRank, useTable };

/**
 * @typedef {import("./types.js").Recording} Recording
 * @typedef {import("./types.js").Params} Params
 * @typedef {import("./types.js").Stage} Stage
 * @typedef {import("./types.js").StepReread} StepReread
 * @typedef {import("./weights.js").StepScores} StepScores
 */

const CLOSE = 1e-5; // a probability that may be off by less than this part of itself is not called an estimate
const CLOSE_NATS = 1e-3;

/** Every step of the recorded path under other settings. Ranks count from 1 in the model's own ranking.
 * @param {Recording} run @param {Params} params @returns {import("./types.js").Reread} */
export function reread(run, params) {
  const order = orderUnder(run, params);
  const own = orderOf(run);
  const { numSteps, tokenIds } = run;
  const result = emptyReread(run);
  const isTheSame = isOwn(run, params);
  for (let step = 0; step < numSteps; step++) {
    const scores = order.steps[step];
    const last = lastOf(stagesOf(scores, params));
    const { start, stop, temperature, base } = last;
    const weights = scores.weights(temperature, base);
    const place = own.places[step];
    const sampled = sampledPlace(run, step, scores, last, order.places[step], isTheSame);
    result.numCandidates[step] = stop - start;
    result.chosenIds[step] = scores.idAt(sampled.place);
    result.entropy[step] = weights.entropy(start, stop);
    result.chosenProb[step] = weights.prob(order.places[step], start, stop);
    result.chosenRank[step] = place + 1;
    result.chosenModelProb[step] = modelProb(own, step, place);
    const differs = result.chosenIds[step] !== tokenIds[step] && !run.forced?.has(step);
    if (result.firstDifference === null && differs) result.firstDifference = step;
    if (result.estimated)
      noteEstimates(
        result.estimated,
        step,
        estimatesOf(scores, last, order.places[step], sampled.isSure, own.steps[step]),
      );
  }
  return result;
}

/** @param {Recording} run @returns {import("./types.js").Reread} */
function emptyReread({ numSteps, logits }) {
  const flags = () => new Uint8Array(numSteps);
  const estimated = () => ({
    numCandidates: flags(),
    chosenIds: flags(),
    entropy: flags(),
    chosenProb: flags(),
    chosenModelProb: flags(),
  });
  return {
    numCandidates: new Int32Array(numSteps),
    chosenIds: new Int32Array(numSteps), // what each step's own random number picks now
    entropy: new Float64Array(numSteps), // nats
    chosenProb: new Float64Array(numSteps), // of the recorded token, after all stages
    chosenRank: new Int32Array(numSteps),
    chosenModelProb: new Float64Array(numSteps), // before any stage
    firstDifference: null, // the first step that would pick another token
    estimated: logits instanceof Float32Array ? null : estimated(),
  };
}

/** @param {NonNullable<import("./types.js").Reread["estimated"]>} estimated @param {number} step @param {StepReread["estimated"]} now */
function noteEstimates(estimated, step, { numCandidates, sampledPlace, entropy, chosenProb, modelProbs }) {
  estimated.numCandidates[step] = Number(numCandidates);
  estimated.chosenIds[step] = Number(sampledPlace);
  estimated.entropy[step] = Number(entropy);
  estimated.chosenProb[step] = Number(chosenProb);
  estimated.chosenModelProb[step] = Number(modelProbs);
}

/** Which numbers of a step are estimates. @param {StepScores} scores @param {Stage} last @param {number} recorded  place
 * @param {boolean} isSure  of the sampled token @param {StepScores} own  under no penalty @returns {StepReread["estimated"]} */
function estimatesOf(scores, last, recorded, isSure, own) {
  const { start, stop, starts, least, most, temperature, base, error } = last;
  const { tail } = scores;
  const nats = error && error + scores.weights(temperature, base).meanError(start, stop);
  const [from, to] = tail ? [tail.floor(recorded), tail.ceil(recorded + 1)] : [recorded, recorded + 1];
  const stays = from >= starts[1] && to <= least;
  const goes = from >= most || to <= starts[0];
  return {
    numCandidates: !isExact(last),
    sampledPlace: !isSure,
    entropy: !isExact(last) || nats > CLOSE_NATS,
    probs: isEstimate(error),
    chosenProb: isEstimate(error) || !(stays || goes),
    modelProbs: isEstimate(uncut(own).error),
  };
}

/**
 * The place on which a step's random number falls now. Where the bins leave it open whether that is the recorded token, it
 * is under the settings of the run: so a run never differs from itself.
 * @param {Recording} run @param {number} step @param {StepScores} scores @param {Stage} last
 * @param {number} recorded  place @param {boolean} isOwn  whether the settings are those of the run
 */
function sampledPlace(run, step, scores, last, recorded, isOwn) {
  const { start, stop, error, temperature, base } = last;
  const place = scores.weights(temperature, base).sample(run.uniforms[step], start, stop);
  const { tail } = scores;
  if (!tail || error === 0) return { place, isSure: true };
  const [first, end] = sampledBetween(tail, scores, last, run.uniforms[step]);
  const [from, to] = [tail.floor(recorded), tail.ceil(recorded + 1)];
  const isRecorded = isOwn ? first < to && from < end : from <= place && place < to;
  return { place: isRecorded ? recorded : place, isSure: end - first === 1 && scores.idAt(first) < run.vocabSize };
}

/** The places between which the sampled token surely is. @param {import("./binned.js").Tail} tail @param {StepScores} scores
 * @param {Stage} last @param {number} uniform */
function sampledBetween(tail, scores, { start, stop, least, most, starts, error, temperature, base }, uniform) {
  const weights = scores.weights(temperature, base);
  const mass = weights.mass(start, stop);
  const startError = starts[0] < starts[1] ? error * mass : 0;
  const reached = (/** @type {number} */ bound) => {
    const mark = uniform * mass * (1 + bound * error);
    const [first, end] = bound < 0 ? [starts[0], tail.ceil(least)] : [starts[1], tail.ceil(most)];
    const massTo = (/** @type {number} */ at) => weights.mass(start, at) - bound * (weights.slackAt(at) + startError);
    return firstPlace(first, Math.max(first, end - 1), (at) => massTo(at + 1) > mark);
  };
  return [tail.floor(reached(-1)), tail.ceil(reached(1) + 1)];
}

/** @param {Recording} run @param {Params} params */
function isOwn({ params: own }, params) {
  const names = [...settingsOf().map(({ field }) => field), "rule", "penalty_counts_prompt"];
  return own !== undefined && names.every((name) => own[name] === params[name]);
}

/** @type {{ run?: Recording, params?: Params, step?: number, result?: StepReread }} */
let latest = {}; // several pictures ask for the same step in one frame

/** One step in full. Everything per token stands in the order of `ranking`, the most likely first.
 * @param {Recording} run @param {Params} params @param {number} step @returns {StepReread} */
export function rereadStep(run, params, step) {
  if (latest.result && latest.run === run && latest.params === params && latest.step === step) return latest.result;
  const result = stepInFull(run, params, step);
  latest = { run, params, step, result };
  return result;
}

/** @param {Recording} run @param {Params} params @param {number} step @returns {StepReread} */
function stepInFull(run, params, step) {
  const order = orderUnder(run, params);
  const scores = order.steps[step];
  const ranking = rankingOf(order, step);
  const stages = withProbs(stagesOf(scores, params), scores);
  const last = lastOf(stages);
  const { start, stop, temperature, base, probs } = last;
  const weights = scores.weights(temperature, base);
  const sampled = sampledPlace(run, step, scores, last, order.places[step], isOwn(run, params));
  return {
    step,
    ranking,
    scores: scores.spreadOut(scores.scores), // logits less the largest, after penalties
    modelProbs: modelProbsOf(run, scores, step),
    probs,
    uncut: uncut(scores), // as a stage: what there is before the first
    stages,
    start, // the places from `start` up to `stop` can be sampled
    stop,
    numCandidates: stop - start,
    entropy: weights.entropy(start, stop),
    uniform: run.uniforms[step],
    chosenPlace: order.places[step], // of the recorded token in `ranking`, from 0
    sampledPlace: sampled.place, // of the token that the number picks now
    estimated: estimatesOf(scores, last, order.places[step], sampled.isSure, orderOf(run).steps[step]),
  };
}

/** @template Item @param {Item[]} items  not empty */
const lastOf = (items) => items[items.length - 1];

/** Stages that change nothing share the probabilities of the one before them.
 * @param {Stage[]} stages @param {import("./weights.js").StepScores} scores */
function withProbs(stages, scores) {
  /** @type {Partial<Stage>} */
  let before = {};
  for (const stage of stages) {
    const { start, stop, temperature, base } = stage;
    const same = start === before.start && stop === before.stop && temperature === before.temperature;
    stage.probs = same ? before.probs : scores.weights(temperature, base).probs(start, stop);
    before = stage;
  }
  return /** @type {(Stage & { probs: Float64Array })[]} */ (stages);
}

/** Whether a token can still be chosen after a stage, or in the end. @param {{ start: number, stop: number }} left @param {number} place */
export function isKept({ start, stop }, place) {
  return place >= start && place < stop;
}

/** The stage that cut a token: null where none did, `uncut` where it never had a probability.
 * @param {StepReread} now @param {number} place */
export function cutterOf(now, place) {
  return [now.uncut, ...now.stages].find((stage) => !isKept(stage, place)) ?? null;
}

/** How many tokens stay at one step. @param {Recording} run @param {Params} params @param {number} step */
export function keptUnder(run, params, step) {
  const last = lastOf(stagesOf(orderUnder(run, params).steps[step], params));
  return keptTold(last);
}

/** Whether probabilities that may be off by this part of themselves are told as estimates. @param {number} error */
export function isEstimate(error) {
  return error > CLOSE;
}

/** How many tokens can be sampled, as it is said. @param {StepReread} now */
export function countTold({ numCandidates, estimated }) {
  return about(numCandidates, estimated.numCandidates);
}

/** A probability after all stages, as it is said. @param {StepReread} now @param {number} place */
export function probTold({ probs, estimated }, place) {
  return about(probs[place], estimated.probs);
}

/** How many tokens a stage leaves, as it is said. @param {Stage} stage */
export function keptTold(stage) {
  return about(stage.numKept, !isExact(stage));
}

/** The part of the probability that a stage keeps, as it is said. @param {Stage} stage */
export function massTold({ keptMass, keptError }) {
  return about(keptMass, isEstimate(keptError));
}

/** The model's own probability of a token or of many, as it is said. @param {StepReread} now @param {number} prob */
export function modelProbTold({ estimated }, prob) {
  return about(prob, estimated.modelProbs);
}

/** Of all steps, a number as it is said: with a ≈ where it is an estimate. @param {import("./types.js").Reread} reread
 * @param {"numCandidates" | "entropy" | "chosenProb" | "chosenModelProb"} name @param {number} step */
export function told(reread, name, step) {
  return about(reread[name][step], Boolean(reread.estimated?.[name][step]));
}

/** The model's own probability of the token at a place of its own ranking, before any stage.
 * @param {import("./types.js").Order} order @param {number} step @param {number} place */
export function modelProb(order, step, place) {
  const weights = order.steps[step].weights(1, 0);
  return weights.prob(place, 0, weights.possible);
}

/** Softmax of the model's own logits, in the order of the ranking that penalties may have changed.
 * @param {Recording} run @param {StepScores} scores @param {number} step */
function modelProbsOf(run, scores, step) {
  const order = orderOf(run);
  const own = order.steps[step];
  const weights = own.weights(1, 0);
  const probs = weights.probs(0, weights.possible);
  if (scores === own) return probs;
  // Bins keep their order among each other; tokens that were sent one by one are found by their ids.
  const bins = [...own.ids.keys()].filter((item) => own.ids[item] >= run.vocabSize);
  const largest = logitOf(run, step, own.ids[0]);
  const whole = weights.mass(0, own.size);
  let bin = 0;
  const items = Float64Array.from(scores.ids, (id) => {
    if (id < run.vocabSize) return Math.exp(logitOf(run, step, id) - largest) / whole;
    return probs[own.tail?.firsts[bins[bin++]] ?? 0];
  });
  return scores.spreadOut(items);
}
