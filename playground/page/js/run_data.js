// Takes in what a run recorded and hands it to all pictures; itself it says how the run stands.

import { statusFollower } from "./jobs.js";
import { rankRun, spliceRank } from "./reread.js";
import { node } from "./svg.js";

const vocabularies = new Map(); // model name -> { labels, token_bytes } of each token id

export function mount(element, api) {
  let latest = 0;
  let complete = null; // the run whose logits are here
  const words = node("p.note.run-words", { role: "status" }, element);
  const jobs = statusFollower(words, { buttons: ["#generate"], running: "Writing …" });

  async function take(value) {
    if (!jobs.hear(value)) return;
    api.store.set({ job: value?.job ?? null });
    if (!value?.token_ids || value.id === complete) return;
    const turn = ++latest;
    if (value.logits) complete = value.id;
    if (!vocabularies.has(value.model)) vocabularies.set(value.model, await api.server.vocabulary_of(value.model));
    if (turn !== latest) return; // while the vocabulary came, a later tick of the run overtook this one
    show(api.store, decode(value, vocabularies.get(value.model)), value.step);
  }

  return { update: take };
}

/** All pictures turn to this run; a new one begins at its first step. */
export function show(store, run, step = 0) {
  const isNew = store.get().run?.id !== run.id;
  store.set({ run, ...(isNew ? { step } : {}) });
}

/** A run read from a file brings its own vocabulary. */
export function openRun(value) {
  return decode(value, value);
}

/**
 * A run that shares its first `value.shared` steps with `base`: only the logits of the later ones were sent, and only
 * they are ranked.
 */
export function continueRun(base, value) {
  const run = decode(
    { ...value, logits: null },
    { labels: base.vocabulary, token_bytes: base.tokenBytes, trained_length: base.trainedLength },
  );
  const shared = value.shared;
  const rest = new Float32Array(bytesOf(value.logits).buffer);
  run.logits = new Float32Array(run.numSteps * run.vocabSize);
  run.logits.set(base.logits.subarray(0, shared * run.vocabSize));
  run.logits.set(rest, shared * run.vocabSize);
  return spliceRank(run, base, shared);
}

function decode(value, { labels, token_bytes, trained_length }) {
  const run = {
    id: value.id,
    model: value.model,
    prompt: value.prompt,
    promptIds: value.prompt_ids,
    promptLength: value.prompt_ids.length,
    promptLabels: value.prompt_ids.map((id) => labels[id]),
    tokenIds: value.token_ids,
    labels: value.token_ids.map((id) => labels[id]),
    pieces: value.pieces,
    uniforms: value.uniforms,
    numFed: value.num_fed,
    cacheBytes: value.cache_bytes,
    seconds: value.seconds,
    stopReason: value.stop_reason,
    params: value.params, // that it was written under
    maxNewTokens: value.max_new_tokens,
    forced: new Set(value.forced), // steps whose token a person chose
    vocabulary: labels,
    tokenBytes: token_bytes,
    trainedLength: trained_length ?? Infinity, // a run from a file does not tell
    vocabSize: value.vocab_size,
    numSteps: value.token_ids.length,
    logits: null,
  };
  if (value.logits) {
    run.logits = new Float32Array(bytesOf(value.logits).buffer);
    rankRun(run);
  }
  return run;
}

function bytesOf(base64) {
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let place = 0; place < letters.length; place += 1) bytes[place] = letters.charCodeAt(place);
  return bytes;
}
