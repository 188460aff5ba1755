// The weights exp(score / T) of one step's tokens, most likely first, and what can be asked of a stretch of them.
// A stretch is the places from `start` up to, not including, `stop`. Where the tail came in bins (see binned.js), its
// sums are estimates, and `slack` bounds their error.

// Below this exponent a weight counts as 0, as in stages.py.
const LOWEST_EXPONENT = -700;

const PARTS = 256;
const FRACTIONS = Float64Array.from({ length: PARTS }, (_, part) => 2 ** (-part / PARTS));
const HALVINGS = Float64Array.from({ length: 1024 }, (_, times) => 2 ** -times);
const ROUNDING = 2 ** -23; // of the numbers of a bin, as a part of its width

/**
 * e ** exponent for exponents from -700 to 0: three times as fast as Math.exp, and right to 13 digits.
 * It is 2 ** -(n / 256) times e ** rest with a whole n and a rest so small that four terms of its series are enough.
 * @param {number} exponent
 */
function expOf(exponent) {
  const n = (0.5 - exponent * (PARTS / Math.LN2)) | 0;
  const rest = exponent + n * (Math.LN2 / PARTS);
  const series = 1 + rest * (1 + rest * (0.5 + rest * (1 / 6 + rest / 24)));
  return HALVINGS[n >> 8] * FRACTIONS[n & 255] * series;
}

/** The first place of a stretch for which `holds` is true, where it stays true from then on; `stop` if there is none.
 * @param {number} start @param {number} stop @param {(place: number) => boolean} holds */
export function firstPlace(start, stop, holds) {
  while (start < stop) {
    const middle = (start + stop) >> 1;
    if (holds(middle)) stop = middle;
    else start = middle + 1;
  }
  return start;
}

/** One step's tokens at one temperature, from the place `base` on. */
class Weights {
  /** @param {StepScores} step */
  constructor(step) {
    this.step = step;
    this.scores = step.scores;
    this.tail = step.tail;
    this.head = step.head; // as a field of its own: it is read at every look
    this.temperature = Number.NaN; // none yet
    this.base = 0; // exponents count from this token's score: the most likely that is left
    this.possible = 0; // the place after the last token with a probability above 0
    // Running sums from an item to the end, small weights first, so that a stretch far down loses no digits.
    this.masses = new Float64Array(this.scores.length + 1);
    this.moments = new Float64Array(this.scores.length + 1); // of weight times exponent, for the entropy
    this.slack = 0; // how far the sum over any stretch of the tail may be off
    this.momentSlack = 0;
  }

  /** @param {number} temperature @param {number} base */
  at(temperature, base) {
    if (temperature === this.temperature && base === this.base) return this;
    this.temperature = temperature;
    this.base = base;
    this.slack = 0;
    this.momentSlack = 0;
    const { scores, masses, moments, head } = this;
    const possible = this.possibleUnder(0);
    masses.fill(0, Math.min(possible, head));
    moments.fill(0, Math.min(possible, head));
    if (this.tail && possible > head) this.weighTail(this.tail);
    const top = this.step.score(base);
    const end = Math.min(possible, head);
    let mass = masses[end];
    let moment = moments[end];
    for (let place = end - 1; place >= base; place--) {
      const exponent = (scores[place] - top) / temperature;
      const weight = expOf(exponent);
      mass += weight;
      moment += weight * exponent;
      masses[place] = mass;
      moments[place] = moment;
    }
    this.possible = possible;
    return this;
  }

  /**
   * A bin counts as two equal halves, one standard deviation above its mean and one below: its count, mean and variance
   * are those of the tokens. What is left of the error is in the third moment, and Taylor's remainder bounds it.
   * @param {import("./binned.js").Tail} tail
   */
  weighTail(tail) {
    const { scores, masses, moments, temperature, base } = this;
    const top = this.step.score(base);
    let [mass, moment] = [0, 0];
    const first = tail.itemAt(Math.max(base, tail.head));
    for (let item = scores.length - 1; item >= first; item--) {
      const exponent = (scores[item] - top) / temperature;
      if (exponent >= LOWEST_EXPONENT) {
        const spread = tail.deviation[item] / temperature;
        const up = exponent + spread;
        const down = exponent - spread;
        const half = tail.count(item) / 2;
        const upper = half * Math.exp(up);
        const lower = half * Math.exp(down);
        mass += upper + lower;
        moment += upper * up + lower * down;
        if (spread > 0) this.addSlack(tail, item, top, exponent, spread);
      }
      masses[item] = mass;
      moments[item] = moment;
    }
  }

  /** @param {import("./binned.js").Tail} tail @param {number} item @param {number} top @param {number} exponent @param {number} spread */
  addSlack(tail, item, top, exponent, spread) {
    const high = (tail.highest[item] - top) / this.temperature;
    const low = (tail.lowest[item] - top) / this.temperature;
    const peak = Math.max(high, exponent + spread);
    const reach = Math.max(high - exponent, exponent - low);
    const third = (spread ** 2 * (reach + spread)) / 6;
    const error = tail.count(item) * Math.exp(peak) * (third + ROUNDING * (high - low));
    this.slack += error;
    // The third derivative of x e^x is (x + 3) e^x.
    this.momentSlack += error * Math.max(Math.abs(peak + 3), Math.abs(Math.min(low, exponent - spread) + 3));
  }

  /** See `possible`; with a bound below or above 0 the least or the most that it may be. @param {number} bound */
  possibleUnder(bound) {
    return firstPlace(this.base, this.step.size, (place) => this.exponent(place, bound) < LOWEST_EXPONENT);
  }

  /** With a bound below or above 0 the least or the most that it may be. @param {number} place @param {number} [bound] */
  exponent(place, bound = 0) {
    return (this.step.score(place, bound) - this.step.score(this.base)) / this.temperature;
  }

  /** @param {number} place */
  massFrom(place) {
    return this.tail && place > this.head ? this.tail.sumAt(this.masses, place) : this.masses[place];
  }

  /** @param {number} place */
  momentFrom(place) {
    return this.tail && place > this.head ? this.tail.sumAt(this.moments, place) : this.moments[place];
  }

  /** @param {number} start @param {number} stop */
  mass(start, stop) {
    return this.massFrom(start) - this.massFrom(stop);
  }

  /** How far the sum up to a place may be off. @param {number} stop */
  slackAt(stop) {
    return stop > this.head ? this.slack : 0;
  }

  /** Of the exponents, each as often as its token comes. @param {number} start @param {number} stop */
  mean(start, stop) {
    return (this.momentFrom(start) - this.momentFrom(stop)) / this.mass(start, stop);
  }

  /** How far that may be off. @param {number} start @param {number} stop */
  meanError(start, stop) {
    if (this.slackAt(stop) === 0) return 0;
    const mass = this.mass(start, stop);
    const least = mass - this.slack;
    return least > 0 ? (this.momentSlack + Math.abs(this.mean(start, stop)) * this.slack) / least : Infinity;
  }

  /** @param {number} place */
  weight(place) {
    if (!this.tail || place < this.head) return expOf(this.exponent(place));
    const item = this.tail.itemAt(place);
    return (this.masses[item] - this.masses[item + 1]) / this.tail.count(item);
  }

  /** The probability of a token when the stretch is what is left. @param {number} place @param {number} start @param {number} stop */
  prob(place, start, stop) {
    return place < start || place >= stop ? 0 : this.weight(place) / this.mass(start, stop);
  }

  /** In nats: -sum p log p, with log p = exponent - log(mass). @param {number} start @param {number} stop */
  entropy(start, stop) {
    if (stop - start === 1) return 0;
    return Math.max(0, Math.log(this.mass(start, stop)) - this.mean(start, stop));
  }

  /** Walks from the most likely token down until the sum passes the random number.
   * @param {number} uniform @param {number} start @param {number} stop */
  sample(uniform, start, stop) {
    const mark = uniform * this.mass(start, stop);
    return firstPlace(start, stop - 1, (place) => this.mass(start, place + 1) > mark);
  }

  /** Of all tokens, 0 outside the stretch. @param {number} start @param {number} stop */
  probs(start, stop) {
    const probs = new Float64Array(this.step.size);
    const whole = this.mass(start, stop);
    const headStop = Math.min(stop, this.head);
    for (let place = start; place < headStop; place++) probs[place] = expOf(this.exponent(place)) / whole;
    for (let place = Math.max(start, headStop); this.tail && place < stop; ) {
      const end = this.tail.firsts[this.tail.itemAt(place) + 1];
      probs.fill(this.weight(place) / whole, place, Math.min(end, stop));
      place = end;
    }
    return probs;
  }
}

/** One step's scores, and what was worked out of them. */
export class StepScores {
  /** @param {Uint32Array} ids  of the items, most likely first @param {Float64Array} scores  logits less the largest
   * @param {import("./binned.js").Tail | null} [tail]  null: every item is one token */
  constructor(ids, scores, tail = null) {
    this.ids = ids;
    this.scores = scores;
    this.tail = tail;
    this.head = tail ? tail.head : scores.length; // places up to here are one token each
    this.size = tail ? tail.size : scores.length;
    /** @type {Weights | null} */
    this.atOne = null;
    /** @type {Weights | null} */
    this.atOther = null;
    /** @type {number | null} */
    this.deviation = null;
  }

  /** Of the token at a place. With a bound below or above 0 the least or the most that it may be.
   * @param {number} place @param {number} [bound] */
  score(place, bound = 0) {
    return place < this.head || !this.tail ? this.scores[place] : this.tail.score(place, bound);
  }

  /** @param {number} place */
  idAt(place) {
    return this.ids[this.tail ? this.tail.itemAt(place) : place];
  }

  /** -1 where the token has no place of its own. @param {number} id */
  placeOf(id) {
    const item = this.ids.indexOf(id);
    return this.tail && item >= 0 ? this.tail.firsts[item] : item;
  }

  /** Something of each item, for every token. @template {Uint32Array | Float64Array} Values @param {Values} values @returns {Values} */
  spreadOut(values) {
    const { tail, size } = this;
    if (!tail) return values;
    const all = /** @type {Values} */ (new /** @type {any} */ (values.constructor)(size));
    for (let item = 0; item < values.length; item++)
      all.fill(/** @type {never} */ (values[item]), tail.firsts[item], tail.firsts[item + 1]);
    return all;
  }

  /** Kept for T = 1 and for one other temperature, so that dragging top-p costs no exponential at all.
   * @param {number} temperature @param {number} base */
  weights(temperature, base) {
    if (temperature === 1) {
      this.atOne ??= new Weights(this);
      return this.atOne.at(1, 0);
    }
    this.atOther ??= new Weights(this);
    return this.atOther.at(temperature, base);
  }

  /** The standard deviation of the logits that are not -inf. */
  get spread() {
    this.deviation ??= standardDeviation(this);
    return this.deviation;
  }
}

/** @param {StepScores} step */
function standardDeviation({ scores, tail }) {
  let [count, sum, squares] = [0, 0, 0];
  const times = (/** @type {number} */ item) => (scores[item] === -Infinity ? 0 : (tail?.count(item) ?? 1));
  for (let item = 0; item < scores.length; item++) {
    count += times(item);
    if (times(item)) sum += times(item) * scores[item];
  }
  for (let item = 0; item < scores.length; item++)
    if (times(item)) squares += times(item) * ((scores[item] - sum / count) ** 2 + (tail?.deviation[item] ?? 0) ** 2);
  return Math.sqrt(squares / count);
}
