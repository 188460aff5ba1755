// The softmax with the live numbers in it, for the token under the pointer, or else the one that was written.

import { count, decimals, percent } from "../../page/js/numbers.js";
import { cutterOf, isKept, rereadStep } from "../../page/js/reread.js";
import { isOn } from "../../page/js/stage_table.js";
import { node, say } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { nameOf } from "./stage_words.js";

/**
 * @typedef {import("../../page/js/types.js").Run} Run
 * @typedef {import("../../page/js/types.js").Params} Params
 * @typedef {import("../../page/js/types.js").StepReread} StepReread
 * @typedef {[base: string, power?: string, rest?: string]} Term
 * @typedef {{ fractions: [over: Term, under: Term][], result: string }} Formula
 */

/** @param {HTMLElement} element @returns {import("../../page/js/types.js").Panel} */
export function mount(element) {
  const line = node("div.softmax", { role: "math" }, element);
  const left = node("span.formula-left", {}, line);
  const parts = [0, 1, 2].map(() => fractionIn(line));
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
      say(left, `P(${run.vocabulary[now.ranking[place]]}) =`);
      parts.forEach((part, index) => {
        part.draw(formula.fractions[index]);
      });
      say(result, formula.result);
      say(note, explanation(now, place, params));
    },
  };
}

/**
 * The same fraction three times, with more of it worked out each time; none where T = 0. It has z - z1 instead of z: the
 * same share, and no number too large to write. z1 is the largest that was kept.
 * @param {StepReread} now @param {number} place  of the token @param {Params} params @param {Run} run
 * @returns {Formula}
 */
export function formulaOf(now, place, params, run) {
  const { temperature } = params;
  if (temperature === 0) return { fractions: [], result: place === 0 ? "1" : "0" };
  const kept = now.numCandidates;
  const over = words.say(`one_answer.formula.${kept === run.vocabSize ? "over_all" : "over_kept"}`, { kept });
  const stays = isKept(now, place);
  const e = stays ? "e" : "0 · e";
  /** @type {Term} */
  const sum = [count(1 / now.probs[now.start])];
  const weight = Math.exp((now.scores[place] - now.scores[now.start]) / temperature);
  return {
    fractions: [
      [
        [e, "(z − z₁) / T"],
        ["Σ e", "(zⱼ − z₁) / T", ` ${over}`],
      ],
      [[e, `${difference(now, place, params, run)} / ${count(temperature)}`], sum],
      [[count(stays ? weight : 0)], sum],
    ],
    result: `= ${percent(now.probs[place])}`,
  };
}

/** z - z1 with both logits; under a penalty only their difference, as the stages see it.
 * @param {StepReread} now @param {number} place @param {Params} params @param {Run} run */
function difference(now, place, params, { logits, vocabSize }) {
  if (isOn("penalty", params) || !logits) return decimals(now.scores[place] - now.scores[now.start], 2);
  const logit = (/** @type {number} */ at) => decimals(logits[now.step * vocabSize + now.ranking[at]], 2);
  const largest = logit(now.start);
  return `(${logit(place)} − ${largest.startsWith("−") ? `(${largest})` : largest})`;
}

/** @param {StepReread} now @param {number} place @param {Params} params */
function explanation(now, place, { temperature }) {
  const own = now.modelProbs[place];
  if (temperature === 0) return words.say("one_answer.formula.greedy", { own });
  const cutter = cutterOf(now, place);
  if (cutter === now.uncut) return words.say("one_answer.formula.impossible", { own });
  if (cutter) return words.say("one_answer.formula.cut", { own, stage: nameOf(cutter.name) });
  return words.say(now.start > 0 ? "one_answer.formula.largest_kept" : "one_answer.formula.largest", { own });
}

/** @param {Element} parent */
function fractionIn(parent) {
  const box = node("span.fraction", {}, parent);
  const lines = ["over", "under"].map((where) => {
    const line = node(`span.fraction-${where}`, {}, box);
    return [node("span", {}, line), node("sup", {}, line), node("small", {}, line)];
  });
  return {
    /** Nothing to draw hides it. @param {[Term, Term] | undefined} terms */
    draw(terms) {
      box.hidden = !terms;
      terms?.forEach((term, line) => {
        for (const [index, part] of lines[line].entries()) say(part, term[index] ?? "");
      });
    },
  };
}
