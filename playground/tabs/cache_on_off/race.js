// Two runs side by side: the tokens as each made them, and their clocks. When the runs were too quick to watch, their
// recorded clocks are played again in slow motion; what came out (race_result.js) is shown when that has been seen.

import { follower, isUnderWay, jobWords } from "../../page/js/jobs.js";
import { milliseconds } from "../../page/js/numbers.js";
import { node, pool, say } from "../../page/js/svg.js";

const SIDES = ["on", "off"];
const WATCH_SECONDS = 8; // a replay lasts this long, unless the run itself took longer
const LIVE_SECONDS = 1; // a run that takes longer than this is shown as it goes
const SPEEDS = [
  ["auto", "slow enough to watch"],
  ["1", "as fast as it ran"],
  ["0.1", "10 × slower"],
  ["0.02", "50 × slower"],
];

export function mount(element, api) {
  const view = build(element);
  let value = null;
  let time = 0; // seconds of the runs' own clocks that are shown
  let playing = 0; // the animation frame asked for
  let revealed = false; // the outcome is shown when the replay has been seen, or at once where there is none

  let job = null;
  const jobs = follower({
    buttons: ["#race-start"],
    tell: (told) => {
      job = told;
    },
  });

  function update(given) {
    if (!jobs.hear(given)) return;
    if (isUnderWay(job) && job.state === "running" && !given.sides) return; // nothing new
    const before = value;
    value = given?.sides ? given : null;
    element.dataset.phase = given?.phase ?? (isUnderWay(job) ? "waiting" : "empty");
    say(
      view.empty,
      jobWords(job) || "Press Start: the same prompt, settings and seed, once with the cache and once without.",
    );
    view.empty.hidden = Boolean(value);
    if (!value) {
      stop();
      drawEmpty(view);
      api.store.set({ race: null });
      return;
    }
    const isNew = before?.id !== value.id;
    if (isNew) {
      stop();
      time = 0;
      revealed = false;
    }
    const isOver = value.phase !== "running" && (isNew || before.phase === "running");
    // A run too quick to watch is shown when all is timed: a replay would disturb clocks that run on this machine.
    const replays = Boolean(value.result) && end() < WATCH_SECONDS / 2 && !calm();
    if (isOver && replays) play(0);
    else if (value.phase !== "running" || end() > LIVE_SECONDS) {
      revealed = Boolean(value.result) && !(value.phase === "running" && replays);
      show(end());
    }
    draw();
  }

  const end = () => Math.max(0, ...SIDES.map((side) => value.sides[side].clock.at(-1) ?? 0));
  const rate = () => (view.speed.value === "auto" ? Math.min(1, end() / WATCH_SECONDS) : Number(view.speed.value)) || 1;

  function show(seconds) {
    time = Math.max(0, Math.min(seconds, end()));
    draw();
  }

  function play(from) {
    stop();
    let last = null;
    show(from);
    const frame = (now) => {
      const passed = last === null ? 0 : (now - last) / 1000;
      last = now;
      show(time + passed * rate());
      playing = time < end() ? requestAnimationFrame(frame) : 0;
      if (!playing) {
        revealed = true;
        draw();
      }
    };
    playing = requestAnimationFrame(frame);
  }

  function stop() {
    cancelAnimationFrame(playing);
    playing = 0;
  }

  view.play.addEventListener("click", () => {
    if (playing) {
      stop();
      draw();
    } else if (value) play(time < end() ? time : 0);
  });
  view.speed.addEventListener("change", draw);
  view.playhead.addEventListener("input", () => {
    stop();
    revealed = true;
    show((Number(view.playhead.value) / 1000) * end());
  });

  function draw() {
    if (!value) return;
    const done = Object.fromEntries(
      SIDES.map((side) => [side, value.sides[side].clock.filter((clock) => clock <= time + 1e-9).length]),
    );
    for (const side of SIDES) drawSide(view.sides[side], value, side, done, time);
    const whole = end();
    view.playhead.value = whole ? (1000 * time) / whole : 0;
    view.playhead.setAttribute("aria-valuetext", milliseconds(time));
    say(view.play, playing ? "❚❚ Pause" : time < whole ? "▶ Go on" : "↻ Replay");
    view.playback.hidden = value.phase === "running" && time === 0;
    const slower = 1 / rate();
    say(
      view.pace,
      `${milliseconds(time)} of the runs' own clocks${slower > 1.5 ? ` · shown ${slower.toFixed(0)} × slower than they ran` : ""}`,
    );
    say(view.status, value.status ?? "");
    view.status.hidden = !value.status;
    tell(api.store, { value, done, revealed });
  }

  return { update };
}

/** A replay draws sixty times a second; the other pictures need to hear only of what is new to them. */
function tell(store, race) {
  const before = store.get().race;
  const same = ["value", "revealed"].every((key) => before?.[key] === race[key]);
  if (!same || SIDES.some((side) => before.done[side] !== race.done[side])) store.set({ race });
}

const calm = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

function build(element) {
  const view = {
    empty: node("p.empty-note", { role: "status" }, element),
    stage: node("div.race", {}, element),
    sides: {},
  };
  const columns = node("div.race-sides", {}, view.stage);
  for (const [side, title, words] of [
    ["on", "Cache on", "reads the prompt once, then feeds only the newest token"],
    ["off", "Cache off", "feeds the whole text again for every token"],
  ]) {
    const box = node(`section.race-side.race-${side}`, { "aria-label": title }, columns);
    const head = node("div.race-head", {}, box);
    node("h3", {}, head, title);
    node("span.race-words", {}, head, words);
    const numbers = node("div.race-numbers", {}, box);
    const big = (label) => {
      const cell = node("div", {}, numbers);
      const number = node("div.key-number.race-key", {}, cell, "0");
      node("div.race-label", {}, cell, label);
      return number;
    };
    view.sides[side] = {
      box,
      clock: big("on its own clock"),
      fed: big("tokens fed"),
      steps: node("p.race-steps", {}, box),
      tokens: node("div.race-tokens", { role: "list" }, box),
    };
  }
  view.status = node("p.race-status", { role: "status" }, view.stage);
  const playback = (view.playback = node("div.race-playback", {}, view.stage));
  view.play = node("button.small-button", { type: "button" }, playback, "↻ Replay");
  view.playhead = node(
    "input",
    { type: "range", min: 0, max: 1000, step: 1, value: 0, "aria-label": "Point in time of the runs" },
    playback,
  );
  view.pace = node("span.race-pace", {}, playback);
  view.speed = node("select", { "aria-label": "Speed of the replay" }, playback);
  for (const [speed, words] of SPEEDS) node("option", { value: speed }, view.speed, words);
  return view;
}

function drawEmpty(view) {
  for (const { clock, fed, steps, tokens, box } of Object.values(view.sides)) {
    say(clock, "–");
    say(fed, "–");
    say(steps, " ");
    tokens.textContent = "";
    box.classList.remove("is-over");
  }
  view.playback.hidden = true;
  say(view.status, "");
}

function drawSide(box, value, side, done, time) {
  const { clock, fed, labels } = value.sides[side];
  const made = done[side];
  const over = value.result && made === clock.length;
  say(box.clock, milliseconds(over ? clock.at(-1) : time));
  say(
    box.fed,
    fed
      .slice(0, made)
      .reduce((sum, count) => sum + count, 0)
      .toLocaleString("en"),
  );
  box.box.classList.toggle("is-over", Boolean(over));
  const steps = clock.map((at, index) => at - (index ? clock[index - 1] : 0));
  const later = steps.slice(1, made).sort((a, b) => a - b);
  say(
    box.steps,
    made === 0
      ? " "
      : `first token ${milliseconds(steps[0])}` +
          (later.length ? ` · each later one ${milliseconds(later[later.length >> 1])}` : "") +
          ` · ${made} token${made > 1 ? "s" : ""}${over ? ", done" : ""}`,
  );
  const chips = pool(box.tokens, labels.length, () => node("span.token.race-token", { role: "listitem" }));
  if (made && made !== Number(box.tokens.dataset.made)) {
    const newest = chips[made - 1];
    box.tokens.scrollTop = newest.offsetTop + newest.offsetHeight - box.tokens.offsetTop - box.tokens.clientHeight;
  }
  box.tokens.dataset.made = made;
  const other = value.sides[side === "on" ? "off" : "on"];
  const parted = firstDifference(value);
  const both = Math.min(done.on, done.off);
  labels.forEach((label, index) => {
    const chip = chips[index];
    say(chip, label);
    const isMade = index < made;
    chip.classList.toggle("is-to-come", !isMade);
    const pair =
      index < both ? (other.token_ids[index] === value.sides[side].token_ids[index] ? "equal" : "other") : "";
    if ((chip.dataset.pair ?? "") !== pair) chip.dataset.pair = pair;
    chip.classList.toggle("is-parting", index === parted && isMade && done[side === "on" ? "off" : "on"] > index);
    const title = `token ${index + 1}, id ${value.sides[side].token_ids[index]}: ${fed[index]} fed`;
    if (chip.title !== title) chip.title = title;
  });
}

function firstDifference(value) {
  const { on, off } = value.sides;
  const both = Math.min(on.token_ids.length, off.token_ids.length);
  for (let index = 0; index < both; index += 1) if (on.token_ids[index] !== off.token_ids[index]) return index;
  return -1;
}
