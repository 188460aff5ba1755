// What the pictures of two models compute: where to look first, what the two have in common, which bars stand in a row.

import { isKept } from "../../page/js/reread.js";

/**
 * @typedef {import("../../page/js/types.js").Pair} Pair
 * @typedef {import("../../page/js/types.js").Run} Run
 * @typedef {import("../../page/js/types.js").StepReread} StepReread
 * @typedef {import("../../page/js/words.js").Told} Told
 * @typedef {{ now: StepReread, run: Run }} Side  one model at the step looked at
 * @typedef {{ model: number, prob: number, kept: boolean, sampled: boolean, isEstimate: boolean }} Bar  probabilities by the
 *   model and after all stages; isEstimate: the one that is written beside it
 * @typedef {{ label: string | null, chosen: boolean, bars: [Bar | null, Bar | null] }} Row  label null: all others
 */

const TOKENS = 7; // with a row of their own
const SMALLEST = 0.001; // of a bar that can be seen

/** Bits, null being infinite. @param {number | null} bits */
export const bitsOf = (bits) => bits ?? Infinity;

/** The mean and the largest of all steps. @param {(number | null)[]} kl */
export function klFacts(kl) {
  const bits = kl.map(bitsOf);
  return { mean: bits.reduce((sum, one) => sum + one, 0) / bits.length, most: Math.max(...bits) };
}

/** The step to look at first: where the answers diverge, or else where the distributions are furthest apart. @param {Pair} pair */
export function firstStep({ different, columns, left, kl }) {
  const last = left.numSteps - 1;
  if (different !== null) return Math.min(columns[different][0], last);
  const bits = (kl ?? [0]).map(bitsOf);
  return bits.indexOf(Math.max(...bits));
}

/** In one sentence. @param {Pair} pair @returns {Told} */
export function verdict({ different, equal, answers, kl }) {
  const name = different === null ? "all_same" : kl ? "tokens_same" : "text_same";
  return { key: `two_models.verdict.${name}`, facts: { equal, count: answers[0].length } };
}

/** Were the answers written with other settings than these? @param {Pair} pair @param {Record<string, any>} params */
export function isMoved({ system, left: { params: written } }, params) {
  if (system !== null && system !== params.system) return true;
  return Object.keys(written).some((name) => (params[name] ?? written[name]) !== written[name]);
}

/**
 * The most likely tokens of both by their text, then all others. Where the right one has no step, only the left one's.
 * @param {Side} left @param {Side | null} right @returns {Row[]}
 */
export function rowsOf(left, right) {
  const sides = [left, right];
  const labels = new Set([labelAt(left, left.now.chosenPlace)]);
  for (const side of sides) if (side) for (const place of placesOf(side)) labels.add(labelAt(side, place));
  const places = sides.map((side) => side && placesByLabel(side, labels));
  const rows = [...labels].map((label) => ({
    label,
    chosen: label === labelAt(left, left.now.chosenPlace),
    bars: /** @type {Row["bars"]} */ (sides.map((side, index) => side && barAt(side, places[index]?.get(label)))),
  }));
  const kept = rows.sort((one, other) => weight(other) - weight(one)).slice(0, TOKENS);
  if (!kept.some(({ chosen }) => chosen)) kept[TOKENS - 1] = rows.find(({ chosen }) => chosen) ?? kept[TOKENS - 1];
  return [...kept, othersOf(kept)];
}

/** Those that come first, as long as their bars can be seen and they have names (see binned.js). @param {Side} side */
function placesOf({ now, run }) {
  const places = Array.from({ length: TOKENS }, (_, index) => now.start + index).filter(
    (place) => place < now.ranking.length && now.modelProbs[place] >= SMALLEST,
  );
  return [...places, now.sampledPlace].filter((place) => now.ranking[place] < run.vocabSize);
}

/** @param {Side} side @param {number} place */
const labelAt = ({ now, run }, place) => run.vocabulary[now.ranking[place]];

/** @param {Side} side @param {Set<string>} labels @returns {Map<string, number>} */
function placesByLabel(side, labels) {
  const found = new Map();
  for (let place = 0; place < side.now.ranking.length && found.size < labels.size; place += 1) {
    const label = labelAt(side, place);
    if (labels.has(label) && !found.has(label)) found.set(label, place);
  }
  return found;
}

/** A token that this model does not have has no probability; of a large vocabulary it may be one that was not sent by name.
 * @param {Side} side @param {number | undefined} place @returns {Bar} */
function barAt({ now, run }, place) {
  const isLarge = run.vocabulary.length > run.vocabSize;
  if (place === undefined) return { model: 0, prob: 0, kept: false, sampled: false, isEstimate: isLarge };
  const kept = isKept(now, place);
  const isEstimate = kept ? now.estimated.probs : now.estimated.modelProbs;
  const sampled = place === now.sampledPlace;
  return { model: now.modelProbs[place], prob: now.probs[place], kept, sampled, isEstimate };
}

/** By its longest bar; tokens that nobody keeps come last. @param {Row} row */
function weight({ bars }) {
  const longest = (/** @type {"prob" | "model"} */ name) => Math.max(...bars.map((bar) => bar?.[name] ?? 0));
  return longest("prob") + longest("model") / 1000;
}

/** @param {Row[]} rows @returns {Row} */
function othersOf(rows) {
  const bars = [0, 1].map((side) => {
    if (!rows[0].bars[side]) return null;
    const isEstimate = rows.some(({ bars }) => bars[side]?.isEstimate);
    const left = (/** @type {"prob" | "model"} */ name) =>
      Math.max(
        0,
        rows.reduce((rest, { bars: own }) => rest - (own[side]?.[name] ?? 0), 1),
      );
    const prob = left("prob");
    return { model: left("model"), prob, kept: prob > SMALLEST / 100, sampled: false, isEstimate };
  });
  return { label: null, chosen: false, bars: /** @type {Row["bars"]} */ (bars) };
}
