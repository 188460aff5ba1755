// Walks through the steps of the run: a slider for the hand, Play for watching the cache grow.

import { node, say, set } from "./svg.js";
import * as words from "./words.js";

const PAUSE_MS = 120;

/** @param {HTMLElement} element @param {import("./types.js").PanelApi} api @returns {import("./types.js").Panel} */
export function mount(element, api) {
  element.classList.add("steps");
  const play = node("button.small-button.steps-play", { type: "button" }, element, words.say("page.steps.play"));
  const range = node(
    "input.steps-range",
    { type: "range", min: 0, step: 1, "aria-label": words.say("page.steps.slider") },
    element,
  );
  const caption = node("span.steps-words", {}, element);
  let timer = 0;

  const lastStep = () => (api.store.get().run?.numSteps ?? 1) - 1;

  function stop() {
    clearInterval(timer);
    timer = 0;
    say(play, words.say("page.steps.play"));
  }

  function tick() {
    const { step } = api.store.get();
    if (step >= lastStep() || element.offsetParent === null) stop();
    else api.store.set({ step: step + 1 });
  }

  play.addEventListener("click", () => {
    if (timer) return stop();
    if (api.store.get().step >= lastStep()) api.store.set({ step: 0 });
    say(play, words.say("page.steps.pause"));
    timer = window.setInterval(tick, PAUSE_MS);
  });
  range.addEventListener("input", () => {
    stop();
    api.store.set({ step: Number(range.value) });
  });

  /** @type {import("./types.js").Listener} */
  function draw({ run, step }) {
    hide(!run);
    if (!run) return;
    const last = lastStep();
    play.disabled = range.disabled = last === 0;
    set(range, { max: last, "aria-valuetext": words.say("page.steps.place", { step, last }) });
    range.value = String(step);
    range.style.setProperty("--filled", `${(100 * step) / Math.max(1, last)}%`);
    const token = run.labels[step - 1];
    say(
      caption,
      step === 0 ? words.say("page.steps.prompt", { last }) : words.say("page.steps.token", { step, last, token }),
    );
  }

  /** The parts: a hidden panel itself would never be drawn again. @param {boolean} hidden */
  function hide(hidden) {
    for (const part of [play, range, caption]) part.hidden = hidden;
  }

  hide(true);
  return { reads: ["run", "step"], draw };
}
