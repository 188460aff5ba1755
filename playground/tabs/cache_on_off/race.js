// Two runs side by side: the tokens as each made them, and their clocks. When the runs were too quick to watch, their
// recorded clocks are played again in slow motion; what came out (race_result.js) is shown when that has been seen.

import { SIDES } from "../../page/js/comparison.js";
import { follower, isUnderWay, jobWords } from "../../page/js/jobs.js";
import { decimals, milliseconds } from "../../page/js/numbers.js";
import { say } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { player } from "./player.js";
import { build, drawNothing, drawSide } from "./race_sides.js";

/** @typedef {import("../../page/js/types.js").Comparison} Comparison */

const WATCH_SECONDS = 8; // a replay lasts this long, unless the run itself took longer
const LIVE_SECONDS = 1; // a run that takes longer than this is shown as it goes

const calm = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Seconds of the slower clock. @param {Comparison | null} value */
export const endOf = (value) => Math.max(0, ...SIDES.map((side) => value?.sides[side].clock.at(-1) ?? 0));

/** How fast a replay is, 1 as the runs were. @param {string} speed as chosen @param {number} end seconds of the runs */
export const rateOf = (speed, end) => (speed === "auto" ? Math.min(1, end / WATCH_SECONDS) : Number(speed)) || 1;

/** How many tokens a side had after so many seconds. @param {number[]} clock @param {number} seconds */
export const madeAfter = (clock, seconds) => clock.filter((each) => each <= seconds + 1e-9).length;

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const view = build(element, (speed) => api.store.set({ speed }));
  /** @type {Comparison | null} */
  let value = null;
  /** @type {Comparison | null} the newest in the store that was looked at here */
  let adopted = null;
  let isOver = false; // the whole of `value` is here
  let revealed = false; // the outcome is shown when the replay has been seen, or at once where there is none
  /** @type {import("../../page/js/jobs.js").Job | null} */
  let job = null;
  const rate = () => rateOf(api.store.get().speed, endOf(value));
  const clock = player({ end: () => endOf(value), rate, show: draw, seen: reveal });
  const jobs = follower({
    buttons: ["#race-start"],
    tell: (told) => {
      job = told;
      if (told.state === "queued" || told.state === "failed") forget();
      draw();
    },
  });

  function forget() {
    clock.reset();
    value = null;
  }

  function reveal() {
    revealed = true;
    draw();
  }

  /** A value of the job comes many times, and its last one perhaps twice. @param {Comparison} given */
  function take(given) {
    if (given.id !== value?.id) {
      clock.reset();
      revealed = isOver = false;
    }
    value = given;
  }

  /** Shows what there is now: as it goes, or when all is here. */
  function follow() {
    if (!value || isOver) return;
    isOver = !isUnderWay(job);
    // A run too quick to watch is shown when all is timed: a replay would disturb clocks that run on this machine.
    const replays = Boolean(value.result) && endOf(value) < WATCH_SECONDS / 2 && !calm();
    if (isOver && replays) clock.play(0);
    else if (isOver || endOf(value) > LIVE_SECONDS) {
      revealed = Boolean(value.result) && !replays;
      clock.seek(endOf(value));
    }
    if (job?.state === "done" && value.result) {
      adopted = value;
      api.store.set({ comparison: value });
    }
  }

  function draw() {
    const underWay = isUnderWay(job);
    element.dataset.phase = value ? (underWay ? "running" : (job?.state ?? "done")) : underWay ? "waiting" : "empty";
    say(view.empty, jobWords(job) || words.say("cache_on_off.race.empty"));
    view.empty.hidden = Boolean(value);
    if (!value) {
      drawNothing(view);
      if (api.store.get().race) api.store.set({ race: null });
      return;
    }
    const shown = value;
    const made = (/** @type {"on" | "off"} */ side) => madeAfter(shown.sides[side].clock, clock.seconds);
    const done = { on: made("on"), off: made("off") };
    for (const side of SIDES) drawSide(view.sides[side], value, side, done, clock.seconds);
    drawPlayback(view, { seconds: clock.seconds, end: endOf(value), playing: clock.playing, rate: rate() });
    view.speed.value = api.store.get().speed;
    view.playback.hidden = underWay && clock.seconds === 0;
    say(view.status, statusOf(value, job));
    view.status.hidden = !view.status.textContent;
    tell(api.store, { value, done, revealed });
  }

  view.play.addEventListener("click", () => clock.toggle());
  view.playhead.addEventListener("input", () => {
    revealed = true;
    clock.stop();
    clock.seek((Number(view.playhead.value) / 1000) * endOf(value));
  });

  return {
    update(given) {
      if (!jobs.hear(given)) return;
      if (given?.sides) take(given);
      follow();
      draw();
    },
    reads: ["comparison", "speed"],
    /** A comparison of the first tab is shown here too, and needs no replay. */
    draw({ comparison }) {
      const isNews = comparison !== adopted;
      adopted = comparison;
      if (comparison && isNews && !isUnderWay(job)) {
        job = null;
        take(comparison);
        revealed = isOver = true;
        clock.seek(endOf(value));
      }
      draw();
    },
  };
}

/** @param {Comparison} value @param {import("../../page/js/jobs.js").Job | null} job */
function statusOf({ again }, job) {
  if (job?.state === "stopped") return words.say("cache_on_off.race.stopped");
  if (!isUnderWay(job)) return "";
  return again ? words.say("cache_on_off.race.again", again) : words.say("cache_on_off.race.writing");
}

/** @param {import("./race_sides.js").View} view @param {{ seconds: number, end: number, playing: boolean, rate: number }} replay */
function drawPlayback(view, { seconds, end, playing, rate }) {
  view.playhead.value = String(end ? (1000 * seconds) / end : 0);
  view.playhead.setAttribute("aria-valuetext", milliseconds(seconds));
  const act = playing ? "pause" : seconds < end ? "go_on" : "replay";
  say(view.play, words.say(`cache_on_off.race.play.${act}`));
  const times = decimals(1 / rate, 0);
  say(view.pace, words.say(`cache_on_off.race.${1 / rate > 1.5 ? "pace_slower" : "pace"}`, { seconds, times }));
}

/**
 * A replay draws sixty times a second; the other pictures need to hear only of what is new to them.
 * @param {import("../../page/js/types.js").Store} store @param {import("../../page/js/types.js").Race} race
 */
function tell(store, race) {
  const before = store.get().race;
  const same = before?.value === race.value && before.revealed === race.revealed;
  if (!same || SIDES.some((side) => before.done[side] !== race.done[side])) store.set({ race });
}
