// From the model's probabilities to the one token: a card for each stage, in the order of the chosen rule.

import { setControls } from "./controls.js";
import { RULES, keptUnder, rereadStep } from "./reread.js";
import { node, percent, pool, say, set, svg } from "./svg.js";

const BARS = 24;
const PICTURE = { width: 216, height: 56 };
const RULE_NAMES = { transformers: "transformers", minimind: "MiniMind", vllm: "vLLM", "llama.cpp": "llama.cpp" };
const RULE_WORDS = {
  transformers: "Temperature before the cuts, so a higher T lets more tokens into the nucleus. Here exactly k tokens pass top-k; transformers itself keeps ties.",
  minimind: "Temperature before the penalty. Top-p stops at the token that exceeds p, not at the one that reaches it; ties at k all pass.",
  vllm: "Min-p cuts first, so top-k and top-p share out what it left. Ties at k all pass.",
  "llama.cpp": "Temperature last: the cuts see the model's own probabilities, so T never changes how many tokens stay.",
};

export function mount(element, api) {
  const presets = api.props.value?.presets ?? [];
  const head = node("div.card-head.stages-head", {}, element);
  node("h2", {}, head, "From logits to one token");
  const rules = choiceOf(head, "Order as in", Object.entries(RULE_NAMES), (rule) => setControls({ rule }));
  const presetRow = node("div.presets", {}, head);
  node("span.note", {}, presetRow, "Settings of");
  const buttons = presets.map(({ name, settings, says }) => {
    const button = node("button.small-button", { type: "button", title: says }, presetRow, name);
    button.addEventListener("click", () => setControls(settings));
    return button;
  });
  const line = node("div.rule-words", {}, element);
  const words = node("span.note", {}, line);
  const verdict = node("b.stages-verdict", { role: "status" }, line);
  const strip = node("ol.stages", {}, element);
  const empty = node("p.empty-note", {}, element, "After Generate: what each stage leaves of the distribution.");

  const cards = { model: makeCard("model"), draw: makeCard("draw") };
  for (const name of RULES.transformers.order) cards[name] = makeCard(name);
  let order = null;

  function draw({ run, params, step }) {
    const ready = Boolean(run?.logits && params);
    empty.hidden = ready;
    strip.hidden = verdict.hidden = !ready;
    if (!params) return;
    const rule = params.rule ?? "transformers";
    rules.show(rule);
    presets.forEach(({ settings }, index) => {
      set(buttons[index], { "aria-pressed": String(matches(params, settings)) });
    });
    const preset = presets.find(({ settings }) => matches(params, settings));
    say(words, `${preset ? `${preset.says} ` : ""}${RULE_WORDS[rule]}${ready ? compared(run, params, step) : ""}`);
    if (!ready) return;
    if (order !== rule) {
      order = rule;
      strip.replaceChildren(...["model", ...RULES[rule].order, "draw"].map((name) => cards[name].box));
    }
    drawCards(rereadStep(run, params, step), run, params, step);
  }

  function drawCards(now, run, params, step) {
    const { stages } = now;
    const binding = stages.findLastIndex(({ cuts }) => cuts);
    const top = Math.max(now.modelProbs[0], ...stages.map(({ probs }) => probs[0]));
    fill(cards.model, 1, "logits", "the model's softmax", run.vocabSize, 1, "All tokens, none is impossible.", false);
    picture(cards.model, now.modelProbs, null, run.vocabSize, run.vocabSize, top);
    let before = { numKept: run.vocabSize, probs: now.modelProbs };
    stages.forEach((stage, index) => {
      const context = { stage, before, run, params, step, now };
      fill(cards[stage.name], index + 2, stage.name, settingOf(stage.name, params), stage.numKept, stage.keptMass,
        reason(context), index === binding, isIdle(context));
      picture(cards[stage.name], stage.probs, before.probs, stage.numKept, before.numKept, top);
      before = stage;
    });
    drawDraw(cards.draw, now, run, step, stages.length + 2);
    say(verdict, binding < 0
      ? `Nothing cuts: all ${run.vocabSize.toLocaleString("en")} tokens can be drawn.`
      : `${stages[binding].name} binds: ${tokens(now.numCandidates)} left of ${run.vocabSize.toLocaleString("en")}.`);
  }

  return { draw };
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
      for (const [value, button] of buttons) set(button, { "aria-checked": String(value === chosen), "aria-pressed": String(value === chosen) });
    },
  };
}

/** What the other rules would keep here. With penalties each rule ranks anew: too slow for a moving slider, so left out. */
function compared(run, params, step) {
  const { repetition_penalty = 1, presence_penalty = 0, frequency_penalty = 0 } = params;
  if (repetition_penalty !== 1 || presence_penalty !== 0 || frequency_penalty !== 0) return "";
  const counts = Object.entries(RULE_NAMES).map(([rule, name]) => [name, keptUnder(run, { ...params, rule }, step)]);
  if (counts.every(([, count]) => count === counts[0][1])) return ` At this step all four keep ${tokens(counts[0][1])}.`;
  return ` At this step: ${counts.map(([name, count]) => `${name} keeps ${count.toLocaleString("en")}`).join(", ")}.`;
}

function matches(params, settings) {
  return Object.entries(settings).every(([key, value]) => params[key] === value);
}

// ---- one card

function makeCard(name) {
  const box = node("li.stage", { "data-stage": name });
  const head = node("div.stage-head", {}, box);
  const number = node("span.stage-number", {}, head);
  const title = node("b", {}, head);
  const setting = node("span.stage-setting", {}, head);
  const badge = node("span.stage-badge", { hidden: "" }, box, "binds");
  const view = svg("svg.stage-picture", { viewBox: `0 0 ${PICTURE.width} ${PICTURE.height}`, preserveAspectRatio: "none", "aria-hidden": "true" }, box);
  const gone = svg("path.stage-gone", {}, view);
  const kept = svg("path.stage-kept", {}, view);
  const floor = svg("path.stage-floor", { d: `M0 ${PICTURE.height - 0.5}h${PICTURE.width}` }, view);
  const count = node("div.stage-count", {}, box);
  const big = node("strong", {}, count);
  const small = node("span", {}, count);
  const why = node("p.stage-why", {}, box);
  return { box, number, title, setting, badge, view, gone, kept, floor, big, small, why };
}

function fill(card, number, title, setting, numKept, keptMass, why, binds, idle = false) {
  say(card.number, String(number));
  say(card.title, title);
  say(card.setting, setting);
  say(card.big, numKept.toLocaleString("en"));
  say(card.small, keptMass < 1 ? `kept, ${percent(keptMass)} of the mass` : numKept === 1 ? "token" : "tokens");
  say(card.why, why);
  card.badge.hidden = !binds;
  card.box.classList.toggle("is-binding", binds);
  card.box.classList.toggle("is-idle", idle);
}

/** Bars of the likeliest tokens; hatched: what this stage removed. All cards share one scale, so sharpening is seen. */
function picture(card, probs, probsBefore, numKept, numBefore, top) {
  const slot = PICTURE.width / BARS;
  let kept = "", gone = "";
  const shown = Math.min(BARS, probs.length);
  for (let place = 0; place < shown; place += 1) {
    const isKept = place < numKept;
    if (!isKept && (!probsBefore || place >= numBefore)) break;
    const height = Math.max(1.5, ((isKept ? probs[place] : probsBefore[place]) / top) * (PICTURE.height - 2));
    const bar = `M${(place * slot + 1).toFixed(1)} ${PICTURE.height}v${-height.toFixed(2)}h${(slot - 2).toFixed(1)}V${PICTURE.height}z`;
    if (isKept) kept += bar;
    else gone += bar;
  }
  set(card.kept, { d: kept || null });
  set(card.gone, { d: gone || null });
}

function drawDraw(card, now, run, step, number) {
  const drawn = run.vocabulary[now.ranking[now.drawnPlace]];
  const recorded = run.labels[step];
  const forced = run.forced.has(step);
  say(card.number, String(number));
  say(card.title, "draw");
  say(card.setting, `u = ${now.uniform.toFixed(4)}`);
  say(card.big, drawn);
  say(card.small, percent(now.probs[now.drawnPlace]));
  const changed = now.drawnPlace !== now.chosenPlace;
  say(card.why, forced ? `You chose ${recorded} here.` : changed
    ? `The run has ${recorded}: it would differ from here.`
    : now.numCandidates === 1 ? "One token left: the random number changes nothing." : "Where u falls on the sum of the probabilities.");
  card.box.classList.toggle("is-changed", changed && !forced);
  let start = 0;
  for (let place = 0; place < now.drawnPlace; place += 1) start += now.probs[place];
  const { width, height } = PICTURE;
  const x = (share) => (share * width).toFixed(1);
  set(card.gone, { d: `M0 ${height - 24}h${width}v16H0z` });
  set(card.kept, { d: `M${x(start)} ${height - 24}h${Math.max(now.probs[now.drawnPlace] * width, 1.5).toFixed(1)}v16H${x(start)}z` });
  set(card.floor, { d: `M${x(now.uniform)} ${height - 4}V${height - 30}l-5 -9h10l-5 9` });
}

// ---- words

function settingOf(name, params) {
  const { temperature, top_k, top_p, min_p } = params;
  if (name === "temperature") return String(temperature);
  if (name === "top-k") return top_k ? top_k.toLocaleString("en") : "off";
  if (name === "top-p") return top_p < 1 ? String(top_p) : "off";
  if (name === "min-p") return min_p > 0 ? String(min_p) : "off";
  return penaltiesOf(params).join(", ") || "off";
}

function penaltiesOf({ repetition_penalty = 1, presence_penalty = 0, frequency_penalty = 0 }) {
  return [
    repetition_penalty !== 1 && `repetition ${repetition_penalty}`,
    presence_penalty !== 0 && `presence ${presence_penalty}`,
    frequency_penalty !== 0 && `frequency ${frequency_penalty}`,
  ].filter(Boolean);
}

function isIdle({ stage, before, params }) {
  if (stage.name === "penalty") return !penaltiesOf(params).length;
  if (stage.name === "temperature") return params.temperature === 1;
  return stage.numKept === before.numKept;
}

/** What the stage did, or why it did nothing. */
function reason(context) {
  const { stage, before, params } = context;
  if (stage.name === "penalty") return penaltyReason(context);
  if (stage.name === "temperature") return temperatureReason(context);
  const off = { "top-k": !params.top_k, "top-p": params.top_p >= 1, "min-p": !(params.min_p > 0) }[stage.name];
  if (off) return "Off.";
  if (params.temperature === 0) return before.numKept === 1 ? "Nothing to do: T = 0 has left one token." : "Not asked: with T = 0 the likeliest wins.";
  if (before.numKept === 1) return "Nothing to do: one token is left.";
  return { "top-k": topKReason, "top-p": topPReason, "min-p": minPReason }[stage.name](context);
}

function topKReason({ stage, before, params }) {
  if (!stage.cuts) return `Nothing to do: ${before.numKept.toLocaleString("en")} came in, no more than k.`;
  const ties = stage.numKept - params.top_k;
  return ties > 0 ? `The ${params.top_k} likeliest and ${ties} as likely as the last.` : "The likeliest, however likely.";
}

function topPReason({ stage, before, params }) {
  if (!stage.cuts) return `Nothing to do: all ${before.numKept.toLocaleString("en")} are needed to reach ${params.top_p}.`;
  if (stage.numKept === 1) return `The likeliest alone has ${percent(before.probs[0])}.`;
  return `The likeliest whose sum reaches ${params.top_p}.`;
}

function minPReason({ stage, before, params }) {
  const bar = percent(params.min_p * before.probs[0]);
  return stage.cuts ? `At least ${bar}: ${params.min_p} of the likeliest.` : `Nothing to do: all have at least ${bar}.`;
}

function temperatureReason({ stage, before, params }) {
  const { temperature } = params;
  if (temperature === 0) return "Greedy: the likeliest only.";
  if (temperature === 1) return "Nothing to do: division by 1.";
  if (before.numKept === 1) return "Nothing to do: one token is left.";
  const change = `${percent(before.probs[0])} → ${percent(stage.probs[0])} for the first`;
  return `${temperature < 1 ? "Sharper" : "Flatter"}: ${change}.`;
}

function penaltyReason({ params, run, step }) {
  if (!penaltiesOf(params).length) return "Off.";
  const counted = params.penalty_counts_prompt ?? true;
  const seen = new Set([...(counted ? run.promptIds : []), ...run.tokenIds.slice(0, step)]).size;
  if (!seen) return "Nothing to do: no token was written yet.";
  return `Changes ${seen} tokens seen ${counted ? "in prompt and answer" : "in the answer"}.`;
}

function tokens(count) {
  return `${count.toLocaleString("en")} token${count === 1 ? "" : "s"}`;
}
