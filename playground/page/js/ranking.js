// The order of the tokens at every step: worked out once for a run, and once more for a penalty.

import { BinnedLogits, rankBinned, reordered } from "./binned.js";
import { isOn, ruleOf, settingsOf, valueUnder } from "./stage_table.js";
import { StepScores } from "./weights.js";

/**
 * @typedef {import("./types.js").Order} Order
 * @typedef {import("./types.js").Recording} Recording
 * @typedef {import("./types.js").Logits} Logits
 * @typedef {{ numSteps: number, vocabSize: number, tokenIds: number[] }} Steps
 */

/** Ranks all steps of a run, once; later calls are free. Returns the run.
 * @template {Steps & { logits: Logits | null, order?: Order }} Ranked @param {Ranked} run  complete */
export function rankRun(run) {
  orderOf(run);
  return run;
}

/** The model's own order. @param {Steps & { logits: Logits | null, order?: Order }} run  complete @returns {Order} */
export function orderOf(run) {
  if (run.order) return run.order;
  run.order = orderIn(rankSteps(logitsOf(run), run), run);
  return run.order;
}

/** @param {{ logits: Logits | null }} run */
export function logitsOf({ logits }) {
  if (!logits) throw new Error("the run is not complete: its logits have not come yet");
  return logits;
}

/** Ranks a run whose first `shared` steps are those of `base`: only the others are sorted. Returns the run.
 * @template {Steps & { logits: Logits | null, order?: Order }} Ranked
 * @param {Ranked} run @param {Ranked} base @param {number} shared */
export function spliceRank(run, base, shared) {
  const before = orderOf(base).steps.slice(0, shared);
  run.order = orderIn([...before, ...rankSteps(logitsOf(run), run, shared)], run);
  return run;
}

/** Token ids of one step, most likely first; the size of the vocabulary for a token that was not sent by itself.
 * @param {Order} order @param {number} step */
export function rankingOf({ steps }, step) {
  return steps[step].spreadOut(steps[step].ids);
}

/** Ids and logits of the highest logits of a step. @param {Recording} run @param {number} step @param {number} most */
export function highestLogits(run, step, most) {
  const { ids } = orderOf(run).steps[step];
  return Array.from(ids.subarray(0, most), (id) => ({ id, logit: logitOf(run, step, id) }));
}

/** What the model gave a token: NaN where it was not sent. @param {{ logits: Logits | null, vocabSize: number }} run
 * @param {number} step @param {number} id */
export function logitOf(run, step, id) {
  const logits = logitsOf(run);
  return logits instanceof BinnedLogits ? logits.logit(step, id) : logits[step * run.vocabSize + id];
}

/** @param {StepScores[]} steps @param {Steps} run @returns {Order} */
function orderIn(steps, { tokenIds }) {
  return { steps, places: Int32Array.from(steps, (scores, step) => scores.placeOf(tokenIds[step])) };
}

/** The steps from `first` on. @param {Logits} logits @param {Steps} run @param {number} [first] @returns {StepScores[]} */
function rankSteps(logits, { numSteps, vocabSize }, first = 0) {
  const steps = Array.from({ length: numSteps - first }, (_, index) => first + index);
  if (logits instanceof BinnedLogits) return steps.map((step) => rankBinned(logits.steps[step], vocabSize));
  const keys = new BigUint64Array(vocabSize);
  return steps.map((step) => rankStep(logits.subarray(step * vocabSize, (step + 1) * vocabSize), step, keys));
}

/** @param {Float32Array} logits  of one step @param {number} step @param {BigUint64Array} keys  room for one a token */
function rankStep(logits, step, keys) {
  // Whole numbers sort many times faster than pairs: above stand the bits of the float32, turned so that they order as
  // the float does and the largest comes first; below stands the token id, which breaks ties.
  const halves = new Uint32Array(keys.buffer); // low, high, low, high: every browser's machine is little-endian
  const float = new Float32Array(1);
  const bits = new Int32Array(float.buffer);
  for (let id = 0; id < logits.length; id++) {
    float[0] = logits[id] + 0; // + 0 makes -0 equal to 0
    halves[2 * id] = id;
    halves[2 * id + 1] = ~(bits[0] ^ ((bits[0] >> 31) & 0x7fffffff)) ^ 0x80000000;
  }
  keys.sort();
  const largest = logits[halves[0]];
  if (!Number.isFinite(largest)) throw new RangeError(`step ${step}: no token can be chosen from these logits`);
  const ids = new Uint32Array(logits.length); // the lowest first among equals
  const scores = new Float64Array(logits.length);
  for (let place = 0; place < logits.length; place++) {
    ids[place] = halves[2 * place];
    scores[place] = logits[ids[place]] - largest;
  }
  return new StepScores(ids, scores);
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
  if (run.penalized?.key !== key)
    run.penalized = { key, order: orderIn(rankSteps(penalized(run, settings), run), run) };
  return run.penalized.order;
}

/** The logits of all steps after the penalties. @param {Recording} run @param {Record<string, any>} settings @returns {Logits} */
function penalized(run, settings) {
  const logits = logitsOf(run);
  if (logits instanceof BinnedLogits) {
    const steps = logits.steps.map((step) => ({ ...step, logits: Float32Array.from(step.logits) }));
    penalize(run, settings, (step, id, changed) => {
      const at = logits.indexOf(step, id);
      steps[step].logits[at] = changed(steps[step].logits[at]);
    });
    return new BinnedLogits(steps.map(reordered));
  }
  const all = Float32Array.from(logits);
  penalize(run, settings, (step, id, changed) => {
    const at = step * run.vocabSize + id;
    all[at] = changed(all[at]);
  });
  return all;
}

/** Repetition (sign-aware), then presence and frequency, in float32 as in Python.
 * @param {Recording} run @param {Record<string, any>} settings
 * @param {(step: number, id: number, changed: (logit: number) => number) => void} change  one logit */
function penalize(run, settings, change) {
  const f = Math.fround;
  const counts = new Map(); // of the tokens seen before each step
  /** @param {number} id */
  const see = (id) => counts.set(id, (counts.get(id) ?? 0) + 1);
  const [repetition, presence, frequency] = [
    settings.repetition_penalty,
    settings.presence_penalty,
    settings.frequency_penalty,
  ].map(f);
  if (settings.penalty_counts_prompt) run.promptIds.forEach(see);
  for (let step = 0; step < run.numSteps; step++) {
    for (const [id, times] of counts) {
      const subtracted = f(f(settings.scale) * f(presence + f(frequency * times)));
      change(step, id, (logit) => f(logit > 0 ? logit / repetition : logit * repetition) - subtracted);
    }
    see(run.tokenIds[step]);
  }
}
