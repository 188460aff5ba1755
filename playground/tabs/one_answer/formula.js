// The softmax with the live numbers in it, for the token under the pointer, or else the one that was written.

import { percent } from "../../page/js/numbers.js";
import { cutterOf, isKept, rereadStep } from "../../page/js/reread.js";
import { isOn } from "../../page/js/stage_table.js";
import { node, say } from "../../page/js/svg.js";

export function mount(element, api) {
  const line = node("div.softmax", { role: "math" }, element);
  const left = node("span.formula-left", {}, line);
  const parts = [0, 1, 2].map(() => fraction(line));
  const result = node("b.formula-result", {}, line);
  const words = node("p.note.formula-words", {}, element);

  function draw({ run, params, step, hover }) {
    const ready = Boolean(run?.logits && params);
    line.hidden = words.hidden = !ready;
    if (!ready) return;
    const now = rereadStep(run, params, step);
    const hovered = hover === null || hover === undefined ? -1 : now.ranking.indexOf(hover);
    const place = hovered < 0 ? now.chosenPlace : hovered;
    const id = now.ranking[place];
    say(left, `P(${run.vocabulary[id]}) =`);
    if (params.temperature === 0) greedy(place);
    else softmax(now, place, params, run);
    say(words, explain(now, place, params));
  }

  function greedy(place) {
    for (const part of parts) part.box.hidden = true;
    say(result, place === 0 ? "1" : "0");
  }

  /** With z - z1 instead of z: the same fraction, and no number too large to write. z1 is the largest that was kept. */
  function softmax(now, place, params, run) {
    for (const part of parts) part.box.hidden = false;
    const { temperature } = params;
    const kept = now.numCandidates;
    const stays = isKept(now, place);
    const over =
      kept === run.vocabSize ? ` over all ${kept.toLocaleString("en")}` : ` over the ${kept.toLocaleString("en")} kept`;
    const sum = digits(1 / now.probs[now.start]);
    const weight = Math.exp((now.scores[place] - now.scores[now.start]) / temperature);
    write(parts[0], stays ? "e" : "0 · e", "(z − z₁) / T", "Σ e", "(zⱼ − z₁) / T", over);
    write(parts[1], stays ? "e" : "0 · e", `${difference(now, place, params, run)} / ${temperature}`, sum, "", "");
    write(parts[2], stays ? digits(weight) : "0", "", sum, "", "");
    say(result, `= ${percent(now.probs[place])}`);
  }

  return { reads: ["run", "params", "step", "hover"], draw };
}

/** z - z1 with both logits; under a penalty only their difference, as the stages see it. */
function difference(now, place, params, run) {
  if (isOn("penalty", params)) return (now.scores[place] - now.scores[now.start]).toFixed(2);
  const logit = (at) => run.logits[now.step * run.vocabSize + now.ranking[at]].toFixed(2).replace("-", "−");
  const largest = logit(now.start);
  return `(${logit(place)} − ${largest.startsWith("−") ? `(${largest})` : largest})`;
}

function explain(now, place, { temperature }) {
  const own = `The model itself says ${percent(now.modelProbs[place])}`;
  if (temperature === 0) return `T = 0 has no softmax: the largest logit wins. ${own}.`;
  const cutter = cutterOf(now, place);
  if (cutter === now.uncut) return `${own}: it cannot come at all.`;
  if (cutter) return `${own}; ${cutter.name} cut it, so it has no share at all.`;
  const largest = now.start > 0 ? "the largest logit that was kept" : "the largest logit";
  return `${own}. z₁ is ${largest}: taking it away changes nothing and keeps the numbers small.`;
}

function fraction(parent) {
  const box = node("span.fraction", {}, parent);
  const [over, under] = ["over", "under"].map((where) => {
    const line = node(`span.fraction-${where}`, {}, box);
    return { base: node("span", {}, line), power: node("sup", {}, line), rest: node("small", {}, line) };
  });
  return { box, over, under };
}

function write({ over, under }, overBase, overPower, underBase, underPower, underRest) {
  say(over.base, overBase);
  say(over.power, overPower);
  say(under.base, underBase);
  say(under.power, underPower);
  say(under.rest, underRest);
}

function digits(value) {
  if (value >= 1000) return value.toLocaleString("en", { maximumFractionDigits: 0 });
  if (value >= 0.001) return value.toPrecision(4);
  return value === 0 ? "0" : value.toExponential(2);
}
