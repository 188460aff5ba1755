// What the picture of the next token shows of a step: which tokens, how long their bars are, where sums stand. Numbers only.

import { isKept } from "./reread.js";

/**
 * @typedef {import("./types.js").StepReread} StepReread
 * @typedef {{ start: number, length: number }} Stretch  of the ruler from 0 to 1
 * @typedef {{ segments: (Stretch & { place: number })[], rest: Stretch, far: Stretch | null }} Ruler
 */

const CUT_ABOVE = 4; // rows left for what typical-p cut, where the kept tokens begin further down
const LOWEST = 1e-4; // where the logarithmic axis begins
const SEGMENTS = 40; // tokens that the ruler shows one by one

/** Places of the ranking: the most likely tokens, or further down those that are kept; the recorded one is always there.
 * @param {StepReread} now @param {number} vocabSize @param {number} rows @returns {number[]} */
export function rowsShown(now, vocabSize, rows) {
  const from = now.start + CUT_ABOVE < rows ? 0 : Math.min(now.start - CUT_ABOVE, Math.max(vocabSize - rows, 0));
  const places = Array.from({ length: Math.min(rows, vocabSize) }, (_, index) => from + index);
  if (now.chosenPlace < from) places[0] = now.chosenPlace;
  else if (now.chosenPlace >= from + places.length) places[places.length - 1] = now.chosenPlace;
  return places;
}

/** As a part of the lane. The axis runs from 0 to 1, or with `log` from 0.0001 to 1. @param {number} share @param {boolean} log */
export function barLength(share, log) {
  if (!log) return share;
  return share <= LOWEST ? 0 : 1 - Math.log10(share) / Math.log10(LOWEST);
}

/** What is left for the row of all others: their probability by the model and after all stages, and how many are kept.
 * @param {StepReread} now @param {number[]} places  those that have a row */
export function othersOf(now, places) {
  let [model, after, kept] = [1, 1, now.numCandidates];
  for (const place of places) {
    model -= now.modelProbs[place];
    after -= now.probs[place];
    if (isKept(now, place)) kept -= 1;
  }
  return { kept, model: Math.max(model, 0), after: kept ? Math.max(after, 0) : 0 };
}

/** The sum of the probabilities as top-p sees them: [index of the row, sum so far] for rows that follow each other in rank.
 * @param {StepReread} now @param {number[]} places @returns {[number, number][]} */
export function sumsBeforeTopP(now, places) {
  const before = now.stages.findIndex(({ name }) => name === "top-p") - 1;
  const { probs } = before < 0 ? { probs: now.modelProbs } : now.stages[before];
  const from = places.length > 1 ? places[1] - 1 : places[0]; // the token chosen may stand out of its order above
  let sum = 0;
  for (let place = 0; place < from; place += 1) sum += probs[place];
  /** @type {[number, number][]} */
  const sums = [];
  places.forEach((place, index) => {
    if (index > 0 && place !== from + index) return;
    sum += probs[from + index];
    if (place === from + index) sums.push([index, sum]);
  });
  return sums;
}

/** How much of the model's own probability the stages keep. @param {StepReread} now */
export function keptMass(now) {
  let mass = 0;
  for (let place = now.start; place < now.stop; place += 1) mass += now.modelProbs[place];
  return Math.min(mass, 1);
}

/**
 * The kept probabilities laid end to end from 0 to 1: one segment each for the first forty, the others in one piece; and
 * where among those the sampled token lies, null where it has a segment of its own.
 * @param {StepReread} now
 * @returns {Ruler}
 */
export function rulerOf(now) {
  const segments = [];
  let start = 0;
  for (let place = now.start; place < Math.min(now.stop, now.start + SEGMENTS); place += 1) {
    segments.push({ place, start, length: now.probs[place] });
    start += now.probs[place];
  }
  const next = now.start + segments.length;
  const rest = { start, length: next < now.stop ? Math.max(1 - start, 0) : 0 };
  if (now.sampledPlace < next) return { segments, rest, far: null };
  let before = start;
  for (let place = next; place < now.sampledPlace; place += 1) before += now.probs[place];
  return { segments, rest, far: { start: before, length: now.probs[now.sampledPlace] } };
}
