// The order of the tokens at every step: worked out once for a run, and once more for a penalty.
// N steps, V tokens in the vocabulary.

import { isOn, ruleOf, settingsOf, valueUnder } from "./stage_table.js";
import { StepScores } from "./weights.js";

/**
 * @typedef {import("./types.js").Order} Order
 * @typedef {import("./types.js").Recording} Recording
 * @typedef {{ numSteps: number, vocabSize: number, tokenIds: number[] }} Steps
 */

/** Ranks all steps of a run, once; later calls are free. Returns the run.
 * @template {Steps & { logits: Float32Array | null, order?: Order }} Ranked @param {Ranked} run  complete */
export function rankRun(run) {
  orderOf(run);
  return run;
}

/** The model's own order. @param {Steps & { logits: Float32Array | null, order?: Order }} run  complete @returns {Order} */
export function orderOf(run) {
  if (run.order) return run.order;
  const order = rankSteps(logitsOf(run), run);
  run.order = order;
  return order;
}

/** @param {{ logits: Float32Array | null }} run */
export function logitsOf({ logits }) {
  if (!logits) throw new Error("the run is not complete: its logits have not come yet");
  return logits;
}

/** Ranks a run whose first `shared` steps are those of `base`: only the others are sorted. Returns the run.
 * @template {Steps & { logits: Float32Array | null, order?: Order }} Ranked
 * @param {Ranked} run @param {Ranked} base @param {number} shared */
export function spliceRank(run, base, shared) {
  const { vocabSize, numSteps, tokenIds } = run;
  const at = shared * vocabSize;
  const before = orderOf(base);
  const rest = rankSteps(logitsOf(run).subarray(at), {
    numSteps: numSteps - shared,
    vocabSize,
    tokenIds: tokenIds.slice(shared),
  });
  const order = emptyOrder(run);
  order.ranking.set(before.ranking.subarray(0, at));
  order.ranking.set(rest.ranking, at);
  order.scores.set(before.scores.subarray(0, at));
  order.scores.set(rest.scores, at);
  for (let step = 0; step < numSteps; step++) {
    order.places[step] = step < shared ? rankingOf(order, step).indexOf(tokenIds[step]) : rest.places[step - shared];
  }
  run.order = order;
  return run;
}

/** Token ids of one step, most likely first. @param {Order} order @param {number} step */
export function rankingOf({ ranking, vocabSize }, step) {
  return ranking.subarray(step * vocabSize, (step + 1) * vocabSize);
}

/** Of one step, kept with the order. @param {Order} order @param {number} step @returns {StepScores} */
export function scoresOf({ vocabSize, scores, steps }, step) {
  steps[step] ??= new StepScores(scores.subarray(step * vocabSize, (step + 1) * vocabSize));
  return steps[step];
}

/** @param {Steps} run @returns {Order} */
function emptyOrder({ numSteps, vocabSize }) {
  return {
    vocabSize,
    ranking: new Uint32Array(numSteps * vocabSize), // token ids, the lowest first among equals
    scores: new Float64Array(numSteps * vocabSize), // logits less the step's largest: 0 first
    places: new Int32Array(numSteps), // of the recorded token, from 0
    steps: [], // see scoresOf
  };
}

/** @param {Float32Array} logits @param {Steps} run @returns {Order} */
function rankSteps(logits, run) {
  const { numSteps, vocabSize, tokenIds } = run;
  const order = emptyOrder(run);
  const { ranking, scores, places } = order;
  // Whole numbers sort many times faster than pairs: above stand the bits of the float32, turned so that they order as
  // the float does and the largest comes first; below stands the token id, which breaks ties.
  const keys = new BigUint64Array(vocabSize);
  const halves = new Uint32Array(keys.buffer); // low, high, low, high: every browser's machine is little-endian
  const float = new Float32Array(1);
  const bits = new Int32Array(float.buffer);
  for (let step = 0; step < numSteps; step++) {
    const start = step * vocabSize;
    for (let id = 0; id < vocabSize; id++) {
      float[0] = logits[start + id] + 0; // + 0 makes -0 equal to 0
      halves[2 * id] = id;
      halves[2 * id + 1] = ~(bits[0] ^ ((bits[0] >> 31) & 0x7fffffff)) ^ 0x80000000;
    }
    keys.sort();
    const largest = logits[start + halves[0]];
    if (!Number.isFinite(largest)) throw new RangeError(`step ${step}: no token can be chosen from these logits`);
    for (let place = 0; place < vocabSize; place++) {
      const id = halves[2 * place];
      ranking[start + place] = id;
      scores[start + place] = logits[start + id] - largest;
      if (id === tokenIds[step]) places[step] = place;
    }
  }
  return order;
}

/** The order that the stages see: the model's own, or that of the penalised logits, kept until a penalty changes.
 * @param {Recording} run @param {import("./types.js").Params} params @returns {Order} */
export function orderUnder(run, params) {
  const own = orderOf(run);
  if (!isOn("penalty", params)) return own;
  // Under a rule that divides by the temperature first, subtracting x there is subtracting x * T here.
  const { order } = ruleOf(params);
  const late = order.indexOf("temperature") < order.indexOf("penalty");
  const settings = {
    ...Object.fromEntries(settingsOf("penalty").map((setting) => [setting.field, valueUnder(params, setting)])),
    penalty_counts_prompt: params.penalty_counts_prompt ?? true,
    scale: late && params.temperature > 0 ? params.temperature : 1,
  };
  const key = Object.values(settings).join();
  if (run.penalized?.key !== key) run.penalized = { key, order: rankSteps(penalizedLogits(run, settings), run) };
  return run.penalized.order;
}

/** Repetition (sign-aware), then presence and frequency, in float32 as in Python. @param {Recording} run @param {Record<string, any>} settings */
function penalizedLogits(run, settings) {
  const { numSteps, vocabSize, tokenIds } = run;
  const f = Math.fround;
  const logits = Float32Array.from(logitsOf(run));
  const counts = new Map(); // of the tokens seen before each step
  /** @param {number} id */
  const see = (id) => counts.set(id, (counts.get(id) ?? 0) + 1);
  const [repetition, presence, frequency] = [
    settings.repetition_penalty,
    settings.presence_penalty,
    settings.frequency_penalty,
  ].map(f);
  if (settings.penalty_counts_prompt) run.promptIds.forEach(see);
  for (let step = 0; step < numSteps; step++) {
    for (const [id, times] of counts) {
      const logit = logits[step * vocabSize + id];
      const repeated = f(logit > 0 ? logit / repetition : logit * repetition);
      logits[step * vocabSize + id] = repeated - f(f(settings.scale) * f(presence + f(frequency * times)));
    }
    see(tokenIds[step]);
  }
  return logits;
}
