// The sliders' arithmetic in the browser: what other settings make of recorded logits. The model does not run.
//
// The second telling of `Distributions` and `Trace.reread` in playground/engine/ (stages.py, sampling.py, trace.py), in the same
// float64 arithmetic; tests/test_reread_js.py holds both against each other. N steps, V tokens in the vocabulary.
//
// A run is { numSteps, vocabSize, logits: Float32Array(N*V), tokenIds, uniforms, promptIds }; params is an object with
// the field names of SamplingParams. Every stage keeps the likeliest tokens, so once a step is ranked, a stage is one
// number: how many it keeps. With running sums over the ranking, finding that number is a binary search.

// Sums within this of p count as p, as in stages.py.
const BOUNDARY = 1e-6;

export const RULES = {
  transformers: { order: ["penalty", "temperature", "top-k", "top-p", "min-p"] },
  minimind: { order: ["temperature", "penalty", "top-k", "top-p", "min-p"], pastP: true, keepTies: true },
  vllm: { order: ["penalty", "temperature", "min-p", "top-k", "top-p"], keepTies: true },
  "llama.cpp": { order: ["penalty", "top-k", "top-p", "min-p", "temperature"] },
};

/** Ranks all steps of a run, once; later calls are free. Returns the run. */
export function rankRun(run) {
  run.order ??= rankSteps(run.logits, run);
  return run;
}

/** Ranks a run whose first `shared` steps are those of `base`: only the others are sorted. Returns the run. */
export function spliceRank(run, base, shared) {
  const { vocabSize, numSteps, tokenIds } = run;
  const at = shared * vocabSize;
  const rest = rankSteps(run.logits.subarray(at), { numSteps: numSteps - shared, vocabSize, tokenIds: tokenIds.slice(shared) });
  const order = { vocabSize, numSteps, sums: {}, places: new Int32Array(numSteps) };
  for (const [name, Kind] of [["ranking", Uint32Array], ["scores", Float64Array]]) {
    order[name] = new Kind(numSteps * vocabSize);
    order[name].set(rankRun(base).order[name].subarray(0, at));
    order[name].set(rest[name], at);
  }
  for (let step = 0; step < numSteps; step++) {
    order.places[step] = step < shared ? placeOf(order, step, tokenIds[step]) : rest.places[step - shared];
  }
  run.order = order;
  return run;
}

/** Where a token stands in a step's ranking, from 0. */
export function placeOf({ ranking, vocabSize }, step, id) {
  return ranking.subarray(step * vocabSize, (step + 1) * vocabSize).indexOf(id);
}

/** Every step of the recorded path under other settings. Ranks count from 1 in the model's own ranking. */
export function reread(run, params) {
  const order = orderUnder(run, params);
  const { numSteps, vocabSize, tokenIds } = run;
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
    const { numKept, temperature } = stagesOf(order, step, params).at(-1);
    const drawn = drawPlace(order, step, numKept, temperature, run.uniforms[step]);
    result.numCandidates[step] = numKept;
    result.chosenIds[step] = order.ranking[step * vocabSize + drawn];
    result.entropy[step] = entropyOf(order, step, numKept, temperature);
    result.chosenProb[step] = probAt(order, step, order.places[step], numKept, temperature);
    result.chosenRank[step] = run.order.places[step] + 1;
    result.chosenModelProb[step] = probAt(run.order, step, run.order.places[step], vocabSize, 1);
    const differs = result.chosenIds[step] !== tokenIds[step] && !run.forced?.has(step);
    if (result.firstDifference === null && differs) result.firstDifference = step;
  }
  return result;
}

let latest = {}; // several pictures ask for the same step in one frame

/** One step in full. Everything per token stands in the order of `ranking`, the likeliest first. */
export function rereadStep(run, params, step) {
  if (latest.run !== run || latest.params !== params || latest.step !== step) {
    latest = { run, params, step, result: stepInFull(run, params, step) };
  }
  return latest.result;
}

function stepInFull(run, params, step) {
  const order = orderUnder(run, params);
  const { vocabSize } = run;
  const ranking = order.ranking.subarray(step * vocabSize, (step + 1) * vocabSize);
  const stages = stagesOf(order, step, params);
  let before = { numKept: -1, temperature: 1 };
  for (const stage of stages) {
    const same = stage.numKept === before.numKept && stage.temperature === before.temperature;
    stage.probs = same ? before.probs : probsOf(order, step, stage.numKept, stage.temperature);
    before = stage;
  }
  const { numKept, temperature, probs } = stages.at(-1);
  return {
    step,
    ranking,
    scores: order.scores.subarray(step * vocabSize, (step + 1) * vocabSize), // logits less the largest, after penalties
    modelProbs: modelProbsOf(run, ranking, step),
    probs,
    stages, // { name, numKept, keptMass, cuts, temperature, probs }
    numCandidates: numKept,
    entropy: entropyOf(order, step, numKept, temperature),
    uniform: run.uniforms[step],
    chosenPlace: order.places[step], // of the recorded token in `ranking`, from 0
    drawnPlace: drawPlace(order, step, numKept, temperature, run.uniforms[step]), // of the token the number picks now
  };
}

/** How many tokens stay at one step. */
export function keptUnder(run, params, step) {
  return stagesOf(orderUnder(run, params), step, params).at(-1).numKept;
}

// ---- the order of the tokens

/** Ranking and scores of all steps: ranking (N*V) token ids, the lowest first among equals; scores (N*V), 0 first. */
function rankSteps(logits, run) {
  const { numSteps, vocabSize, tokenIds } = run;
  const ranking = new Uint32Array(numSteps * vocabSize);
  const scores = new Float64Array(numSteps * vocabSize);
  const places = new Int32Array(numSteps);
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
    const likeliest = logits[start + halves[0]];
    if (!Number.isFinite(likeliest)) throw new RangeError(`step ${step}: no token can be chosen from these logits`);
    for (let place = 0; place < vocabSize; place++) {
      const id = halves[2 * place];
      ranking[start + place] = id;
      scores[start + place] = logits[start + id] - likeliest;
      if (id === tokenIds[step]) places[step] = place;
    }
  }
  return { vocabSize, numSteps, ranking, scores, places, sums: {} };
}

/** The order that the stages see: the model's own, or that of the penalised logits, kept until a penalty changes. */
function orderUnder(run, params) {
  rankRun(run);
  const { repetition_penalty = 1, presence_penalty = 0, frequency_penalty = 0, penalty_counts_prompt = true } = params;
  if (repetition_penalty === 1 && presence_penalty === 0 && frequency_penalty === 0) return run.order;
  // Under a rule that divides by the temperature first, subtracting x there is subtracting x * T here.
  const { order } = ruleOf(params);
  const late = order.indexOf("temperature") < order.indexOf("penalty");
  const scale = late && params.temperature > 0 ? params.temperature : 1;
  const key = [repetition_penalty, presence_penalty, frequency_penalty, penalty_counts_prompt, scale].join();
  if (run.penalized?.key !== key) {
    const settings = { repetition_penalty, presence_penalty, frequency_penalty, penalty_counts_prompt, scale };
    run.penalized = { key, order: rankSteps(penalizedLogits(run, settings), run) };
  }
  return run.penalized.order;
}

/** Repetition (sign-aware), then presence and frequency, in float32 as in Python. */
function penalizedLogits(run, settings) {
  const { numSteps, vocabSize, tokenIds } = run;
  const f = Math.fround;
  const logits = Float32Array.from(run.logits);
  const counts = new Map(); // of the tokens seen before each step
  const see = (id) => counts.set(id, (counts.get(id) ?? 0) + 1);
  const [repetition, presence, frequency] = [
    settings.repetition_penalty, settings.presence_penalty, settings.frequency_penalty,
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

// ---- the stages

function ruleOf(params) {
  const rule = RULES[params.rule ?? "transformers"];
  if (!rule) throw new RangeError(`rule must be one of ${Object.keys(RULES).join(", ")}, got ${params.rule}`);
  return rule;
}

/** The stages in the order of the rule, each with the number of likeliest tokens still possible after it. */
function stagesOf(order, step, params) {
  const rule = ruleOf(params);
  const stages = [];
  let numKept = order.vocabSize;
  let temperature = 1;
  for (const name of rule.order) {
    const before = numKept;
    let keptMass = 1;
    if (name === "temperature" && params.temperature === 0) {
      keptMass = probAt(order, step, 0, order.vocabSize, 1);
      numKept = 1;
    } else if (name === "temperature") {
      temperature = params.temperature;
    } else if (params.temperature !== 0 && COUNT[name]) {
      numKept = Math.min(numKept, COUNT[name](order, step, params, rule, numKept, temperature));
      const mass = (count) => massOf(order, step, count, temperature);
      if (numKept < before) keptMass = mass(numKept) / mass(before);
    }
    stages.push({ name, numKept, keptMass, cuts: numKept < before, temperature });
  }
  return stages;
}

const COUNT = {
  "top-k"({ scores, vocabSize }, step, { top_k = 0 }, rule, numKept) {
    if (top_k <= 0 || top_k >= vocabSize) return numKept;
    let count = top_k;
    const start = step * vocabSize;
    while (rule.keepTies && count < vocabSize && scores[start + count] === scores[start + top_k - 1]) count++;
    return count;
  },
  /** The smallest set of likeliest tokens whose probability reaches p: a token stays if the sum before it is below p. */
  "top-p"(order, step, { top_p = 1 }, rule, numKept, temperature) {
    if (top_p >= 1) return numKept;
    const { masses, positive } = sumsAt(order, temperature);
    const start = step * (order.vocabSize + 1);
    const limit = (top_p + (rule.pastP ? BOUNDARY : -BOUNDARY)) * masses[start + numKept];
    return Math.max(1, firstPlace(Math.min(numKept, positive[step]), (place) => masses[start + place] >= limit));
  },
  /** At least min_p times as likely as the likeliest. */
  "min-p"({ scores, vocabSize }, step, { min_p = 0 }, rule, numKept, temperature) {
    if (min_p <= BOUNDARY) return numKept;
    const lowest = Math.log(min_p - BOUNDARY) * temperature;
    return Math.max(1, firstPlace(numKept, (place) => scores[step * vocabSize + place] < lowest));
  },
};

/** The first place from 0 for which `holds` is true, where it stays true from then on; `end` if there is none. */
function firstPlace(end, holds) {
  let low = 0;
  while (low < end) {
    const middle = (low + end) >> 1;
    if (holds(middle)) end = middle;
    else low = middle + 1;
  }
  return low;
}

// ---- probabilities

/**
 * Running sums over each step's ranking at a temperature. masses[i], of V+1 a step: the weights exp(score / T) of the
 * first i tokens; moments[i]: the same times score / T, for the entropy; positive[step]: tokens with any weight.
 * Kept for T = 1 and for one other temperature, so that dragging top-p costs no exponential at all.
 */
function sumsAt(order, temperature) {
  const slot = temperature === 1 ? "atOne" : "atOther";
  const { numSteps, vocabSize, scores } = order;
  const sums = (order.sums[slot] ??= {
    temperature: null,
    masses: new Float64Array(numSteps * (vocabSize + 1)),
    moments: new Float64Array(numSteps * (vocabSize + 1)),
    positive: new Int32Array(numSteps),
  });
  if (sums.temperature === temperature) return sums;
  sums.temperature = temperature;
  const { masses, moments, positive } = sums;
  for (let step = 0; step < numSteps; step++) {
    const from = step * vocabSize;
    const to = step * (vocabSize + 1);
    let mass = 0;
    let moment = 0;
    let place = 0;
    for (; place < vocabSize; place++) {
      const exponent = scores[from + place] / temperature;
      const weight = Math.exp(exponent);
      if (weight === 0) break; // and so are all that follow
      masses[to + place] = mass;
      moments[to + place] = moment;
      mass += weight;
      moment += weight * exponent;
    }
    masses.fill(mass, to + place, to + vocabSize + 1);
    moments.fill(moment, to + place, to + vocabSize + 1);
    positive[step] = place;
  }
  return sums;
}

/** The weight of the first `numKept` tokens of a step. */
function massOf(order, step, numKept, temperature) {
  return sumsAt(order, temperature).masses[step * (order.vocabSize + 1) + numKept];
}

/** The probability of the token at `place` when `numKept` stay. */
function probAt(order, step, place, numKept, temperature) {
  if (place >= numKept) return 0;
  const weight = Math.exp(order.scores[step * order.vocabSize + place] / temperature);
  return weight / massOf(order, step, numKept, temperature);
}

/** Of the kept tokens, in nats: -sum p log p, with log p = score / T - log(mass). */
function entropyOf(order, step, numKept, temperature) {
  const { masses, moments } = sumsAt(order, temperature);
  const end = step * (order.vocabSize + 1) + numKept;
  return Math.log(masses[end]) - moments[end] / masses[end];
}

/** Walks from the likeliest down until the sum passes the random number; a token without probability is never drawn. */
function drawPlace(order, step, numKept, temperature, uniform) {
  const { masses } = sumsAt(order, temperature);
  const start = step * (order.vocabSize + 1);
  const mark = uniform * masses[start + numKept];
  return firstPlace(numKept - 1, (place) => masses[start + place + 1] > mark);
}

function probsOf(order, step, numKept, temperature) {
  const probs = new Float64Array(order.vocabSize);
  const whole = massOf(order, step, numKept, temperature);
  const scores = order.scores.subarray(step * order.vocabSize, step * order.vocabSize + numKept);
  scores.forEach((score, place) => (probs[place] = Math.exp(score / temperature) / whole));
  return probs;
}

/** Softmax of the model's own logits, in the order of `ranking`. */
function modelProbsOf(run, ranking, step) {
  const start = step * run.vocabSize;
  const likeliest = run.logits[start + run.order.ranking[start]];
  const whole = massOf(run.order, step, run.vocabSize, 1);
  return Float64Array.from(ranking, (id) => Math.exp(run.logits[start + id] - likeliest) / whole);
}
