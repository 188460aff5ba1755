// Takes in what a run recorded and hands it to all pictures. It draws nothing itself.

import { rankRun } from "./reread.js";

const vocabularies = new Map(); // model name -> label of each token id

export function mount(_element, api) {
  async function take(value) {
    if (!value?.token_ids) return;
    if (!vocabularies.has(value.model)) vocabularies.set(value.model, await api.server.vocabulary(value.model));
    const previous = api.store.get().run;
    const run = decode(value, vocabularies.get(value.model));
    const isNew = previous?.id !== run.id;
    api.store.set({ run, ...(isNew ? { step: 0 } : {}) });
  }

  return { update: take };
}

function decode(value, vocabulary) {
  const run = {
    id: value.id,
    model: value.model,
    prompt: value.prompt,
    promptIds: value.prompt_ids,
    promptLength: value.prompt_ids.length,
    promptLabels: value.prompt_ids.map((id) => vocabulary[id]),
    tokenIds: value.token_ids,
    labels: value.token_ids.map((id) => vocabulary[id]),
    pieces: value.pieces,
    uniforms: value.uniforms,
    numFed: value.num_fed,
    cacheBytes: value.cache_bytes,
    seconds: value.seconds,
    stopReason: value.stop_reason,
    vocabulary,
    vocabSize: value.vocab_size,
    numSteps: value.token_ids.length,
    logits: null,
  };
  if (value.logits) {
    const raw = Uint8Array.from(atob(value.logits), (letter) => letter.charCodeAt(0));
    run.logits = new Float32Array(raw.buffer);
    rankRun(run);
  }
  return run;
}
