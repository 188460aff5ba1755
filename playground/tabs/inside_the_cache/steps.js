// Walks through the steps of the answer: a slider for the hand, Play for watching. The pictures of the cache stand at
// the last step, whatever step the other tabs look at; they play once when they are first seen.

import { node, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

const PLAY_MS = 3000; // for the whole answer
const STEP_MS = 250; // for one step of a short one
/** How far each key goes. @type {Record<string, number>} */
const MOVES = { ArrowRight: 1, ArrowLeft: -1 };

/** @typedef {import("../../page/js/types.js").State} State */

/** The last step of the answer. @param {Pick<State, "run">} state */
export const lastStep = ({ run }) => Math.max(0, (run?.numSteps ?? 1) - 1);

/** The step that the pictures of this tab stand at. @param {Pick<State, "run" | "cacheStep">} state */
export function stepOf(state) {
  const last = lastStep(state);
  return Math.min(state.cacheStep ?? last, last);
}

/** Where Play is after so many milliseconds. @param {number} elapsed @param {number} from @param {number} last */
export function playedTo(elapsed, from, last) {
  const duration = Math.min(PLAY_MS, STEP_MS * last);
  return Math.min(last, from + Math.floor((elapsed / Math.max(1, duration)) * last));
}

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  element.classList.add("steps");
  const { store } = api;
  const play = node("button.small-button.steps-play", { type: "button" }, element);
  const name = words.say("inside_the_cache.steps.slider");
  const range = node("input.steps-range", { type: "range", min: 0, step: 1, "aria-label": name }, element);
  const caption = node("span.steps-words", {}, element);
  const player = playerOf(store, () => element.offsetParent !== null, draw);
  let played = ""; // the answer that has played here

  play.addEventListener("click", () => (player.isOn() ? player.stop() : player.start()));
  range.addEventListener("input", () => {
    const cacheStep = Number(range.value);
    player.stop(); // draws, and so puts the slider where the pictures stand
    store.set({ cacheStep });
  });
  document.addEventListener(
    "keydown",
    (event) => {
      const by = element.offsetParent && isForThePage(event) ? (MOVES[event.key] ?? 0) : 0;
      if (!by || event.defaultPrevented) return;
      event.preventDefault(); // or it would move the step of the other tabs
      player.stop();
      store.set({ cacheStep: Math.max(0, Math.min(lastStep(store.get()), stepOf(store.get()) + by)) });
    },
    true,
  );

  function draw(state = store.get()) {
    const { run } = state;
    for (const part of [play, range, caption]) part.hidden = !run; // a hidden panel itself would never be drawn again
    if (!run) return;
    const [step, last] = [stepOf(state), lastStep(state)];
    say(play, words.say(player.isOn() ? "inside_the_cache.steps.pause" : "inside_the_cache.steps.play"));
    play.disabled = range.disabled = last === 0;
    set(range, { max: last, "aria-valuetext": words.say("inside_the_cache.steps.place", { step, last }) });
    range.value = String(step);
    range.style.setProperty("--filled", `${(100 * step) / Math.max(1, last)}%`);
    const key = step === 0 ? "prompt" : "token";
    say(caption, words.say(`inside_the_cache.steps.${key}`, { step, last, token: run.labels[step - 1] ?? "" }));
  }

  /** @param {State} state */
  function follow(state) {
    if (state.run?.logits && state.run.id !== played) {
      played = state.run.id;
      store.set({ cacheStep: null });
      if (!matchMedia("(prefers-reduced-motion: reduce)").matches) player.start();
    }
    draw(); // Play has begun at another step
  }

  return { reads: ["run", "cacheStep"], draw: follow };
}

/** Nothing is in focus that has arrow keys of its own. @param {KeyboardEvent} event */
function isForThePage({ target, ctrlKey, metaKey, altKey }) {
  return !ctrlKey && !metaKey && !altKey && target instanceof Element && target.matches("body, button:not([role])");
}

/** Plays from the step where it stands, from the first one if that is the last.
 * @param {import("../../page/js/types.js").Store} store @param {() => boolean} isSeen @param {() => void} draw */
function playerOf(store, isSeen, draw) {
  let playing = 0; // the newest start; 0: none
  let count = 0;

  function stop() {
    playing = 0;
    store.set({ isPlaying: false });
    draw();
  }

  function start() {
    const number = ++count;
    const begun = performance.now();
    const from = stepOf(store.get()) >= lastStep(store.get()) ? 0 : stepOf(store.get());
    playing = number;
    function frame() {
      if (playing !== number) return;
      const last = lastStep(store.get());
      const step = playedTo(performance.now() - begun, from, last);
      const isOn = step < last && isSeen();
      store.set({ cacheStep: isOn ? step : null, isPlaying: isOn });
      if (isOn) requestAnimationFrame(frame);
      else stop();
    }
    frame();
    draw();
  }

  return { start, stop, isOn: () => playing > 0 };
}
