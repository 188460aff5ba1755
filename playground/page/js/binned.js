// Logits of a large vocabulary as page/binned.py sends them: the largest one by one, and so are the tokens of the text;
// the tail in bins. Items are tokens and bins in the order of the ranking; places count tokens, so a bin takes many.

import { firstPlace, StepScores } from "./weights.js";

/**
 * @typedef {object} BinnedStep
 * @property {Uint32Array} ids  of the tokens sent one by one, in the model's order
 * @property {Float32Array} logits  of these
 * @property {Uint8Array} binsBefore  how many bins come before each of them
 * @property {Uint32Array} counts  tokens in each bin
 * @property {Float32Array} bins  of each: highest logit, lowest, highest less the mean, standard deviation
 * @property {number} top  the first so many tokens come before all bins
 * @property {boolean} isOwn  whether this is the model's order, where it is known which of two equals comes first
 */

const FIELDS = 4; // of a bin

export class BinnedLogits {
  /** @param {BinnedStep[]} steps */
  constructor(steps) {
    this.steps = steps;
    /** Of each step, where an id stands. @type {Map<number, number>[]} */
    this.indices = [];
  }

  /** Where a token stands among those that were sent one by one. @param {number} step @param {number} id */
  indexOf(step, id) {
    this.indices[step] ??= new Map(Array.from(this.steps[step].ids, (each, index) => [each, index]));
    return this.indices[step].get(id) ?? -1;
  }

  /** NaN where it was not sent. @param {number} step @param {number} id */
  logit(step, id) {
    return this.steps[step].logits[this.indexOf(step, id)] ?? Number.NaN;
  }
}

/** Numbers on their way from Python, little-endian as every browser's machine is. @param {string} base64 @returns {ArrayBuffer} */
export function bytesOf(base64) {
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let place = 0; place < letters.length; place += 1) bytes[place] = letters.charCodeAt(place);
  return bytes.buffer;
}

/** What `binned` of page/binned.py made. @param {any} value */
export function binnedOf(value) {
  const IdArray = value.id_bytes === 2 ? Uint16Array : Uint32Array;
  const ids = Uint32Array.from(new IdArray(bytesOf(value.ids)));
  const logits = new Float32Array(bytesOf(value.logits));
  const binsBefore = new Uint8Array(bytesOf(value.bins_before));
  const counts = new Uint32Array(bytesOf(value.counts));
  const bins = new Float32Array(bytesOf(value.bins));
  let [token, bin, other] = [0, 0, 0];
  const steps = value.sizes.map((/** @type {[number, number]} */ [numTokens, numBins]) => {
    const [nextToken, nextBin, nextOther] = [token + numTokens, bin + numBins, other + numTokens - value.top];
    const step = {
      ids: ids.subarray(token, nextToken),
      logits: logits.subarray(token, nextToken),
      binsBefore: new Uint8Array(numTokens),
      counts: counts.subarray(bin, nextBin),
      bins: bins.subarray(FIELDS * bin, FIELDS * nextBin),
      top: value.top,
      isOwn: true,
    };
    step.binsBefore.set(binsBefore.subarray(other, nextOther), value.top); // no bin comes before the others
    [token, bin, other] = [nextToken, nextBin, nextOther];
    return step;
  });
  return new BinnedLogits(steps);
}

/** The same step in order again, after penalties changed its logits. A token that fell among those of a bin has no
 * certain place there. @param {BinnedStep} step @returns {BinnedStep} */
export function reordered(step) {
  const { ids, logits, bins, counts } = step;
  const order = Uint32Array.from(ids.keys()).sort((one, other) => logits[other] - logits[one] || ids[one] - ids[other]);
  const highest = counts.length ? bins[0] : -Infinity;
  const sorted = Float32Array.from(order, (at) => logits[at]);
  const mean = (/** @type {number} */ bin) => bins[FIELDS * bin] - bins[FIELDS * bin + 2];
  return {
    ...step,
    ids: Uint32Array.from(order, (at) => ids[at]),
    logits: sorted,
    binsBefore: Uint8Array.from(sorted, (logit) => firstPlace(0, counts.length, (bin) => mean(bin) < logit)),
    top: firstPlace(0, sorted.length, (at) => sorted[at] <= highest),
    isOwn: false,
  };
}

/** @param {BinnedStep} step @param {number} nobody  the id of a token that was not sent by itself */
export function rankBinned({ ids, logits, binsBefore, counts, bins, top, isOwn }, nobody) {
  const numItems = ids.length + counts.length;
  const largest = Math.max(logits[0], counts.length ? bins[0] : -Infinity);
  const itemIds = new Uint32Array(numItems).fill(nobody);
  const scores = new Float64Array(numItems);
  const tail = new Tail(top, scores, isOwn);
  let [token, bin, place] = [0, 0, 0];
  for (let item = 0; item < numItems; item++) {
    const isToken = token < ids.length && (bin === counts.length || binsBefore[token] <= bin);
    const at = FIELDS * bin;
    if (isToken) itemIds[item] = ids[token];
    scores[item] = isToken ? logits[token] - largest : bins[at] - largest - bins[at + 2];
    tail.highest[item] = isToken ? scores[item] : bins[at] - largest;
    tail.lowest[item] = isToken ? scores[item] : bins[at + 1] - largest;
    tail.deviation[item] = isToken ? 0 : bins[at + 3];
    place += isToken ? 1 : counts[bin];
    tail.firsts[item + 1] = place;
    if (isToken) token += 1;
    else bin += 1;
  }
  return new StepScores(itemIds, scores, tail.settle());
}

/** What is known of the places beyond the first `head`, which are taken by one token each. */
export class Tail {
  /** @param {number} head @param {Float64Array} scores  of the items; of a bin its mean @param {boolean} isOwn */
  constructor(head, scores, isOwn) {
    const numItems = scores.length;
    this.head = head;
    this.isOwn = isOwn;
    this.scores = scores;
    this.firsts = new Int32Array(numItems + 1); // the first place of an item
    this.highest = new Float64Array(numItems);
    this.lowest = new Float64Array(numItems);
    this.deviation = new Float64Array(numItems);
    // No token further down has more, none further up has less: also where tokens lie among those of a bin.
    this.most = new Float64Array(numItems);
    this.least = new Float64Array(numItems);
  }

  settle() {
    const { highest, lowest, most, least } = this;
    let [low, high] = [Infinity, -Infinity];
    for (let item = 0; item < lowest.length; item++) least[item] = low = Math.min(low, lowest[item]);
    for (let item = highest.length - 1; item >= 0; item--) most[item] = high = Math.max(high, highest[item]);
    return this;
  }

  /** How many tokens there are. */
  get size() {
    return this.firsts[this.firsts.length - 1];
  }

  /** @param {number} item */
  count(item) {
    return this.firsts[item + 1] - this.firsts[item];
  }

  /** @param {number} place */
  itemAt(place) {
    if (place < this.head) return place;
    return firstPlace(this.head, this.scores.length, (item) => this.firsts[item + 1] > place);
  }

  /** Whether every token before an item is surely at least as likely as all from there on. @param {number} item */
  isSettled(item) {
    if (item <= this.head || item === this.scores.length) return true;
    const gap = this.least[item - 1] - this.most[item];
    return this.isOwn ? gap >= 0 : gap > 0;
  }

  /** The last place up to this one before which surely the most likely tokens stand. @param {number} place */
  floor(place) {
    if (place <= this.head) return place;
    let item = this.itemAt(place);
    while (!this.isSettled(item)) item--;
    return this.firsts[item];
  }

  /** The first such place from this one on. @param {number} place */
  ceil(place) {
    if (place <= this.head) return place;
    let item = this.itemAt(place - 1) + 1;
    while (!this.isSettled(item)) item++;
    return this.firsts[item];
  }

  /** A token's score as it would be if those of a bin stood in even distances; with a bound below or above 0 the least
   * or the most that it may be. @param {number} place @param {number} bound */
  score(place, bound) {
    const item = this.itemAt(place);
    if (bound !== 0) return (bound < 0 ? this.least : this.most)[item];
    const count = this.count(item);
    if (count === 1 || this.lowest[item] === -Infinity) return this.scores[item];
    const share = (place - this.firsts[item] + 0.5) / count;
    return this.highest[item] - share * (this.highest[item] - this.lowest[item]);
  }

  /** Of running sums, one for each item and the end, what stands at a place. @param {Float64Array} sums @param {number} place */
  sumAt(sums, place) {
    const item = this.itemAt(place);
    if (place === this.firsts[item]) return sums[item];
    const share = (place - this.firsts[item]) / this.count(item);
    return sums[item] + share * (sums[item + 1] - sums[item]);
  }
}
