// The two sides of race.js: their elements, and how a side stands at a moment of the replay.

import { SIDES } from "../../page/js/comparison.js";
import { count, milliseconds } from "../../page/js/numbers.js";
import { node, pool, say } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/** @typedef {import("../../page/js/types.js").Comparison} Comparison */
/** @typedef {"on" | "off"} SideName */
/** @typedef {ReturnType<typeof buildSide>} SideView */
/** @typedef {ReturnType<typeof build>} View */

const SPEEDS = ["auto", "1", "0.1", "0.02"];

/** @param {HTMLElement} element @param {(speed: string) => void} chooseSpeed */
export function build(element, chooseSpeed) {
  const empty = node("p.empty-note", { role: "status" }, element);
  const stage = node("div.race", {}, element);
  const columns = node("div.race-sides", {}, stage);
  const sides = { on: buildSide(columns, "on"), off: buildSide(columns, "off") };
  const status = node("p.race-status", { role: "status" }, stage);
  const playback = node("div.race-playback", {}, stage);
  const play = node("button.small-button", { type: "button" }, playback, words.say("cache_on_off.race.play.replay"));
  const range = { type: "range", min: 0, max: 1000, step: 1, value: 0 };
  const playhead = node("input", { ...range, "aria-label": words.say("cache_on_off.race.playhead") }, playback);
  const pace = node("span.race-pace", {}, playback);
  const speed = node("select", { "aria-label": words.say("cache_on_off.race.speed_label") }, playback);
  for (const [index, value] of SPEEDS.entries())
    node("option", { value }, speed, words.say(`cache_on_off.race.speed.${index}`));
  speed.addEventListener("change", () => chooseSpeed(speed.value));
  return { empty, stage, sides, status, playback, play, playhead, pace, speed };
}

/** @param {Element} parent @param {SideName} side */
function buildSide(parent, side) {
  const title = words.say(`cache_on_off.race.side.${side}`);
  const box = node(/** @type {any} */ (`section.race-side.race-${side}`), { "aria-label": title }, parent);
  const head = node("div.race-head", {}, box);
  node("h3", {}, head, title);
  node("span.race-words", {}, head, words.say(`cache_on_off.race.how.${side}`));
  const numbers = node("div.race-numbers", {}, box);
  const big = (/** @type {string} */ label) => {
    const cell = node("div", {}, numbers);
    const number = node("div.key-number.race-key", {}, cell, "0");
    node("div.race-label", {}, cell, words.say(`cache_on_off.race.label.${label}`));
    return number;
  };
  return {
    box,
    clock: big("clock"),
    fed: big("fed"),
    steps: node("p.race-steps", {}, box),
    tokens: node(
      "div.race-tokens",
      { role: "list", tabindex: 0, "aria-label": words.say("cache_on_off.race.tokens", { title }) },
      box,
    ),
  };
}

/** Before anything was run. @param {View} view */
export function drawNothing(view) {
  for (const side of SIDES) {
    const { clock, fed, steps, tokens, box } = view.sides[side];
    say(clock, "–");
    say(fed, "–");
    say(steps, " ");
    tokens.textContent = "";
    box.classList.remove("is-over");
  }
  view.playback.hidden = true;
  say(view.status, "");
}

/** @param {number[]} values */
export const sum = (values) => values.reduce((total, each) => total + each, 0);

/** Seconds of the first step, and the middle one of the later ones; null where there is none. @param {number[]} clock */
export function stepTimes(clock) {
  const steps = clock.map((at, index) => at - (index ? clock[index - 1] : 0));
  const later = steps.slice(1).sort((one, other) => one - other);
  return { first: steps[0] ?? null, later: later[later.length >> 1] ?? null };
}

/** The first step where both sides have a token, and not the same; -1: none. @param {Comparison} value */
export function firstDifference({ sides: { on, off } }) {
  return on.token_ids.findIndex((id, index) => index < off.token_ids.length && id !== off.token_ids[index]);
}

/** @param {SideView} view @param {Comparison} value @param {SideName} side @param {Record<SideName, number>} done tokens of each @param {number} seconds of the replay */
export function drawSide(view, value, side, done, seconds) {
  const { clock, fed } = value.sides[side];
  const made = done[side];
  const isOver = Boolean(value.result) && made === clock.length;
  say(view.clock, milliseconds(isOver ? (clock.at(-1) ?? 0) : seconds));
  say(view.fed, count(sum(fed.slice(0, made))));
  view.box.classList.toggle("is-over", isOver);
  const { first, later } = stepTimes(clock.slice(0, made));
  const facts = { first: first ?? 0, later: later ?? 0, num_later: made - 1, made, over: Number(isOver) };
  say(view.steps, made ? words.say("cache_on_off.race.steps", facts) : " ");
  drawTokens(view.tokens, value, side, done);
}

/** @param {HTMLElement} holder @param {Comparison} value @param {SideName} side @param {Record<SideName, number>} done */
function drawTokens(holder, value, side, done) {
  const { labels, token_ids, fed } = value.sides[side];
  const other = side === "on" ? "off" : "on";
  const made = done[side];
  const chips = pool(holder, labels.length, () => node("span.token.race-token", { role: "listitem" }));
  if (made && made !== Number(holder.dataset.made)) {
    const newest = chips[made - 1];
    holder.scrollTop = newest.offsetTop + newest.offsetHeight - holder.offsetTop - holder.clientHeight;
  }
  holder.dataset.made = String(made);
  const parted = firstDifference(value);
  const both = Math.min(done.on, done.off);
  for (const [index, label] of labels.entries()) {
    const chip = chips[index];
    say(chip, label);
    chip.classList.toggle("is-to-come", index >= made);
    const isSame = value.sides[other].token_ids[index] === token_ids[index];
    const pair = index >= both ? "" : isSame ? "equal" : "other";
    if ((chip.dataset.pair ?? "") !== pair) chip.dataset.pair = pair;
    chip.classList.toggle("is-parting", index === parted && index < both);
    const title = words.say("cache_on_off.race.token", { token: index + 1, id: token_ids[index], fed: fed[index] });
    if (chip.title !== title) chip.title = title;
  }
}
