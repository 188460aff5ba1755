// What the page opens with: a run that the server made once, with its thirty answers and both runs of the comparison. It
// shows nothing itself, and it gives way to anything that a visitor has begun.

import { decode, keepVocabulary, show } from "../../page/js/run_data.js";

/** @param {HTMLElement} _element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(_element, { server, store }) {
  server.opening().then(({ run, vocabulary, answers, comparison }) => {
    keepVocabulary(run.model, vocabulary);
    const state = store.get();
    if (state.run || state.job) return;
    store.set({ answers: { ...state.answers, asked: answers, value: answers }, comparison });
    show(store, decode(run, vocabulary));
  });
  return {};
}
