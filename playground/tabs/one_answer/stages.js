// From the model's probabilities to the one token: a card for each stage, in the order of the chosen rule.

import { chips } from "../../page/js/chips.js";
import { setControls } from "../../page/js/controls.js";
import { keptUnder, rereadStep } from "../../page/js/reread.js";
import { isOn, ruleNames, ruleOf } from "../../page/js/stage_table.js";
import { node, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { bandOf, barsOf, stageCard, viewOf } from "./stage_card.js";
import { modelWords, nameOf, ruleName, sampleWords, stageWords } from "./stage_words.js";

/**
 * @typedef {import("../../page/js/types.js").Params} Params
 * @typedef {import("../../page/js/types.js").Run} Run
 * @typedef {import("../../page/js/types.js").StepReread} StepReread
 * @typedef {{ key: string, settings: Partial<Params> }} Preset
 */

const CHANGES_LOGITS = ["penalty", "temperature"];

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  /** @type {Preset[]} */
  const presets = api.props.value?.presets ?? [];
  const head = headOf(element, presets);
  const line = node("div.rule-words", {}, element);
  const note = node("span.note", {}, line);
  const verdict = node("b.stages-verdict", { role: "status" }, line);
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
    say(note, [presetWords(presets, params), ruleWords(params), comparison(run, params, step)].join(" ").trim());
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
    strip.replaceChildren(...["model", ...ruleOf(params).order, "sample"].map((name) => cardOf(name).box));
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
    let before = { ...now.uncut, probs: now.modelProbs };
    cardOf("model").draw(1, modelWords(before, run), barsOf(before, null, view));
    now.stages.forEach((stage, index) => {
      const card = cardOf(stage.name);
      card.draw(index + 2, stageWords({ stage, before, run, params, step: now.step }), barsOf(stage, before, view));
      const idle = !stage.cuts && !CHANGES_LOGITS.includes(stage.name);
      card.look({ off: !isOn(stage.name, params), idle, last: stage === last });
      before = stage;
    });
    cardOf("sample").draw(now.stages.length + 2, sampleWords(now, run), bandOf(now));
  }

  return { reads: ["run", "params", "step"], draw };
}

/** The title, and the buttons for a library's order and for a whole set of settings. @param {Element} element @param {Preset[]} presets */
function headOf(element, presets) {
  const head = node("div.card-head.stages-head", {}, element);
  node("h2", {}, head, words.say("one_answer.stages.title"));
  const orderAsIn = words.say("one_answer.stages.order_as_in");
  const choice = node("div.choice", {}, head);
  node("span.note", {}, choice, orderAsIn);
  const rules = chips(choice, orderAsIn, (place) => setControls({ rule: ruleNames()[place] }));
  const row = node("div.presets", {}, head);
  node("span.note", {}, row, words.say("one_answer.stages.settings_of"));
  const buttons = presets.map(({ key, settings }) => {
    const title = words.say(`one_answer.preset.${key}.text`);
    const name = words.say(`one_answer.preset.${key}.name`);
    const button = node("button.small-button", { type: "button", title }, row, name);
    button.addEventListener("click", () => setControls(settings));
    return button;
  });
  return {
    /** @param {Params} params */
    draw(params) {
      rules.draw(ruleNames().map(ruleName), ruleNames().indexOf(params.rule));
      presets.forEach((preset, index) => {
        set(buttons[index], { "aria-pressed": String(isSet(preset, params)) });
      });
    },
  };
}

/** @param {Preset} preset @param {Params} params */
function isSet({ settings }, params) {
  return Object.entries(settings).every(([field, value]) => params[field] === value);
}

/** @param {Preset[]} presets @param {Params} params */
function presetWords(presets, params) {
  const preset = presets.find((each) => isSet(each, params));
  return preset ? words.say(`one_answer.preset.${preset.key}.text`) : "";
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
  if (counts.every((kept) => kept === counts[0])) return words.say("one_answer.stages.all_keep", { kept: counts[0] });
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
function verdictOf(now, { vocabSize }) {
  const facts = { kept: now.numCandidates, all: vocabSize };
  const last = lastCut(now);
  return last
    ? words.say("one_answer.stages.last_cut", { ...facts, stage: nameOf(last.name) })
    : words.say("one_answer.stages.no_cut", facts);
}
