// What all pictures share: the recorded run, the sliders, the step looked at. One change, one picture.

import { reread } from "./reread.js";

const listeners = new Set();
let state = { run: null, params: null, step: 0, reread: null };
let scheduled = false;
let seen = { run: null, params: null }; // what state.reread was worked out for

export const store = {
  get: () => state,
  /** Merges `patch`; listeners hear of it once in the next animation frame, however many changes come before. */
  set(patch) {
    state = { ...state, ...patch };
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(() => {
      scheduled = false;
      rereadIfChanged();
      for (const listener of listeners) listener(state);
    });
  },
  subscribe(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

/** All steps of the recorded run under the present sliders: the same numbers for every picture, worked out once. */
function rereadIfChanged() {
  const { run, params } = state;
  if (run === seen.run && params === seen.params) return;
  seen = { run, params };
  state.reread = run?.logits && params ? reread(run, params) : null;
  if (run) state.step = Math.max(0, Math.min(state.step, run.tokenIds.length - 1));
}
