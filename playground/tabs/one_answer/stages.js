// From the model's probabilities to the one token: a card for each stage, in the order of the chosen rule.

import { setControls } from "../../page/js/controls.js";
import { percent } from "../../page/js/numbers.js";
import { isKept, keptUnder, rereadStep } from "../../page/js/reread.js";
import { isOn, ruleOf } from "../../page/js/stage_table.js";
import { node, say, set, svg } from "../../page/js/svg.js";
import { count, RULE_NAMES, RULE_WORDS, reason, settingOf, tokens } from "./stage_words.js";

const BARS = 24;
const CHANGES_LOGITS = ["penalty", "temperature"];
const PICTURE = { width: 216, height: 56 };
const CROWDED = 178; // pixels: in a narrower card the setting stands below the name

export function mount(element, api) {
  const presets = api.props.value?.presets ?? [];
  const buttons = headOf(element, presets);
  const line = node("div.rule-words", {}, element);
  const words = node("span.note", {}, line);
  const verdict = node("b.stages-verdict", { role: "status" }, line);
  const strip = node("ol.stages", {}, element);
  const empty = node("p.empty-note", {}, element, "After Generate: what each stage leaves of the distribution.");
  const cards = {}; // by name, made when they are first needed
  let order = null;

  function draw({ run, params, step }) {
    const ready = Boolean(run?.logits && params);
    empty.hidden = ready;
    strip.hidden = verdict.hidden = !ready;
    if (!params) return;
    const rule = params.rule ?? "transformers";
    buttons.show(params, rule);
    const preset = presets.find(({ settings }) => matches(params, settings));
    say(words, `${preset ? `${preset.says} ` : ""}${RULE_WORDS[rule]}${ready ? compared(run, params, step) : ""}`);
    if (!ready) return;
    if (order !== rule) {
      order = rule;
      const names = ["model", ...ruleOf(params).order, "sample"];
      strip.replaceChildren(...names.map((name) => (cards[name] ??= makeCard(name)).box));
    }
    drawCards(rereadStep(run, params, step), run, params, step);
  }

  function drawCards(now, run, params, step) {
    const last = now.stages.findLastIndex(({ cuts }) => cuts);
    const view = viewOf(now);
    let before = { ...now.uncut, probs: now.modelProbs };
    drawModel(cards.model, before, run);
    picture(cards.model, before, null, view);
    now.stages.forEach((stage, index) => {
      drawStage(cards[stage.name], { stage, before, run, params, step }, index + 2, index === last);
      picture(cards[stage.name], stage, before, view);
      before = stage;
    });
    drawSample(cards.sample, now, run, step, now.stages.length + 2);
    const all = count(run.vocabSize);
    say(
      verdict,
      last < 0
        ? `Nothing cuts: ${tokens(now.numCandidates)} of ${all} can be sampled.`
        : `The last cut is ${now.stages[last].name}: ${tokens(now.numCandidates)} of ${all} can be sampled.`,
    );
  }

  return { reads: ["run", "params", "step"], draw };
}

/** The title, and the buttons for a library's order and for a whole set of settings. */
function headOf(element, presets) {
  const head = node("div.card-head.stages-head", {}, element);
  node("h2", {}, head, "From logits to one token");
  const rules = choiceOf(head, "Order as in", Object.entries(RULE_NAMES), (rule) => setControls({ rule }));
  const row = node("div.presets", {}, head);
  node("span.note", {}, row, "Settings of");
  const buttons = presets.map(({ name, settings, says }) => {
    const button = node("button.small-button", { type: "button", title: says }, row, name);
    button.addEventListener("click", () => setControls(settings));
    return button;
  });
  return {
    show(params, rule) {
      rules.show(rule);
      presets.forEach(({ settings }, index) => {
        set(buttons[index], { "aria-pressed": String(matches(params, settings)) });
      });
    },
  };
}

/** A row of buttons of which one is on. */
function choiceOf(parent, label, choices, choose) {
  const group = node("div.choice", { role: "radiogroup", "aria-label": label }, parent);
  node("span.note", {}, group, label);
  const buttons = choices.map(([value, name]) => {
    const button = node("button.small-button", { type: "button", role: "radio" }, group, name);
    button.addEventListener("click", () => choose(value));
    return [value, button];
  });
  return {
    show(chosen) {
      for (const [value, button] of buttons)
        set(button, { "aria-checked": String(value === chosen), "aria-pressed": String(value === chosen) });
    },
  };
}

/** What the other rules would keep here. With penalties each rule ranks anew: too slow for a moving slider, so left out. */
function compared(run, params, step) {
  if (isOn("penalty", params)) return "";
  const counts = Object.entries(RULE_NAMES).map(([rule, name]) => [name, keptUnder(run, { ...params, rule }, step)]);
  if (counts.every(([, kept]) => kept === counts[0][1])) return ` At this step all four keep ${tokens(counts[0][1])}.`;
  return ` At this step: ${counts.map(([name, kept]) => `${name} keeps ${count(kept)}`).join(", ")}.`;
}

function matches(params, settings) {
  return Object.entries(settings).every(([key, value]) => params[key] === value);
}

// ---- one card

// Gradio takes @container out of a style sheet, so each card is told its width here.
const widths = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) target.classList.toggle("is-crowded", contentRect.width < CROWDED);
});

function makeCard(name) {
  const box = node("li.stage", { "data-stage": name });
  widths.observe(box);
  const head = node("div.stage-head", {}, box);
  const number = node("span.stage-number", {}, head);
  const title = node("b", {}, head);
  const setting = node("span.stage-setting", {}, head);
  const badge = node("span.stage-badge", { hidden: "" }, box, "last cut");
  const view = svg(
    "svg.stage-picture",
    { viewBox: `0 0 ${PICTURE.width} ${PICTURE.height}`, preserveAspectRatio: "none", "aria-hidden": "true" },
    box,
  );
  const gone = svg("path.stage-gone", {}, view);
  const kept = svg("path.stage-kept", {}, view);
  const floor = svg("path.stage-floor", { d: `M0 ${PICTURE.height - 0.5}h${PICTURE.width}` }, view);
  const line = node("div.stage-count", {}, box);
  const big = node("strong", {}, line);
  const small = node("span", {}, line);
  const why = node("p.stage-why", {}, box);
  return { box, number, title, setting, badge, view, gone, kept, floor, big, small, why };
}

function drawModel(card, uncut, run) {
  say(card.number, "1");
  say(card.title, "logits");
  say(card.setting, "softmax");
  fill(
    card,
    uncut,
    uncut.numKept === run.vocabSize
      ? "All tokens, none is impossible."
      : `${tokens(run.vocabSize - uncut.numKept)} of ${count(run.vocabSize)} cannot come at all.`,
  );
}

/** A stage that is off gets a narrow card: only its name and where it would stand. */
function drawStage(card, context, number, isLast) {
  const { stage, params } = context;
  const off = !isOn(stage.name, params);
  say(card.number, String(number));
  say(card.title, stage.name);
  say(card.setting, settingOf(stage.name, params));
  fill(card, stage, reason(context));
  card.badge.hidden = !isLast;
  card.box.classList.toggle("is-binding", isLast);
  card.box.classList.toggle("is-off", off);
  card.box.classList.toggle("is-idle", off || !(stage.cuts || CHANGES_LOGITS.includes(stage.name)));
}

function fill(card, { numKept, keptMass }, why) {
  say(card.big, count(numKept));
  say(card.small, keptMass < 1 ? `kept, ${percent(keptMass)} of the mass` : numKept === 1 ? "token" : "tokens");
  say(card.why, why);
}

/** Which bars all cards show, and their common scale, so that sharpening is seen. */
function viewOf(now) {
  const from = now.start > BARS / 2 ? now.start - BARS / 4 : 0; // what is kept may begin far down
  const to = Math.min(from + BARS, now.probs.length);
  const shown = [now.modelProbs, ...now.stages.map(({ probs }) => probs)].map((probs) => probs.subarray(from, to));
  return { from, to, top: Math.max(...shown.map((probs) => Math.max(...probs))) };
}

/** Bars of the most likely tokens; hatched: what this stage cut. */
function picture(card, stage, before, { top, from, to }) {
  const slot = PICTURE.width / BARS;
  let kept = "",
    gone = "";
  for (let place = from; place < to; place += 1) {
    const stays = isKept(stage, place);
    if (!stays && !(before && isKept(before, place))) continue;
    const height = Math.max(1.5, ((stays ? stage : before).probs[place] / top) * (PICTURE.height - 2));
    const left = (place - from) * slot + 1;
    const bar = `M${left.toFixed(1)} ${PICTURE.height}v${-height.toFixed(2)}h${(slot - 2).toFixed(1)}V${PICTURE.height}z`;
    if (stays) kept += bar;
    else gone += bar;
  }
  set(card.kept, { d: kept || null });
  set(card.gone, { d: gone || null });
}

function drawSample(card, now, run, step, number) {
  const sampled = run.vocabulary[now.ranking[now.sampledPlace]];
  const recorded = run.labels[step];
  const forced = run.forced.has(step);
  say(card.number, String(number));
  say(card.title, "sample");
  say(card.setting, `u = ${now.uniform.toFixed(4)}`);
  say(card.big, sampled);
  say(card.small, percent(now.probs[now.sampledPlace]));
  const changed = now.sampledPlace !== now.chosenPlace;
  say(
    card.why,
    forced
      ? `You chose ${recorded} here.`
      : changed
        ? `The run has ${recorded}: it would differ from here.`
        : now.numCandidates === 1
          ? "One token left: the random number changes nothing."
          : "Where u falls on the sum of the probabilities.",
  );
  card.box.classList.toggle("is-changed", changed && !forced);
  let start = 0;
  for (let place = now.start; place < now.sampledPlace; place += 1) start += now.probs[place];
  const { width, height } = PICTURE;
  const x = (share) => (share * width).toFixed(1);
  set(card.gone, { d: `M0 ${height - 24}h${width}v16H0z` });
  set(card.kept, {
    d: `M${x(start)} ${height - 24}h${Math.max(now.probs[now.sampledPlace] * width, 1.5).toFixed(1)}v16H${x(start)}z`,
  });
  set(card.floor, { d: `M${x(now.uniform)} ${height - 4}V${height - 30}l-5 -9h10l-5 9` });
}
