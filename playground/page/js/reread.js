// The sliders' arithmetic in the browser: what other settings make of recorded logits. The model does not run.
//
// The second telling of `Trace.reread` in playground/engine/trace.py, in the same float64 arithmetic: ranking.js has the
// order of the tokens, weights.js their probabilities, cuts.js the stages. tests/page/test_reread_js.py holds it against Python.
//
// A run is { numSteps, vocabSize, logits: Float32Array(N*V), tokenIds, uniforms, promptIds }; params is an object with
// the field names of SamplingParams. useTable comes first.

import { stagesOf, uncut } from "./cuts.js";
import { logitsOf, orderOf, orderUnder, rankingOf, rankRun, scoresOf, spliceRank } from "./ranking.js";
import { useTable } from "./stage_table.js";

export { rankRun, spliceRank, useTable };

/**
 * @typedef {import("./types.js").Recording} Recording
 * @typedef {import("./types.js").Params} Params
 * @typedef {import("./types.js").Stage} Stage
 * @typedef {import("./types.js").StepReread} StepReread
 */

/** Every step of the recorded path under other settings. Ranks count from 1 in the model's own ranking.
 * @param {Recording} run @param {Params} params @returns {import("./types.js").Reread} */
export function reread(run, params) {
  const order = orderUnder(run, params);
  const own = orderOf(run);
  const { numSteps, vocabSize, tokenIds } = run;
  /** @type {import("./types.js").Reread} */
  const result = {
    numCandidates: new Int32Array(numSteps),
    chosenIds: new Int32Array(numSteps), // what each step's own random number picks now
    entropy: new Float64Array(numSteps), // nats
    chosenProb: new Float64Array(numSteps), // of the recorded token, after all stages
    chosenRank: new Int32Array(numSteps),
    chosenModelProb: new Float64Array(numSteps), // before any stage
    firstDifference: null, // the first step that would pick another token
  };
  for (let step = 0; step < numSteps; step++) {
    const scores = scoresOf(order, step);
    const { start, stop, temperature, base } = lastOf(stagesOf(scores, params));
    const weights = scores.weights(temperature, base);
    const place = own.places[step];
    result.numCandidates[step] = stop - start;
    result.chosenIds[step] = order.ranking[step * vocabSize + weights.sample(run.uniforms[step], start, stop)];
    result.entropy[step] = weights.entropy(start, stop);
    result.chosenProb[step] = weights.prob(order.places[step], start, stop);
    result.chosenRank[step] = place + 1;
    result.chosenModelProb[step] = modelProb(own, step, place);
    const differs = result.chosenIds[step] !== tokenIds[step] && !run.forced?.has(step);
    if (result.firstDifference === null && differs) result.firstDifference = step;
  }
  return result;
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
  const scores = scoresOf(order, step);
  const ranking = rankingOf(order, step);
  const stages = withProbs(stagesOf(scores, params), scores);
  const { start, stop, temperature, base, probs } = lastOf(stages);
  const weights = scores.weights(temperature, base);
  return {
    step,
    ranking,
    scores: scores.scores, // logits less the largest, after penalties
    modelProbs: modelProbsOf(run, ranking, step),
    probs,
    uncut: uncut(scores), // as a stage: what there is before the first
    stages,
    start, // the places from `start` up to `stop` can be sampled
    stop,
    numCandidates: stop - start,
    entropy: weights.entropy(start, stop),
    uniform: run.uniforms[step],
    chosenPlace: order.places[step], // of the recorded token in `ranking`, from 0
    sampledPlace: weights.sample(run.uniforms[step], start, stop), // of the token that the number picks now
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
  return lastOf(stagesOf(scoresOf(orderUnder(run, params), step), params)).numKept;
}

/** The model's own probability of the token at a place of its own ranking, before any stage.
 * @param {import("./types.js").Order} order @param {number} step @param {number} place */
export function modelProb(order, step, place) {
  const weights = scoresOf(order, step).weights(1, 0);
  return weights.prob(place, 0, weights.possible);
}

/** Softmax of the model's own logits, in the order of `ranking`. @param {Recording} run @param {Uint32Array} ranking @param {number} step */
function modelProbsOf(run, ranking, step) {
  const first = step * run.vocabSize;
  const order = orderOf(run);
  const logits = logitsOf(run);
  const largest = logits[first + order.ranking[first]];
  const whole = scoresOf(order, step).weights(1, 0).mass(0, run.vocabSize);
  return Float64Array.from(ranking, (id) => Math.exp(logits[first + id] - largest) / whole);
}
