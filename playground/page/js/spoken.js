// What a moving slider did, for those who don't see the bars: said once, when the hand has rested.

import { announce } from "./announce.js";
import { countTold, probTold, rereadStep } from "./reread.js";
import { store } from "./store.js";
import * as words from "./words.js";

const REST_MS = 800;

/** From now on. */
export function speakOfSliders() {
  let timer = 0;
  let before = store.get().params;
  store.on(["params"], ({ params }) => {
    clearTimeout(timer);
    if (before) timer = window.setTimeout(tell, REST_MS); // not the first, which nobody moved
    before = params;
  });
}

function tell() {
  const { run, params, step } = store.get();
  if (!run?.logits || !params) return;
  const now = rereadStep(run, params, step);
  const facts = {
    count: countTold(now),
    token: run.vocabulary[now.ranking[now.start]],
    share: probTold(now, now.start),
  };
  announce(words.say("page.distribution.spoken", facts));
}
