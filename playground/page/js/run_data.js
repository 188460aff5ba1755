// Takes in what a run recorded and hands it to all pictures; itself it says how the run stands.

import { BinnedLogits, binnedOf, bytesOf } from "./binned.js";
import { statusFollower } from "./jobs.js";
import { rankRun, spliceRank } from "./reread.js";
import { node, say } from "./svg.js";
import * as words from "./words.js";

/**
 * @typedef {import("./types.js").Run} Run
 * @typedef {import("./types.js").Logits} Logits
 * @typedef {{ labels: string[], token_bytes: string[], trained_length?: number }} Vocabulary
 */

const MINUTE = 60_000; // milliseconds

/** Of each model by its name. @type {Map<string, Vocabulary>} */
const vocabularies = new Map();

/** @param {HTMLElement} element @param {import("./types.js").PanelApi} api @returns {import("./types.js").Panel} */
export function mount(element, api) {
  let latest = 0;
  /** @type {string | null} */
  let complete = null; // the run whose logits are here
  const status = node("p.note.run-words", { role: "status" }, element);
  const jobs = statusFollower(status, { buttons: ["#generate"], running: "" }); // tokens.js says how it goes
  setInterval(() => keepShown(api), MINUTE);

  return {
    async update(value) {
      if (!jobs.hear(value)) return;
      api.store.set({ job: value?.job ?? null });
      if (!value?.token_ids || value.id === complete) return;
      const turn = ++latest;
      if (value.logits) complete = value.id;
      const vocabulary = vocabularies.get(value.model) ?? (await api.server.vocabulary_of(value.model));
      if (vocabulary.problem) return say(status, vocabulary.problem);
      vocabularies.set(value.model, vocabulary);
      if (turn !== latest) return; // while the vocabulary came, a later tick of the run overtook this one
      show(api.store, decode(value, vocabulary), value.step);
      if (value.logits) element.dataset.complete = value.id;
    },
  };
}

/** The server keeps the run that an open page shows, however many others there are. @param {import("./types.js").PanelApi} api */
async function keepShown({ server, store }) {
  const shown = store.get().run?.id;
  if (shown) await server.show(shown).catch(() => {}); // the server is away: there is nothing to keep
}

/** All pictures turn to this run; a complete one is shown at its most open step, one of another model at no layer of its own.
 * @param {import("./types.js").Store} store @param {Run} run @param {number} [step] */
export function show(store, run, step) {
  const before = store.get().run;
  const isNew = before?.id !== run.id || !before.logits;
  store.set({ run });
  if (isNew) store.set({ step: step ?? mostOpen(store.get()), position: null });
  if (before?.model !== run.model) store.set({ layer: null });
}

/** The step with the most tokens to sample from, of equal ones that where the model was least sure.
 * @param {import("./types.js").State} state */
function mostOpen({ run, reread: result }) {
  if (!run || !result) return Math.max(0, (run?.numSteps ?? 1) - 1); // it is being written
  const { numCandidates, chosenModelProb } = result;
  const isMoreOpen = (/** @type {number} */ one, /** @type {number} */ other) =>
    numCandidates[one] - numCandidates[other] || chosenModelProb[other] - chosenModelProb[one];
  return run.tokenIds.reduce((best, _, step) => (isMoreOpen(step, best) > 0 ? step : best), 0);
}

/** @param {string} model @param {Vocabulary} vocabulary  that came another way */
export function keepVocabulary(model, vocabulary) {
  vocabularies.set(model, vocabulary);
}

/** A run read from a file brings its own vocabulary. @param {any} value @returns {Run} */
export function openRun(value) {
  return decode(value, value);
}

/**
 * A run that shares its first `value.shared` steps with `base`: only the logits of the later ones were sent, and only
 * they are ranked.
 * @param {Run} base  complete
 * @param {any} value
 * @returns {Run}
 */
export function continueRun(base, value) {
  const { vocabulary, tokenBytes, trainedLength } = base;
  const known = { labels: vocabulary, token_bytes: tokenBytes, trained_length: trainedLength };
  const run = decode({ ...value, logits: null }, known);
  run.logits = joined(/** @type {Logits} */ (base.logits), logitsIn(value), value.shared, run.vocabSize);
  return spliceRank(run, base, value.shared);
}

/** The logits of the first `shared` steps, and then the others. @param {Logits} first @param {Logits} others @param {number} shared @param {number} vocabSize */
function joined(first, others, shared, vocabSize) {
  if (first instanceof BinnedLogits)
    return new BinnedLogits([...first.steps.slice(0, shared), .../** @type {BinnedLogits} */ (others).steps]);
  const rest = /** @type {Float32Array} */ (others);
  const at = shared * vocabSize;
  const all = new Float32Array(at + rest.length);
  all.set(first.subarray(0, at));
  all.set(rest, at);
  return all;
}

/** What page/runs.py `payload` sent, under the names of this side. @param {any} value @param {Vocabulary} vocabulary @returns {Run} */
export function decode(value, { labels, token_bytes, trained_length }) {
  /** @param {number[]} ids */
  const labelsOf = (ids) => ids.map((id) => labels[id]);
  const run = {
    id: value.id,
    model: value.model,
    prompt: value.prompt,
    system: value.system,
    history: value.history,
    held: value.held ?? null,
    promptIds: value.prompt_ids,
    promptLength: value.prompt_ids.length,
    promptLabels: labelsOf(value.prompt_ids),
    tokenIds: value.token_ids,
    labels: labelsOf(value.token_ids),
    pieces: value.pieces,
    uniforms: value.uniforms,
    numFed: value.num_fed,
    cacheBytes: value.cache_bytes,
    seconds: value.seconds,
    stopReason: value.stop_reason,
    params: value.params,
    maxNewTokens: value.max_new_tokens,
    forced: new Set(value.forced),
    vocabulary: withTail(labels, value),
    tokenBytes: token_bytes,
    trainedLength: trained_length ?? Infinity, // a run from a file does not tell
    vocabSize: value.vocab_size,
    numSteps: value.token_ids.length,
    logits: value.logits ? logitsIn(value) : null,
  };
  return run.logits ? rankRun(run) : run;
}

/** @param {any} value  that came with logits @returns {Logits} */
function logitsIn({ logits }) {
  return typeof logits === "string" ? new Float32Array(bytesOf(logits)) : binnedOf(logits);
}

/** The labels of all token ids, and behind them one for a token of the tail that was not sent by itself.
 * @param {string[]} labels @param {any} value */
function withTail(labels, { logits, vocab_size: size }) {
  const isBinned = logits && typeof logits !== "string";
  return isBinned && labels.length === size ? [...labels, words.say("page.tail_token")] : labels;
}
