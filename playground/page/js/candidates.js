// What the picture of the next token shows of a step: which rows, how long their bars are, where sums stand. Numbers only.

import { isKept } from "./reread.js";

/**
 * @typedef {import("./types.js").StepReread} StepReread
 * @typedef {{ kind: "token", place: number } | { kind: "more" | "others", count: number, model: number, after: number }} Row
 *   a token; all other kept tokens; all other cut ones
 * @typedef {{ start: number, length: number }} Stretch  of the ruler from 0 to 1
 * @typedef {{ segments: (Stretch & { place: number })[], rest: Stretch & { count: number }, sampled: Stretch }} Ruler
 */

const CUT_ABOVE = 2; // rows left for what typical-p cut, where the kept tokens begin further down
const LOWEST = 1e-4; // where the logarithmic axis begins
const SMALLEST = 0.001; // of a bar that can be seen on an axis from 0 to 100 %

/**
 * The rows from top to bottom: at most `most` tokens, kept ones before cut ones, then what has no row of its own. The
 * recorded token always has one. `all`: also tokens whose bar is too short to be seen.
 * @param {StepReread} now @param {number} most @param {boolean} all
 * @returns {Row[]}
 */
export function rowsOf(now, most, all) {
  const shown = placesShown(now, most, all);
  /** @param {boolean} kept @returns {Row[]} */
  const tokens = (kept) =>
    shown
      .filter((place) => isKept(now, place) === kept && (kept || place >= now.start))
      .map((place) => ({ kind: "token", place }));
  /** @type {Row[]} */
  const above = shown.filter((place) => place < now.start).map((place) => ({ kind: "token", place }));
  const { more, others } = withoutRow(now, shown);
  return [
    ...above,
    ...tokens(true),
    ...(more.count ? [more] : []),
    ...tokens(false),
    ...(others.count ? [others] : []),
  ];
}

/** Places of the ranking, in its order. @param {StepReread} now @param {number} most @param {boolean} all */
function placesShown(now, most, all) {
  const last = now.ranking.length;
  const from = now.start + CUT_ABOVE < most ? 0 : Math.max(Math.min(now.start - CUT_ABOVE, last - most), 0);
  const places = [];
  for (let place = from; place < last && places.length < most; place += 1) {
    const share = isKept(now, place) ? now.probs[place] : now.modelProbs[place];
    if (all || share >= SMALLEST || place === now.start || place === now.chosenPlace) places.push(place);
    else if (place >= now.stop) break;
  }
  if (places.includes(now.chosenPlace)) return places;
  if (places.length === most) places.pop();
  return [...places, now.chosenPlace].sort((one, other) => one - other);
}

/** What is left for the rows of all others: how many, and their probability by the model and after all stages.
 * @param {StepReread} now @param {number[]} places  those that have a row */
function withoutRow(now, places) {
  let keptModel = keptMass(now);
  let [model, after, kept] = [1 - keptModel, 1, now.numCandidates];
  for (const place of places) {
    after -= now.probs[place];
    if (!isKept(now, place)) model -= now.modelProbs[place];
    else {
      keptModel -= now.modelProbs[place];
      kept -= 1;
    }
  }
  const cut = now.ranking.length - now.numCandidates - (places.length - (now.numCandidates - kept));
  return {
    more: /** @type {Row & { count: number }} */ ({
      kind: "more",
      count: kept,
      model: Math.max(keptModel, 0),
      after: Math.max(after, 0),
    }),
    others: /** @type {Row & { count: number }} */ ({
      kind: "others",
      count: cut,
      model: Math.max(model, 0),
      after: 0,
    }),
  };
}

/** As a part of the lane. The axis runs from 0 to 1, or with `log` from 0.0001 to 1. @param {number} share @param {boolean} log */
export function barLength(share, log) {
  if (!log) return share;
  return share <= LOWEST ? 0 : 1 - Math.log10(share) / Math.log10(LOWEST);
}

/** The sum of the probabilities as top-p sees them: [index of the row, sum so far] for tokens that follow each other in rank.
 * @param {StepReread} now @param {Row[]} rows @returns {[number, number][]} */
export function sumsBeforeTopP(now, rows) {
  const before = now.stages.findIndex(({ name }) => name === "top-p") - 1;
  const { probs } = before < 0 ? { probs: now.modelProbs } : now.stages[before];
  /** @type {[number, number][]} */
  const sums = [];
  let [sum, next] = [0, 0];
  for (const [index, row] of rows.entries()) {
    if (row.kind !== "token") continue;
    if (!sums.length) for (; next < row.place; next += 1) sum += probs[next];
    if (row.place !== next) break;
    sum += probs[next];
    next += 1;
    sums.push([index, sum]);
  }
  return sums;
}

/** How much of the model's own probability the stages keep. @param {StepReread} now */
export function keptMass(now) {
  let mass = 0;
  for (let place = now.start; place < now.stop; place += 1) mass += now.modelProbs[place];
  return Math.min(mass, 1);
}

/** The names of the stages that cut tokens here, in their order. @param {StepReread} now */
export function cutters(now) {
  return now.stages.filter(({ cuts }) => cuts).map(({ name }) => name);
}

/**
 * The kept probabilities laid end to end from 0 to 1: a segment each, until they are shorter than `shortest`; the others
 * in one piece. And where the sampled token lies, whichever piece it is in.
 * @param {StepReread} now
 * @param {number} shortest
 * @returns {Ruler}
 */
export function rulerOf(now, shortest) {
  const segments = [];
  let start = 0;
  let place = now.start;
  for (; place < now.stop && now.probs[place] >= shortest; place += 1) {
    segments.push({ place, start, length: now.probs[place] });
    start += now.probs[place];
  }
  const rest = { start, length: place < now.stop ? Math.max(1 - start, 0) : 0, count: now.stop - place };
  const own = segments.find((segment) => segment.place === now.sampledPlace);
  if (own) return { segments, rest, sampled: own };
  let before = start;
  for (; place < now.sampledPlace; place += 1) before += now.probs[place];
  return { segments, rest, sampled: { start: before, length: now.probs[now.sampledPlace] } };
}
