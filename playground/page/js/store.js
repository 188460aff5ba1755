// What all pictures share: the recorded run, the sliders, and everything else that is chosen on the page.
// A listener names the keys that it reads, and hears of a change to one of them once in the next animation frame.

import { recipeOf } from "./recipe.js";
import { reread } from "./reread.js";

/** @typedef {import("./types.js").State} State */

/** @type {Set<{ keys: (keyof State)[] | null, listener: import("./types.js").Listener }>} */
const listeners = new Set();
/** @type {State} */
let state = {
  run: null,
  params: null,
  step: 0,
  cacheStep: null,
  isPlaying: false,
  num_tokens: null,
  reason: "mask",
  hover: null,
  log: false,
  dark: false,
  layer: null,
  position: null,
  head: -1,
  stage: 0,
  bar: null,
  answers: { asked: null, job: null, problem: null, value: null },
  maskScores: [1, 2, 3],
  compareBy: "tokens",
  knob: "temperature",
  second: null,
  answerRows: null,
  race: null,
  live: true,
  branches: [],
  pinned: null,
  question: null,
  hand: {
    kind: "probs",
    tokens: [
      ["A", 0.5],
      ["B", 0.25],
      ["C", 0.125],
      ["D", 0.125],
    ],
    uniform: 0.4,
  },
  comparison: null,
  pair: null,
  pairStep: 0,
  fork: null,
  next: "",
  ask: null,
  job: null,
  reread: null,
  recipe: null,
};
let worked = state; // what `reread` and `recipe` were last worked out for
let told = state; // what the listeners last heard of
let scheduled = false;

/** @type {import("./types.js").Store} */
export const store = {
  get() {
    workOut();
    return state;
  },
  /** Merges `patch`. However many changes come before the next frame, it is one for the listeners. */
  set(patch) {
    state = { ...state, ...patch };
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(tell);
  },
  /** `keys` null: hears of every frame in which something was set. Returns a function that ends it. */
  on(keys, listener) {
    const entry = { keys, listener };
    listeners.add(entry);
    return () => listeners.delete(entry);
  },
};

function tell() {
  scheduled = false;
  workOut();
  const [before, now] = [told, state]; // what a listener sets meanwhile belongs to the next frame
  told = now;
  for (const { keys, listener } of listeners) {
    if (keys === null || keys.some((key) => now[key] !== before[key])) listener(now);
  }
}

/** The same numbers for every picture, worked out once for a run and the present sliders. */
function workOut() {
  const { run, params } = state;
  const isNewRun = run !== worked.run;
  if (!isNewRun && params === worked.params) return;
  const last = run ? Math.max(0, run.tokenIds.length - 1) : state.step;
  state = {
    ...state,
    reread: run?.logits && params ? reread(run, params) : null,
    recipe: isNewRun ? recipeOf(run) : state.recipe,
    step: Math.max(0, Math.min(state.step, last)),
  };
  worked = state;
}
