// One answer twice, with the cache and without: what came out, in words. The numbers are those of result_facts in
// tabs/cache_on_off/race_values.py; the first tab and the tab of the cache say them alike.

import * as numbers from "./numbers.js";
import { node, pool, say } from "./svg.js";
import * as words from "./words.js";

/** @typedef {import("./types.js").ComparisonResult} ComparisonResult */
/** @typedef {{ key: string, name: string, on: string, off: string, ratio: string }} Row */

export const SIDES = /** @type {const} */ (["on", "off"]);
const CLEARLY = 1.1; // how many times as long the slower side takes in every repeat, to be called slower
const ABOUT = 1.3; // and at most in any repeat, to be called equal
const NAMES = [
  ["trillion", 1e12],
  ["billion", 1e9],
  ["million", 1e6],
];

/** Whether the two texts are equal; where they are not, at which token they diverge and what can have done it. @param {ComparisonResult} result */
export function verdict({ equal, new_tokens: count, first_difference: step, gap_there, diverged_by }) {
  if (equal || step === null) return words.say("cache_on_off.comparison.equal", { count });
  const facts = { token: step + 1, there: gap_there ?? 0 };
  return words.say(`cache_on_off.comparison.diverged.${diverged_by ?? "unexplained"}`, facts);
}

/** How far the logits of the two sides lie apart. @param {ComparisonResult} result */
export function gapWords({ largest_gap: gap }) {
  return words.say(`cache_on_off.comparison.${gap ? "gap" : "no_gap"}`, { gap });
}

/** Exact counts, then seconds with the range of their ratio over the repeats. @param {ComparisonResult} result @returns {Row[]} */
export function rows(result) {
  const { on, off } = result.sides;
  const exact = (/** @type {"fed" | "multiply_adds"} */ key, /** @type {(value: number) => string} */ spelled) => ({
    ...row(key),
    on: spelled(on[key]),
    off: spelled(off[key]),
    ratio: numbers.ratio(off[key] / on[key]),
  });
  const timed = (/** @type {"first" | "later" | "total"} */ key) => {
    const [one, other] = [on[`${key}_seconds`], off[`${key}_seconds`]];
    const range = result.time_ranges[key];
    return {
      ...row(key),
      on: one === null ? "–" : numbers.milliseconds(one),
      off: other === null ? "–" : numbers.milliseconds(other),
      ratio: range ? spelledRange(range) : "–",
    };
  };
  const { cache_tokens: tokens, cache_bytes: bytes, read_again: count } = result;
  return [
    exact("fed", numbers.count),
    exact("multiply_adds", large),
    timed("first"),
    timed("later"),
    timed("total"),
    { ...row("cache"), on: words.say("cache_on_off.comparison.kept", { tokens, bytes }) },
    { ...row("again"), on: words.say("cache_on_off.comparison.read_again", { count }) },
  ];
}

/** @param {string} key @returns {Row} */
function row(key) {
  const name = words.say(`cache_on_off.comparison.row.${key}`);
  const off = { cache: "cache_on_off.comparison.nothing_kept", again: "cache_on_off.comparison.all_again" }[key];
  return { key, name, on: "", off: off ? words.say(off) : "", ratio: "" };
}

/** "2.1–2.4 ×", or one number where both are spelled alike. @param {[number, number]} range */
export function spelledRange([low, high]) {
  if (numbers.ratio(low) === numbers.ratio(high)) return numbers.ratio(low);
  return words.say("cache_on_off.comparison.range", { low, high });
}

/**
 * What clocks allow to be said of two sides: neither is called faster where a repeat hardly shows it.
 * @param {[number, number]} range  of the ratio off / on, over the repeats
 * @returns {{ kind: "faster" | "slower" | "same" | "unclear", range: [number, number] }}
 */
export function timeFinding([low, high]) {
  if (low > CLEARLY) return { kind: "faster", range: [low, high] };
  if (high < 1 / CLEARLY) return { kind: "slower", range: [1 / high, 1 / low] };
  return { kind: low > 1 / ABOUT && high < ABOUT ? "same" : "unclear", range: [low, high] };
}

/** The three ratios that matter, each with what it is. @param {ComparisonResult} result @returns {[string, string][]} */
export function keyRatios({ sides: { on, off }, token_ratio, time_ranges, repeats }) {
  const { kind, range } = timeFinding(time_ranges.total);
  return [
    [numbers.ratio(token_ratio), words.say("cache_on_off.comparison.fewer_tokens")],
    [numbers.ratio(off.multiply_adds / on.multiply_adds), words.say("cache_on_off.comparison.fewer_multiply_adds")],
    [spelledRange(range), words.say(`cache_on_off.comparison.time.${kind}`, { repeats })],
  ];
}

/** From which token on the cached side leads, where that is more than chance. @param {ComparisonResult} result */
export function leadWords({ pays_from, repeats, new_tokens }) {
  if (repeats < 2 || new_tokens < 2) return "";
  if (pays_from === null) return words.say("cache_on_off.comparison.no_lead");
  return words.say("cache_on_off.comparison.lead", { token: pays_from + 1, repeats });
}

/** What the formulas say of the tokens fed, and whether it came out. @param {ComparisonResult} result */
export function counted({ sides, expected, prompt_length, new_tokens }) {
  const matches = SIDES.every((side) => sides[side].fed === expected[side]);
  const facts = { on: expected.on, off: expected.off, prompt: prompt_length, new: new_tokens };
  return words.say(`cache_on_off.comparison.${matches ? "counted" : "miscounted"}`, facts);
}

/** Why so many times fewer tokens are not so many times fewer seconds, with the numbers of this run. @param {ComparisonResult} result */
export function whyNotAsFast({ last_pass, token_ratio, num_weights }) {
  if (!last_pass) return words.say("cache_on_off.comparison.nothing_to_save");
  const { fed, times } = last_pass;
  return words.say("cache_on_off.comparison.why", { token_ratio, fed, times, weights: num_weights });
}

/** How far to trust the seconds; "" for a quiet run. @param {ComparisonResult} result */
export function noise({ spread, noisy }) {
  if (spread === null) return words.say("cache_on_off.comparison.one_run");
  return noisy ? words.say("cache_on_off.comparison.noisy", { spread }) : "";
}

/** A number of many digits: 15.2 billion. @param {number} value */
export function large(value) {
  for (const [name, size] of NAMES) {
    const amount = Number((value / Number(size)).toPrecision(3));
    if (amount >= 1) return words.say(`cache_on_off.large.${name}`, { amount });
  }
  return numbers.count(value);
}

/** A table of both sides, its rows filled by `draw`. @param {Element} parent @param {string} kind classes of the table */
export function comparisonTable(parent, kind) {
  const table = node(`table.compare-table${kind}`, {}, parent);
  const titles = node("tr", {}, node("thead", {}, table));
  node("td", {}, titles);
  for (const key of ["on", "off", "ratio"])
    node("th", { scope: "col" }, titles, words.say(`cache_on_off.comparison.column.${key}`));
  const body = node("tbody", {}, table);
  return {
    table,
    /** @param {Row[]} shown */
    draw(shown) {
      const lines = pool(body, shown.length, () => {
        const line = node("tr");
        node("th", { scope: "row" }, line);
        for (const kind of ["td.is-on", "td.is-off", "td.race-ratio"]) node(/** @type {any} */ (kind), {}, line);
        return line;
      });
      shown.forEach(({ name, on, off, ratio }, index) => {
        const cells = lines[index].children;
        for (const [place, text] of [name, on, off, ratio].entries()) say(cells[place], text);
      });
    },
  };
}

/** Says the verdict in an element, in the colour of what came out. @param {Element} element @param {ComparisonResult} result */
export function drawVerdict(element, result) {
  say(element, verdict(result));
  element.classList.toggle("is-good", result.equal);
  element.classList.toggle("is-bad", !result.equal);
}
