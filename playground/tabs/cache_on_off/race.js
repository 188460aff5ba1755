// One answer with the cache and without: what came out, the text they share, two clocks, and what each step computed.
// It is shown as it goes. A replay in slow motion is played when somebody asks for it.

import { announce } from "../../page/js/announce.js";
import * as comparison from "../../page/js/comparison.js";
import { follower, isUnderWay, jobWords, nextNumber } from "../../page/js/jobs.js";
import { say } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { player } from "./player.js";
import { build, drawHead, drawSides, drawTable, drawText } from "./race_view.js";
import { drawWork } from "./work_picture.js";

/** @typedef {import("../../page/js/types.js").Comparison} Comparison */
/** @typedef {import("../../page/js/types.js").State} State */
/** @typedef {"on" | "off"} SideName */

const { SIDES } = comparison;
const REPLAY_SECONDS = 8; // unless the runs themselves took longer
const [LOWEST, HIGHEST] = [210, 330]; // pixels of the picture

/** When a side had each of its tokens: of the repeat that all numbers are of, or as far as the first one is. @param {Comparison} value @param {SideName} side */
export function clockOf({ result, sides }, side) {
  if (!result) return sides[side].clock;
  let total = 0;
  return result.sides[side].seconds.map((seconds) => {
    total += seconds;
    return total;
  });
}

/** Seconds of the slower clock. @param {Comparison | null} value */
export const endOf = (value) => (value ? Math.max(0, ...SIDES.map((side) => clockOf(value, side).at(-1) ?? 0)) : 0);

/** How many tokens a side had after so many seconds. @param {number[]} clock @param {number} seconds */
export const madeAfter = (clock, seconds) => clock.filter((each) => each <= seconds + 1e-9).length;

/**
 * Whether the page is set to something else than what was run. The prompt of the course is its own, and only a run of
 * the bar's length depends on that.
 * @param {Comparison} value @param {Pick<State, "bar" | "params">} page
 */
export function isStale({ kind, model, prompt, system, params: ran }, { bar, params }) {
  if (bar && (bar.model !== model || (kind !== "course" && bar.prompt !== prompt))) return true;
  if (system !== undefined && params && params.system !== system) return true;
  const differs = (/** @type {string} */ name) => params?.[name] !== undefined && params[name] !== ran[name];
  return Object.keys(ran).some((name) => differs(name) && (name !== "max_new_tokens" || kind === "bar"));
}

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const view = build(element);
  /** @type {Comparison | null} */
  let value = null;
  /** @type {Comparison | null} the newest in the store that was looked at here */
  let adopted = null;
  let isOpened = false; // the tab was in sight before
  /** @type {import("../../page/js/jobs.js").Job | null} */
  let job = null;
  const rate = () => Math.min(1, endOf(value) / REPLAY_SECONDS) || 1;
  const clock = player({ end: () => endOf(value), rate, show: draw, seen: draw });
  const jobs = follower({
    buttons: ["#race-start", "#race-bar", "#race-course"],
    tell: (told) => {
      job = told;
      if (told.state === "queued" || told.state === "failed") show(null);
      draw();
    },
  });

  /** @param {Comparison | null} given */
  function show(given) {
    if (given?.id !== value?.id) clock.reset();
    value = given;
    if (api.store.get().race !== given) api.store.set({ race: given });
  }

  /** A job's last value may come twice. */
  function end() {
    if (job?.state !== "done" || !value?.result || adopted?.id === value.id) return;
    adopted = value;
    api.store.set({ comparison: value });
    announce([comparison.verdict(value.result), ...comparison.keyRatios(value.result)[0]].join(" "));
  }

  function draw() {
    const isRunning = isUnderWay(job);
    element.dataset.phase = value ? (isRunning ? "running" : (job?.state ?? "done")) : isRunning ? "waiting" : "empty";
    say(view.empty, jobWords(job) || words.say("cache_on_off.race.empty"));
    view.empty.hidden = Boolean(value);
    view.stage.hidden = !value;
    if (!value || !api.width) return; // a replay goes on while another tab is looked at
    const shown = value;
    const made = (/** @type {SideName} */ side) => {
      const times = clockOf(shown, side);
      return clock.playing ? madeAfter(times, clock.seconds) : times.length;
    };
    const done = { on: made("on"), off: made("off") };
    drawHead(view, shown, { isRunning, isStopped: job?.state === "stopped", isStale: isStale(shown, api.store.get()) });
    drawText(view, shown, done);
    drawSides(view, shown, done, clock.playing ? clock.seconds : null);
    drawTable(view, shown);
    const fed = (/** @type {SideName} */ side) => shown.sides[side].fed.slice(0, done[side]);
    const work = { promptLength: shown.prompt_length, fedWith: fed("on"), fedWithout: fed("off") };
    const height = Math.round(Math.max(LOWEST, Math.min(HIGHEST, api.width * 0.26)));
    drawWork(view.picture, { ...work, numSteps: shown.max_new }, { width: api.width, height });
    view.replay.hidden = isRunning || !shown.result;
    say(
      view.replay,
      words.say(`cache_on_off.race.${clock.playing ? "end_replay" : "replay"}`, { times: Math.round(1 / rate()) }),
    );
  }

  view.replay.addEventListener("click", () => {
    if (!clock.playing) return clock.play(0);
    clock.reset();
    draw();
  });

  view.numbers.addEventListener("toggle", draw);

  /** Two short runs, when the tab is opened and nothing was run before: Python sees to it that they take no time. */
  function ask() {
    const number = nextNumber();
    jobs.expect(number);
    api.setValue({ number });
    api.trigger("asked");
  }

  return {
    update(given) {
      if (!jobs.hear(given)) return;
      if (given?.sides) show(given);
      end();
      draw();
    },
    reads: ["comparison", "bar", "params"],
    /** A comparison of the first tab is shown here too, as long as it is of what the page is set to. */
    draw(state) {
      const { comparison: newest } = state;
      if (newest && newest !== adopted && !isUnderWay(job) && !isStale(newest, state)) {
        job = null;
        show(newest);
      }
      adopted = newest;
      if (!isOpened && !value && !job) ask();
      isOpened = true;
      draw();
    },
  };
}
