// What race.js shows: its elements, and how each part stands.

import * as comparison from "../../page/js/comparison.js";
import { systemWords } from "../../page/js/conditions.js";
import { count, milliseconds } from "../../page/js/numbers.js";
import { node, pool, say, svg } from "../../page/js/svg.js";
import { cellOf, fill } from "../../page/js/table.js";
import * as words from "../../page/js/words.js";

/** @typedef {import("../../page/js/types.js").Comparison} Comparison */
/** @typedef {"on" | "off"} SideName */
/** @typedef {ReturnType<typeof build>} View */

const { SIDES } = comparison;

/** @param {HTMLElement} element */
export function build(element) {
  const empty = node("p.empty-note", { role: "status" }, element);
  const stage = node("div.race", {}, element);
  const head = node("div.race-head", {}, stage);
  const verdict = node("p.verdict", {}, head);
  const ratios = node("div.race-ratios", {}, head);
  const stale = node("p.race-stale", { role: "status" }, stage);
  const text = { on: textLine(stage), off: textLine(stage) };
  const after = node("p.race-after", {}, stage);
  const columns = node("div.race-sides", {}, stage);
  const sides = { on: buildSide(columns, "on"), off: buildSide(columns, "off") };
  const picture = svg("svg.race-picture", {}, stage);
  const settings = node("p.race-settings", {}, stage);
  const foot = node("div.race-foot", {}, stage);
  const replay = node("button.small-button", { type: "button" }, foot);
  const numbers = node("details.race-numbers", {}, foot);
  node("summary", {}, numbers, words.say("cache_on_off.work.numbers"));
  const table = node("table.fact-table", {}, node("div.race-scroll", { tabindex: 0, role: "group" }, numbers));
  return { empty, stage, verdict, ratios, settings, stale, text, after, sides, picture, replay, numbers, table };
}

/** @param {Element} parent */
function textLine(parent) {
  const line = node("div.race-text", {}, parent);
  const name = node("span.race-label", {}, line);
  return { line, name, tokens: node("div.race-tokens", { role: "list" }, line) };
}

/** @param {Element} parent @param {SideName} side */
function buildSide(parent, side) {
  const title = words.say(`cache_on_off.race.side.${side}`);
  const box = node(/** @type {any} */ (`section.race-side.is-${side}`), { "aria-label": title }, parent);
  node("h2", {}, box, title);
  const clock = node("span.race-clock", {}, box);
  const label = node("span.race-label", {}, box);
  node("p.race-how", {}, box, words.say(`cache_on_off.race.how.${side}`));
  return { clock, label };
}

/** @param {View} view @param {Comparison} value @param {{ isRunning: boolean, isStopped: boolean, isStale: boolean }} state */
export function drawHead({ verdict, ratios, settings, stale }, value, { isRunning, isStopped, isStale }) {
  const { result, again } = value;
  if (result && !isRunning) comparison.drawVerdict(verdict, result);
  else {
    const key = isStopped ? "stopped" : again ? "again" : "writing";
    say(verdict, words.say(`cache_on_off.race.${key}`, again ?? {}));
    verdict.classList.remove("is-good", "is-bad");
  }
  const pairs = result ? comparison.keyRatios(result) : [];
  const cells = pool(ratios, pairs.length, () => {
    const cell = node("div.race-finding");
    node("span.race-factor", {}, cell);
    node("span.race-label", {}, cell);
    return cell;
  });
  for (const [index, pair] of pairs.entries())
    for (const [part, text] of pair.entries()) say(cells[index].children[part], text);
  const { kind, model, prompt, system, prompt_length: length, asked, past_stop, params } = value;
  const behind = system ? ` · ${systemWords(system)}` : "";
  const facts = { model, prompt, behind, length, asked, past_stop: Number(past_stop), ...params };
  say(settings, words.say(`cache_on_off.race.settings.${kind === "course" ? "course" : "own"}`, facts));
  say(stale, isStale && !isRunning ? words.say("cache_on_off.race.stale") : "");
  stale.hidden = !stale.textContent;
}

/** The first step where both sides have a token, and not the same; -1: none. @param {Comparison} value */
export function firstDifference({ sides: { on, off } }) {
  return on.token_ids.findIndex((id, index) => index < off.token_ids.length && id !== off.token_ids[index]);
}

/** One line while the two are the same, else one for each. @param {View} view @param {Comparison} value @param {Record<SideName, number>} done tokens of each */
export function drawText({ text, after }, value, done) {
  const different = firstDifference(value);
  const isOne = different < 0;
  text.off.line.hidden = isOne;
  const longer = value.sides.off.labels.length > value.sides.on.labels.length ? "off" : "on";
  for (const [side, shown] of /** @type {[SideName, SideName][]} */ ([
    ["on", isOne ? longer : "on"],
    ["off", "off"],
  ])) {
    const { tokens, name } = text[side];
    const label = words.say(isOne ? "cache_on_off.race.shared" : `cache_on_off.race.side.${side}`);
    say(name, label);
    tokens.setAttribute("aria-label", label);
    const { labels, fed, token_ids } = value.sides[shown];
    const chips = pool(tokens, labels.length, () => node("span.race-token", { role: "listitem", translate: "no" }));
    for (const [index, label] of labels.entries()) {
      const [made, both] = isOne
        ? [Math.max(done.on, done.off), Math.min(done.on, done.off)]
        : [done[side], done[side]];
      say(chips[index], label);
      chips[index].dataset.state = index < both ? "both" : index < made ? "one" : "none";
      chips[index].classList.toggle("is-different", index === different);
      chips[index].classList.toggle("is-past", value.ends !== null && index > value.ends);
      const title = words.say("cache_on_off.race.token", { token: index + 1, id: token_ids[index], fed: fed[index] });
      if (chips[index].title !== title) chips[index].title = title;
    }
  }
  const isPast = value.ends !== null && value.ends < value.sides[longer].labels.length - 1;
  say(after, isPast ? words.say("cache_on_off.race.past_end", { token: (value.ends ?? 0) + 1 }) : "");
  after.hidden = !isPast;
}

/**
 * The clocks: a moment of the replay, or where they stand, in the end with their range.
 * @param {View} view @param {Comparison} value @param {Record<SideName, number>} done @param {number | null} seconds of the replay
 */
export function drawSides({ sides }, { sides: written, result }, done, seconds) {
  for (const side of SIDES) {
    const total = result?.sides[side].total_seconds ?? written[side].clock.at(-1) ?? 0;
    say(sides[side].clock, milliseconds(seconds === null ? total : Math.min(seconds, total)));
    const range = seconds === null ? result?.sides[side].total_range : null;
    const facts = { made: done[side], low: range?.[0] ?? 0, high: range?.[1] ?? 0, repeats: result?.repeats ?? 0 };
    say(sides[side].label, words.say(`cache_on_off.race.clock.${range ? "over" : "running"}`, facts));
  }
}

/** What was computed at each step, made when it is opened. @param {View} view @param {Comparison} value */
export function drawTable({ numbers, table }, { sides: { on, off } }) {
  const steps = numbers.open ? Math.max(on.fed.length, off.fed.length) : 0;
  if (!steps) return;
  const lines = pool(table, steps + 1, () => node("tr"));
  const names = ["step", "with", "without"].map((name) => words.say(`cache_on_off.work.column.${name}`));
  fill(lines[0], names, () => node("th", { scope: "col" }));
  for (let step = 0; step < steps; step += 1) {
    const cells = [step + 1, on.fed[step], off.fed[step]].map((each) => (each === undefined ? "" : count(each)));
    fill(lines[step + 1], cells, cellOf);
  }
}
