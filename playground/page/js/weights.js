// The weights exp(score / T) of one step's tokens, most likely first, and what can be asked of a stretch of them.
// A stretch is the places from `start` up to, not including, `stop`.

// Below this exponent a weight counts as 0, as in stages.py.
const LOWEST_EXPONENT = -700;

const PARTS = 256;
const FRACTIONS = Float64Array.from({ length: PARTS }, (_, part) => 2 ** (-part / PARTS));
const HALVINGS = Float64Array.from({ length: 1024 }, (_, times) => 2 ** -times);

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
  /** @param {Float64Array} scores */
  constructor(scores) {
    this.scores = scores;
    this.temperature = Number.NaN; // none yet
    this.base = 0; // exponents count from this token's score: the most likely that is left
    this.possible = 0; // the place after the last token with a probability above 0
    // Running sums from a place to the end, small weights first, so that a stretch far down loses no digits.
    this.masses = new Float64Array(scores.length + 1);
    this.moments = new Float64Array(scores.length + 1); // of weight times exponent, for the entropy
  }

  /** @param {number} temperature @param {number} base */
  at(temperature, base) {
    if (temperature === this.temperature && base === this.base) return this;
    this.temperature = temperature;
    this.base = base;
    const { scores, masses, moments } = this;
    const possible = firstPlace(base, scores.length, (place) => this.exponent(place) < LOWEST_EXPONENT);
    masses.fill(0, possible);
    moments.fill(0, possible);
    const top = scores[base];
    let mass = 0;
    let moment = 0;
    for (let place = possible - 1; place >= base; place--) {
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

  /** @param {number} place */
  exponent(place) {
    return (this.scores[place] - this.scores[this.base]) / this.temperature;
  }

  /** @param {number} start @param {number} stop */
  mass(start, stop) {
    return this.masses[start] - this.masses[stop];
  }

  /** Of the exponents, each as often as its token comes. @param {number} start @param {number} stop */
  mean(start, stop) {
    return (this.moments[start] - this.moments[stop]) / this.mass(start, stop);
  }

  /** The probability of a token when the stretch is what is left. @param {number} place @param {number} start @param {number} stop */
  prob(place, start, stop) {
    return place < start || place >= stop ? 0 : expOf(this.exponent(place)) / this.mass(start, stop);
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
    const probs = new Float64Array(this.scores.length);
    const whole = this.mass(start, stop);
    for (let place = start; place < stop; place++) probs[place] = expOf(this.exponent(place)) / whole;
    return probs;
  }
}

/** One step's scores, and what was worked out of them. */
export class StepScores {
  /** @param {Float64Array} scores  logits less the largest, most likely first */
  constructor(scores) {
    this.scores = scores;
    /** @type {Weights | null} */
    this.atOne = null;
    /** @type {Weights | null} */
    this.atOther = null;
    /** @type {number | null} */
    this.deviation = null;
  }

  /** Kept for T = 1 and for one other temperature, so that dragging top-p costs no exponential at all.
   * @param {number} temperature @param {number} base */
  weights(temperature, base) {
    if (temperature === 1) {
      this.atOne ??= new Weights(this.scores);
      return this.atOne.at(1, 0);
    }
    this.atOther ??= new Weights(this.scores);
    return this.atOther.at(temperature, base);
  }

  /** The standard deviation of the logits that are not -inf. */
  get spread() {
    this.deviation ??= standardDeviation(this.scores);
    return this.deviation;
  }
}

/** @param {Float64Array} scores */
function standardDeviation(scores) {
  const count = firstPlace(0, scores.length, (place) => scores[place] === -Infinity);
  const finite = scores.subarray(0, count);
  const mean = finite.reduce((sum, score) => sum + score, 0) / count;
  return Math.sqrt(finite.reduce((sum, score) => sum + (score - mean) ** 2, 0) / count);
}
