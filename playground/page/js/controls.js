// The sliders. Each has a range for the hand and a box for exact values; a wrong entry is explained and changes nothing.
// Which there are and how far they reach stands in the table of stages; here are their words.

import { ruleNames, settingsOf, stageNames, useTable } from "./stage_table.js";
import { node, say, set } from "./svg.js";

const MAIN = ["temperature", "top_p", "top_k"]; // always in sight
const WORDS = {
  temperature: { label: "Temperature", hint: "0 = greedy" },
  top_p: { label: "Top-p", hint: "1 = off" },
  top_k: { label: "Top-k", hint: "0 = off" },
  min_p: { label: "Min-p", hint: "0 = off" },
  typical_p: { label: "Typical-p", hint: "1 = off" },
  top_n_sigma: { label: "Top-n-sigma", hint: "0 = off" },
  repetition_penalty: { label: "Repetition penalty", hint: "1 = off" },
  presence_penalty: { label: "Presence penalty", hint: "0 = off" },
  frequency_penalty: { label: "Frequency penalty", hint: "0 = off" },
};

/** Positions 0..200 of the top-k slider: 0 is off, then 1 to the vocabulary by equal ratios: half its length is k < 55. */
export function topKAt(position, vocabSize) {
  return position <= 0 ? 0 : Math.round(vocabSize ** ((position - 1) / 199));
}

export function topKPosition(k, vocabSize) {
  return k <= 0 ? 0 : 1 + (199 * Math.log(Math.min(k, vocabSize))) / Math.log(vocabSize);
}

let change = null; // of the mounted sliders

/** Moves sliders from elsewhere on the page: a preset, a run that was opened. Unknown keys are left out. */
export function setControls(patch) {
  change?.(patch);
}

/**
 * The sliders in the order in which they stand, { main, more }: what the table says of each, and how positions of its
 * range and values become each other.
 */
export function sliders(vocabSize) {
  const stages = stageNames()
    .filter((name) => name !== "penalty")
    .concat("penalty");
  const all = stages.flatMap((stage) => settingsOf(stage)).map((setting) => slider(setting, vocabSize));
  return {
    main: MAIN.map((key) => all.find((each) => each.key === key)),
    more: all.filter(({ key }) => !MAIN.includes(key)),
  };
}

function slider({ field, off, span, step, whole }, vocabSize) {
  const [min, max] = [span[0], span[1] ?? vocabSize];
  const straight = { from: min, to: max, step, toValue: (position) => position, toPosition: (value) => value };
  const byRatios = {
    from: 0,
    to: 200,
    step: 1,
    toValue: (position) => topKAt(position, vocabSize),
    toPosition: (k) => topKPosition(k, vocabSize),
  };
  const words = WORDS[field] ?? { label: field, hint: `${off} = off` };
  return { key: field, ...words, off, min, max, whole, range: field === "top_k" ? byRatios : straight };
}

/** The value typed, or a sentence that says what is wrong with it. */
export function readNumber(text, { label, min, max, whole }) {
  const typed = text.trim();
  // 1,5 is a decimal comma; in a whole number 1,000 is a thousand.
  const value = Number(whole && /^\d{1,3}(,\d{3})+$/.test(typed) ? typed.replaceAll(",", "") : typed.replace(",", "."));
  const kind = whole ? "a whole number" : "a number";
  const range = max === undefined ? `${min} up` : `${min} to ${max}`;
  if (!typed || !Number.isFinite(value) || (whole && !Number.isInteger(value)) || value < min || value > max) {
    return { problem: `${label} must be ${kind} from ${range}.` };
  }
  return { value };
}

export function mount(element, api) {
  const { table, ...params } = api.props.value;
  if (table) useTable(table); // it stays here: what goes back to Python is the settings
  const shown = {}; // key -> function that shows the value on its control
  const main = node("div.controls-main", {}, element);
  const more = node("div.controls-more", { id: "controls-more", hidden: "" }, element);
  const problem = node("div.problem", { role: "alert" }, element);
  const panel = { params, shown, problem, change: takeIn };
  change = takeIn;

  function takeIn(patch) {
    const known = Object.keys(patch).filter((key) => key in shown);
    for (const key of known) params[key] = patch[key];
    for (const key of known) shown[key]();
    say(problem, "");
    tell();
  }

  function tell() {
    api.store.set({ params: { ...params } });
    api.setValue({ ...params });
  }

  const offered = sliders(params.vocab_size);
  for (const each of offered.main) addSlider(panel, main, each);
  addNumbers(panel, main, more);
  for (const each of offered.more) addSlider(panel, more, each);
  addChoices(panel, more);
  tell();
  return {
    /** Python (a preset, a loaded run) sets the sliders. */
    update(value) {
      const { table: _known, ...given } = value ?? {};
      if (Object.entries(given).every(([key, each]) => params[key] === each)) return;
      Object.assign(params, given);
      for (const show of Object.values(shown)) show();
      tell();
    },
  };
}

function addSlider(panel, parent, slider) {
  const { params, shown } = panel;
  const {
    key,
    label,
    off,
    hint,
    range: { from, to, step, toValue, toPosition },
  } = slider;
  params[key] ??= off;
  const box = node("div.control", {}, parent);
  const head = node("div.control-head", {}, box);
  node("label", { for: `slider-${key}` }, head, label);
  node("span.hint", {}, head, hint);
  const typed = node("input.number", { type: "text", inputmode: "decimal", "aria-label": `${label} value` }, head);
  const reset = node(
    "button.reset",
    { type: "button", title: `${label} off`, "aria-label": `Turn ${label} off` },
    head,
    "↺",
  );
  const range = node(
    "input",
    { type: "range", id: `slider-${key}`, "aria-label": label, min: from, max: to, step },
    box,
  );
  shown[key] = () => {
    const value = params[key];
    if (document.activeElement !== typed) typed.value = String(value);
    if (document.activeElement !== range) range.value = toPosition(value);
    range.style.setProperty("--filled", `${(100 * (toPosition(value) - from)) / (to - from)}%`);
    set(range, { "aria-valuetext": value === off ? `${value}, off` : String(value) });
    box.classList.toggle("is-off", value === off);
  };
  range.addEventListener("input", () => panel.change({ [key]: tidy(toValue(Number(range.value))) }));
  onTyped(panel, typed, slider);
  reset.addEventListener("click", () => {
    range.value = toPosition(off);
    panel.change({ [key]: off });
  });
  shown[key]();
  range.value = toPosition(params[key]);
}

function onTyped({ params, problem, change }, input, spec) {
  const take = () => {
    const { value, problem: wrong } = readNumber(input.value, spec);
    set(input, { "aria-invalid": wrong ? "true" : null });
    if (wrong) say(problem, `${wrong} Still using ${params[spec.key]}.`);
    else change({ [spec.key]: value });
  };
  input.addEventListener("input", take);
  input.addEventListener("blur", () => {
    set(input, { "aria-invalid": null });
    say(problem, "");
    input.value = String(params[spec.key]);
  });
}

function addNumbers(panel, parent, more) {
  const { params } = panel;
  const box = node("div.control.numbers", {}, parent);
  const seed = addNumber(panel, box, { key: "seed", label: "Seed", min: 0, max: params.most_seed, whole: true });
  const dice = node(
    "button.small-button",
    { type: "button", title: "Another seed", "aria-label": "Another seed" },
    seed,
    "⚄",
  );
  dice.addEventListener("click", () => panel.change({ seed: Math.floor(Math.random() * 1e6) }));
  addNumber(panel, box, {
    key: "max_new_tokens",
    label: "New tokens",
    min: 1,
    max: params.most_new_tokens,
    whole: true,
  });
  const button = node(
    "button.small-button",
    { type: "button", "aria-expanded": "false", "aria-controls": "controls-more" },
    box,
    "Min-p, typical-p, penalties, rule …",
  );
  button.addEventListener("click", () => {
    more.hidden = !more.hidden;
    set(button, { "aria-expanded": String(!more.hidden) });
  });
}

function addNumber(panel, parent, spec) {
  const { params, shown } = panel;
  const row = node("div.number-row", {}, parent);
  node("label", { for: spec.key }, row, spec.label);
  const input = node(
    "input.number",
    { id: spec.key, type: "text", inputmode: "numeric", "aria-label": spec.label },
    row,
  );
  shown[spec.key] = () => {
    if (document.activeElement !== input) input.value = String(params[spec.key]);
  };
  onTyped(panel, input, spec);
  shown[spec.key]();
  return row;
}

function addChoices({ params, shown, change }, parent) {
  params.rule ??= "transformers";
  params.penalty_counts_prompt ??= true;
  const box = node("div.control", {}, parent);
  node("label", { for: "rule" }, node("div.control-head", {}, box), "Order of the stages, as in");
  const rule = node("select", { id: "rule" }, box);
  for (const name of ruleNames()) node("option", { value: name }, rule, name);
  shown.rule = () => {
    rule.value = params.rule;
  };
  rule.addEventListener("change", () => change({ rule: rule.value }));
  const line = node("label.check", {}, node("div.control", {}, parent));
  const counts = node("input", { type: "checkbox" }, line);
  node("span", {}, line, "Penalties count the prompt");
  shown.penalty_counts_prompt = () => {
    counts.checked = params.penalty_counts_prompt;
  };
  counts.addEventListener("change", () => change({ penalty_counts_prompt: counts.checked }));
  shown.rule();
  shown.penalty_counts_prompt();
}

/** 0.1 + 0.2 is not something a person wants to read. */
function tidy(value) {
  return Number(value.toFixed(4));
}
