// The sliders. Each has a range for the hand and a box for exact values, taken on Enter or on leaving the box; a wrong
// entry is explained and changes nothing. Which there are and how far they reach stands in the table of stages.

import { ruleNames, settingsOf, stageNames, useTable } from "./stage_table.js";
import { node, say, set } from "./svg.js";
import { followFinger } from "./touch.js";
import * as words from "./words.js";

const MAIN = ["temperature", "top_p", "top_k"]; // always in sight

/**
 * What a box takes: a number from `min` to `max`, under a label of the catalogue.
 * @typedef {{ key: string, min: number, max: number, whole: boolean }} Spec
 * @typedef {{ from: number, to: number, step: number, toValue: (position: number) => number,
 *   toPosition: (value: number) => number }} Range  of the slider, its positions and what they mean
 * @typedef {Spec & { off: number, range: Range }} Slider
 * @typedef {Record<string, any>} Params
 * @typedef {ReturnType<typeof panelOf>} ControlPanel
 */

/** Positions 0..200 of the top-k slider: 0 is off, then 1 to the vocabulary by equal ratios: half its length is k < 55.
 * @param {number} position @param {number} vocabSize */
export function topKAt(position, vocabSize) {
  return position <= 0 ? 0 : Math.round(vocabSize ** ((position - 1) / 199));
}

/** @param {number} k @param {number} vocabSize */
export function topKPosition(k, vocabSize) {
  return k <= 0 ? 0 : 1 + (199 * Math.log(Math.min(k, vocabSize))) / Math.log(vocabSize);
}

/** @type {((patch: Params) => void) | null} */
let change = null; // of the mounted sliders
/** @type {((model: string) => Promise<void>) | null} */
let follow = null;

/** Moves sliders from elsewhere on the page: a preset, a run that was opened. Unknown keys are left out. @param {Params} patch */
export function setControls(patch) {
  change?.(patch);
}

/** Resolves when the sliders reach as far as this model needs. @param {string} model */
export async function controlsFollow(model) {
  await follow?.(model);
}

/**
 * The sliders in the order in which they stand, { main, more }: what the table says of each, and how positions of its
 * range and values become each other.
 * @param {Params} limits  { vocab_size } of the chosen model; it may become another one
 */
export function sliders(limits) {
  const stages = stageNames()
    .filter((name) => name !== "penalty")
    .concat("penalty");
  const all = stages.flatMap((stage) => settingsOf(stage)).map((setting) => slider(setting, limits));
  return {
    main: MAIN.flatMap((key) => all.filter((each) => each.key === key)),
    more: all.filter(({ key }) => !MAIN.includes(key)),
  };
}

/** @param {import("./stage_table.js").Setting} setting @param {Params} limits @returns {Slider} */
function slider({ field, off, span: [min, most], step, whole }, limits) {
  const max = most ?? limits.vocab_size;
  /** @type {Range} */
  const straight = { from: min, to: max, step, toValue: (position) => position, toPosition: (value) => value };
  /** @type {Range} */
  const byRatios = {
    from: 0,
    to: 200,
    step: 1,
    toValue: (position) => topKAt(position, limits.vocab_size),
    toPosition: (k) => topKPosition(k, limits.vocab_size),
  };
  const range = field === "top_k" ? byRatios : straight;
  return {
    ...{ key: field, off, min, whole, range },
    get max() {
      return most ?? limits.vocab_size;
    },
  };
}

/** What a setting is called. @param {string} key */
const labelOf = (key) => words.say(`page.controls.label.${key}`);

/** The value typed, or what is wrong with it, to be said.
 * @param {string} text @param {Spec} spec @returns {{ value: number } | { problem: import("./words.js").Told }} */
export function readNumber(text, { key, min, max, whole }) {
  const typed = text.trim();
  // 1,5 is a decimal comma; in a whole number 1,000 is a thousand.
  const value = Number(whole && /^\d{1,3}(,\d{3})+$/.test(typed) ? typed.replaceAll(",", "") : typed.replace(",", "."));
  if (typed && Number.isFinite(value) && (!whole || Number.isInteger(value)) && value >= min && value <= max)
    return { value };
  const label = { key: `page.controls.label.${key}`, facts: {} };
  return { problem: { key: `page.controls.${whole ? "whole" : "number"}`, facts: { label, min, max } } };
}

/** @param {HTMLElement} element @param {import("./types.js").PanelApi} api @returns {import("./types.js").Panel} */
export function mount(element, api) {
  const { table, model, ...params } = api.props.value;
  if (table) useTable(table); // it stays here: what goes back to Python is the settings
  const main = node("div.controls-main", {}, element);
  const more = node("div.controls-more", { id: "controls-more", hidden: "" }, element);
  const problem = node("div.problem", { role: "alert" }, element);
  const panel = panelOf(params, problem, () => {
    api.store.set({ params: /** @type {import("./types.js").Params} */ ({ ...params }) });
    api.setValue({ ...params });
  });
  const offered = sliders(params);
  for (const each of offered.main) addSlider(panel, main, each);
  addMoreButton(main, more);
  addNumbers(panel, more);
  for (const each of offered.more) addSlider(panel, more, each);
  addChoices(panel, more);
  panel.shown.system = () => {}; // the system prompt's box stands beside what the model reads
  panel.start();
  change = panel.change;
  const following = limitsOf(api, model, (limits) => {
    Object.assign(params, limits);
    panel.change({ top_k: Math.min(params.top_k, params.vocab_size) }); // which also moves its slider
  });
  follow = following;
  return {
    reads: ["bar"],
    draw({ bar }) {
      following(bar?.model ?? model);
    },
    /** Python (a preset, a loaded run) sets the sliders. */
    update(value) {
      const { table: _known, ...given } = value ?? {};
      if (Object.entries(given).every(([key, each]) => params[key] === each)) return;
      Object.assign(params, given);
      panel.change(given);
    },
  };
}

/** Asks how far the sliders reach when another model is chosen. @param {import("./types.js").PanelApi} api
 * @param {string} known  the model whose limits are known @param {(limits: Params) => void} take */
function limitsOf({ server }, known, take) {
  let asked = known;
  let answered = Promise.resolve();

  /** @param {string} model */
  async function ask(model) {
    const limits = await server.limits_of(model).catch(() => ({ problem: "" }));
    if (asked === model && limits.problem === undefined) take(limits);
  }

  return (/** @type {string} */ model) => {
    if (model !== asked) answered = ask(model);
    asked = model;
    return answered;
  };
}

/**
 * What the controls share. They keep the settings themselves: asking the store for them would work the run out again at
 * every move of a slider, and not once a frame.
 * @param {Params} params @param {Element} problem @param {() => void} tell  hands the settings on
 */
function panelOf(params, problem, tell) {
  /** @type {Record<string, () => void>} by setting: shows its value on its control */
  const shown = {};
  let first = params; // for the reset button
  /** @param {Params} patch */
  function change(patch) {
    const known = Object.keys(patch).filter((key) => key in shown);
    for (const key of known) params[key] = patch[key];
    for (const key of known) shown[key]();
    say(problem, "");
    tell();
  }
  function start() {
    first = { ...params };
    tell();
  }
  return { params, shown, problem, change, start, reset: () => change(first) };
}

/** @param {ControlPanel} panel @param {Element} parent @param {Slider} slider */
function addSlider(panel, parent, slider) {
  const { params, shown } = panel;
  const { key, off, range: positions } = slider;
  const { from, to, step, toValue, toPosition } = positions;
  const label = labelOf(key);
  params[key] ??= off;
  const box = node("div.control", {}, parent);
  const head = node("div.control-head", {}, box);
  node("label", { for: `slider-${key}` }, head, label);
  const hint = key === "temperature" ? words.say("page.controls.greedy") : words.say("page.controls.off_at", { off });
  node("span.hint", {}, head, hint);
  const typed = node(
    "input.number",
    { type: "text", inputmode: "decimal", "aria-label": words.say("page.controls.value_of", { label }) },
    head,
  );
  const turnOff = node(
    "button.turn-off",
    {
      type: "button",
      title: words.say("page.controls.off_title", { label }),
      "aria-label": words.say("page.controls.turn_off", { label }),
    },
    head,
    words.say("page.controls.off"),
  );
  const lane = node("div.slider-lane", {}, box);
  const range = node(
    "input",
    { type: "range", id: `slider-${key}`, "aria-label": label, min: from, max: to, step },
    lane,
  );
  shown[key] = () => {
    const value = params[key];
    if (document.activeElement !== typed) typed.value = String(value);
    // Several positions may mean one value: the hand's own is left where it is.
    if (tidy(toValue(Number(range.value))) !== value) range.value = String(toPosition(value));
    range.style.setProperty("--filled", `${(100 * (toPosition(value) - from)) / (to - from)}%`);
    set(range, { "aria-valuetext": value === off ? words.say("page.controls.is_off", { off }) : String(value) });
    box.classList.toggle("is-off", value === off);
  };
  range.addEventListener("input", () => panel.change({ [key]: tidy(toValue(Number(range.value))) }));
  followFinger(lane, range);
  onTyped(panel, typed, slider);
  turnOff.addEventListener("click", () => panel.change({ [key]: off }));
  shown[key]();
}

/** While somebody types only a wrong entry is pointed out: 300 passes through 3 and 30, which nobody chose.
 * @param {ControlPanel} panel @param {HTMLInputElement} input @param {Spec} spec */
function onTyped({ params, problem, change }, input, spec) {
  const read = () => {
    const entry = readNumber(input.value, spec);
    const isWrong = "problem" in entry;
    set(input, { "aria-invalid": isWrong ? "true" : null });
    const facts = isWrong && { problem: entry.problem, value: params[spec.key] };
    say(problem, facts ? words.say("page.controls.still_using", facts) : "");
    return entry;
  };
  const take = () => {
    if (input.value === String(params[spec.key])) return;
    const entry = read();
    const isWrong = "problem" in entry;
    if (!isWrong) change({ [spec.key]: entry.value });
    if (!isWrong || document.activeElement !== input) input.value = String(params[spec.key]);
  };
  input.addEventListener("input", read);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") take();
  });
  input.addEventListener("blur", () => {
    take();
    set(input, { "aria-invalid": null });
  });
}

/** What is set once and then left: behind a button. @param {ControlPanel} panel @param {Element} more */
function addNumbers(panel, more) {
  const { params } = panel;
  const box = node("div.control.numbers", {}, more);
  const seed = addNumber(panel, box, { key: "seed", min: 0, max: params.most_seed, whole: true });
  const another = words.say("page.controls.another_seed");
  const dice = node("button.small-button", { type: "button", title: another, "aria-label": another }, seed, "⚄");
  dice.addEventListener("click", () => panel.change({ seed: Math.floor(Math.random() * 1e6) }));
  addNumber(panel, box, { key: "max_new_tokens", min: 1, max: params.most_new_tokens, whole: true });
  const reset = node(
    "button.small-button",
    { type: "button", title: words.say("page.controls.reset_title") },
    box,
    words.say("page.controls.reset"),
  );
  reset.addEventListener("click", panel.reset);
}

/** @param {Element} parent @param {HTMLElement} more */
function addMoreButton(parent, more) {
  const button = node(
    "button.small-button.controls-open",
    { type: "button", "aria-expanded": "false", "aria-controls": "controls-more" },
    parent,
    words.say("page.controls.more"),
  );
  button.addEventListener("click", () => {
    more.hidden = !more.hidden;
    set(button, { "aria-expanded": String(!more.hidden) });
  });
}

/** @param {ControlPanel} panel @param {Element} parent @param {Spec} spec */
function addNumber(panel, parent, spec) {
  const { params, shown } = panel;
  const label = labelOf(spec.key);
  const row = node("div.number-row", {}, parent);
  node("label", { for: spec.key }, row, label);
  const input = node("input.number", { id: spec.key, type: "text", inputmode: "numeric", "aria-label": label }, row);
  shown[spec.key] = () => {
    if (document.activeElement !== input) input.value = String(params[spec.key]);
  };
  onTyped(panel, input, spec);
  shown[spec.key]();
  return row;
}

/** @param {ControlPanel} panel @param {Element} parent */
function addChoices({ params, shown, change }, parent) {
  params.rule ??= "transformers";
  params.penalty_counts_prompt ??= true;
  const box = node("div.control", {}, parent);
  node("label", { for: "rule" }, node("div.control-head", {}, box), words.say("page.controls.rule"));
  const rule = node("select", { id: "rule" }, box);
  for (const name of ruleNames()) node("option", { value: name }, rule, name);
  shown.rule = () => {
    rule.value = params.rule;
  };
  rule.addEventListener("change", () => change({ rule: rule.value }));
  const line = node("label.check", {}, node("div.control", {}, parent));
  const counts = node("input", { type: "checkbox" }, line);
  node("span", {}, line, words.say("page.controls.counts_prompt"));
  shown.penalty_counts_prompt = () => {
    counts.checked = params.penalty_counts_prompt;
  };
  counts.addEventListener("change", () => change({ penalty_counts_prompt: counts.checked }));
  shown.rule();
  shown.penalty_counts_prompt();
}

/** 0.1 + 0.2 is not something a person wants to read. @param {number} value */
function tidy(value) {
  return Number(value.toFixed(4));
}
