// From the pass through the model to the one token: a card for each stage, in the order of the chosen rule.

import { chips } from "../../page/js/chips.js";
import { setControls } from "../../page/js/controls.js";
import { numberIn } from "../../page/js/numbers.js";
import { countTold, keptUnder, rereadStep } from "../../page/js/reread.js";
import { isOn, ruleNames, ruleOf } from "../../page/js/stage_table.js";
import { node, say } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { bandOf, barsOf, passOf, stageCard, viewOf } from "./stage_card.js";
import { modelWords, passWords, ruleName, sampleWords, stageWords } from "./stage_words.js";

/**
 * @typedef {import("../../page/js/types.js").Params} Params
 * @typedef {import("../../page/js/types.js").Run} Run
 * @typedef {import("../../page/js/types.js").StepReread} StepReread
 */

const CHANGES_LOGITS = ["penalty", "temperature"];

/** With { pass: true } as value the pass through the model comes first.
 * @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const withPass = Boolean(api.props.value?.pass);
  const head = headOf(element, withPass);
  const line = node("div.rule-words", {}, element);
  const verdict = node("b.stages-verdict", { role: "status" }, line);
  const note = node("span.note", {}, line);
  const strip = node("ol.stages", {}, element);
  const empty = node("p.empty-note", {}, element, words.say("one_answer.stages.empty"));
  /** By name, made when they are first needed. @type {Map<string, ReturnType<typeof stageCard>>} */
  const cards = new Map();
  let shown = ""; // the rule in whose order the cards stand

  /** @type {import("../../page/js/types.js").Listener} */
  function draw({ run, params, step }) {
    const ready = Boolean(run?.logits && params);
    empty.hidden = ready;
    strip.hidden = verdict.hidden = !ready;
    if (!params) return;
    head.draw(params);
    say(note, [ruleWords(params), comparison(run, params, step)].join(" ").trim());
    if (!run?.logits) return;
    standInOrder(params);
    const now = rereadStep(run, params, step);
    drawCards(now, run, params);
    say(verdict, verdictOf(now, run));
  }

  /** @param {Params} params */
  function standInOrder(params) {
    if (shown === params.rule) return;
    shown = params.rule;
    const names = [...(withPass ? ["pass"] : []), "model", ...ruleOf(params).order, "sample"];
    strip.replaceChildren(...names.map((name) => cardOf(name).box));
  }

  /** @param {string} name */
  function cardOf(name) {
    const card = cards.get(name) ?? stageCard(name);
    cards.set(name, card);
    return card;
  }

  /** @param {StepReread} now @param {Run} run @param {Params} params */
  function drawCards(now, run, params) {
    const last = lastCut(now);
    const view = viewOf(now);
    const first = withPass ? 2 : 1;
    if (withPass) {
      const texts = passWords(run, now.step);
      cardOf("pass").draw(1, texts, passOf(texts.cached, texts.fed));
    }
    let before = { ...now.uncut, probs: now.modelProbs };
    cardOf("model").draw(first, modelWords(before, run), barsOf(before, null, view));
    now.stages.forEach((stage, index) => {
      const card = cardOf(stage.name);
      card.draw(
        first + index + 1,
        stageWords({ stage, before, run, params, step: now.step }),
        barsOf(stage, before, view),
      );
      const idle = !stage.cuts && !CHANGES_LOGITS.includes(stage.name);
      card.look({ off: !isOn(stage.name, params), idle, last: stage === last });
      before = stage;
    });
    cardOf("sample").draw(first + now.stages.length + 1, sampleWords(now, run), bandOf(now));
  }

  return { reads: ["run", "params", "step"], draw };
}

/** The title, and the buttons for a library's order. @param {Element} element @param {boolean} withPass */
function headOf(element, withPass) {
  const head = node("div.card-head.stages-head", {}, element);
  node("h2", {}, head, words.say(withPass ? "one_answer.stages.title" : "one_answer.stages.title_by_hand"));
  const about = words.say("one_answer.stages.order_of");
  const choice = node("div.choice", {}, head);
  node("span.note", {}, choice, about);
  const rules = chips(choice, about, (place) => setControls({ rule: ruleNames()[place] }));
  return {
    /** @param {Params} params */
    draw({ rule }) {
      rules.draw(ruleNames().map(ruleName), ruleNames().indexOf(rule));
    },
  };
}

/** @param {Params} params */
function ruleWords({ rule }) {
  return words.say(`one_answer.rule_text.${rule}`);
}

/** What the other rules would keep here. With penalties each rule ranks anew: too slow for a moving slider, so left out.
 * @param {Run | null} run @param {Params} params @param {number} step */
export function comparison(run, params, step) {
  if (!run?.logits || isOn("penalty", params)) return "";
  const counts = ruleNames().map((rule) => keptUnder(run, { ...params, rule }, step));
  if (counts.every((kept) => numberIn(kept) === numberIn(counts[0])))
    return words.say("one_answer.stages.all_keep", { kept: counts[0] });
  const each = ruleNames().map((rule, index) =>
    words.say("one_answer.stages.keeps", { rule: ruleName(rule), kept: counts[index] }),
  );
  return words.say("one_answer.stages.each_keeps", { each: each.join(", ") });
}

/** @param {StepReread} now */
function lastCut(now) {
  return now.stages.filter(({ cuts }) => cuts).at(-1);
}

/** @param {StepReread} now @param {Run} run */
function verdictOf(now, { vocabSize: all }) {
  const kept = countTold(now);
  const last = lastCut(now);
  if (!last)
    return words.say(`one_answer.stages.${now.numCandidates === all ? "no_cut" : "impossible"}`, { kept, all });
  if (last.name === "temperature") return words.say("one_answer.stages.cold", { kept, all });
  const stage = words.say(`page.controls.label.${last.name.replaceAll("-", "_")}`);
  return words.say("one_answer.stages.last_cut", { kept, all, stage });
}
