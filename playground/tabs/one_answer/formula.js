// The softmax with the live numbers in it, for the token under the pointer, or else the one that was written.

import { about, count, decimals, percent } from "../../page/js/numbers.js";
import { countTold, cutterOf, isKept, logitOf, modelProbTold, probTold, rereadStep } from "../../page/js/reread.js";
import { isOn } from "../../page/js/stage_table.js";
import { node, say } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { nameOf } from "./stage_words.js";

/**
 * @typedef {import("../../page/js/types.js").Run} Run
 * @typedef {import("../../page/js/types.js").Params} Params
 * @typedef {import("../../page/js/types.js").StepReread} StepReread
 * @typedef {object} Formula  what the worked-out fractions hold; none where T = 0
 * @property {string} difference  z - z_max
 * @property {string} temperature
 * @property {string} weight  the upper number of the last fraction
 * @property {string} sum  the lower number of both
 * @property {boolean} stays  whether the token was kept; if not, its weight is 0
 */

const MATHML = "http://www.w3.org/1998/Math/MathML";

/** @param {HTMLElement} element @returns {import("../../page/js/types.js").Panel} */
export function mount(element) {
  const line = node("div.softmax", {}, element);
  const left = math("math", line);
  const name = nameIn(left);
  const fractions = fractionsIn(line);
  const result = node("b.formula-result", {}, line);
  const note = node("p.note.formula-words", {}, element);

  return {
    reads: ["run", "params", "step", "hover"],
    draw({ run, params, step, hover }) {
      const ready = Boolean(run?.logits && params);
      line.hidden = note.hidden = !ready;
      if (!run?.logits || !params) return;
      const now = rereadStep(run, params, step);
      const hovered = hover === null ? -1 : now.ranking.indexOf(hover);
      const place = hovered < 0 ? now.chosenPlace : hovered;
      const formula = formulaOf(now, place, params, run);
      say(name, run.vocabulary[now.ranking[place]]);
      fractions.draw(formula);
      say(result, words.say("one_answer.formula.equals", { share: percent(probTold(now, place)) }));
      say(note, explanation(now, place, params, run));
    },
  };
}

/**
 * The numbers of the softmax. It has z - z_max instead of z: the same share, and no number too large to write. z_max is
 * the largest logit that was kept.
 * @param {StepReread} now @param {number} place  of the token @param {Params} params @param {Run} run
 * @returns {Formula | null}
 */
export function formulaOf(now, place, params, run) {
  const { temperature } = params;
  if (temperature === 0) return null;
  const stays = isKept(now, place);
  const weight = Math.exp((now.scores[place] - now.scores[now.start]) / temperature);
  return {
    difference: difference(now, place, params, run),
    temperature: count(temperature),
    weight: count(stays ? weight : 0),
    sum: count(about(1 / now.probs[now.start], now.estimated.probs)),
    stays,
  };
}

/** z - z_max with both logits; under a penalty only their difference, as the stages see it.
 * @param {StepReread} now @param {number} place @param {Params} params @param {Run} run */
function difference(now, place, params, run) {
  if (isOn("penalty", params)) return decimals(now.scores[place] - now.scores[now.start], 2);
  const logit = (/** @type {number} */ at) => decimals(logitOf(run, now.step, now.ranking[at]), 2);
  const largest = logit(now.start);
  return `${logit(place)} − ${largest.startsWith("−") ? `(${largest})` : largest}`;
}

/** @param {StepReread} now @param {number} place @param {Params} params @param {Run} run */
function explanation(now, place, { temperature }, { vocabSize }) {
  const own = modelProbTold(now, now.modelProbs[place]);
  if (temperature === 0) return words.say("one_answer.formula.greedy", { own });
  const cutter = cutterOf(now, place);
  if (cutter === now.uncut) return words.say("one_answer.formula.impossible", { own });
  if (cutter) return words.say("one_answer.formula.cut", { own, stage: nameOf(cutter.name) });
  const kept = countTold(now);
  return now.numCandidates === vocabSize
    ? words.say("one_answer.formula.over_all", { own, kept })
    : words.say("one_answer.formula.over_kept", { own, kept });
}

// ---- MathML: made once, and its numbers changed afterwards

/** @param {string} tag @param {Element} parent @param {string} [text] */
function math(tag, parent, text = "") {
  const made = document.createElementNS(MATHML, tag);
  made.textContent = text;
  parent.appendChild(made);
  return made;
}

/** P ( token ); the token's own element is returned. @param {Element} parent */
function nameIn(parent) {
  const row = math("mrow", parent);
  math("mi", row, "P");
  math("mo", row, "(");
  const token = math("mtext", row);
  math("mo", row, ")");
  return token;
}

/** Three times the same fraction, with more of it worked out each time. @param {Element} line */
function fractionsIn(line) {
  const [rule, worked, last] = [fraction(line), fraction(line), fraction(line)];
  exponentOf(exponential(rule.over), "");
  const total = math("munder", rule.under);
  math("mo", total, "∑");
  math("mi", total, "j");
  exponentOf(exponential(rule.under), "j");
  const power = math("mfrac", exponential(worked.over));
  const [difference, temperature] = [math("mn", power), math("mn", power)];
  const zero = math("mtext", worked.over);
  const weight = math("mn", last.over);
  const sums = [math("mn", worked.under), math("mn", last.under)];
  return {
    /** @param {Formula | null} formula */
    draw(formula) {
      for (const { box } of [rule, worked, last]) box.toggleAttribute("hidden", !formula);
      if (!formula) return;
      say(difference, formula.difference);
      say(temperature, formula.temperature);
      say(zero, formula.stays ? "" : "· 0");
      say(weight, formula.weight);
      for (const sum of sums) say(sum, formula.sum);
    },
  };
}

/** = a fraction with two rows to fill. @param {Element} line */
function fraction(line) {
  const box = math("math", line);
  math("mo", box, "=");
  const both = math("mfrac", box);
  return { box, over: math("mrow", both), under: math("mrow", both) };
}

/** e to a power, whose row is returned. @param {Element} parent */
function exponential(parent) {
  const power = math("msup", parent);
  math("mi", power, "e");
  return math("mrow", power);
}

/** (z_j - z_max) / T @param {Element} parent @param {string} index  "" leaves it out */
function exponentOf(parent, index) {
  math("mo", parent, "(");
  if (index) letterIn(parent, index, "mi");
  else math("mi", parent, "z");
  math("mo", parent, "−");
  letterIn(parent, "max", "mtext");
  math("mo", parent, ")");
  math("mo", parent, "/");
  math("mi", parent, "T");
}

/** z with an index. @param {Element} parent @param {string} index @param {string} tag  of the index */
function letterIn(parent, index, tag) {
  const letter = math("msub", parent);
  math("mi", letter, "z");
  math(tag, letter, index);
}
