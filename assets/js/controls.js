// The sliders. Each has a range for the hand and a box for exact values; a wrong entry is explained and changes nothing.

import { RULES } from "./reread.js";
import { node, say, set } from "./svg.js";

const REST_MS = 300; // a hand that rests this long has settled

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

const straight = { toValue: (position) => position, toPosition: (value) => value };

function sliders(vocabSize) {
  return [
    { key: "temperature", label: "Temperature", min: 0, max: 2, step: 0.01, off: 1, hint: "0 = greedy" },
    { key: "top_p", label: "Top-p", min: 0, max: 1, step: 0.01, off: 1, hint: "1 = off" },
    {
      key: "top_k", label: "Top-k", min: 0, max: vocabSize, step: 1, off: 0, hint: "0 = off", whole: true,
      positions: 200, toValue: (position) => topKAt(position, vocabSize), toPosition: (k) => topKPosition(k, vocabSize),
    },
  ].map((slider) => ({ ...straight, ...slider }));
}

const FURTHER = [
  { key: "min_p", label: "Min-p", min: 0, max: 1, step: 0.01, off: 0, hint: "0 = off" },
  { key: "repetition_penalty", label: "Repetition penalty", min: 0.5, max: 2, step: 0.05, off: 1, hint: "1 = off" },
  { key: "presence_penalty", label: "Presence penalty", min: -2, max: 2, step: 0.1, off: 0, hint: "0 = off" },
  { key: "frequency_penalty", label: "Frequency penalty", min: -2, max: 2, step: 0.1, off: 0, hint: "0 = off" },
].map((slider) => ({ ...straight, ...slider }));

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
  const params = { ...api.props.value };
  const vocabSize = params.vocab_size;
  const shown = {}; // key -> function that shows the value on its control
  const main = node("div.controls-main", {}, element);
  const more = node("div.controls-more", { id: "controls-more", hidden: "" }, element);
  const problem = node("div.problem", { role: "alert" }, element);
  let timer = 0;

  change = (patch) => {
    const known = Object.keys(patch).filter((key) => key in shown);
    for (const key of known) params[key] = patch[key];
    for (const key of known) shown[key]();
    say(problem, "");
    api.store.set({ params: { ...params } });
    api.setValue({ ...params });
    clearTimeout(timer);
    timer = setTimeout(() => api.trigger("settled"), REST_MS);
  };

  for (const slider of sliders(vocabSize)) addSlider(main, slider);
  addNumbers(main);
  for (const slider of FURTHER) addSlider(more, slider);
  addChoices(more);

  function addSlider(parent, slider) {
    const { key, label, min, max, step, off, hint } = slider;
    params[key] ??= off;
    const box = node("div.control", {}, parent);
    const head = node("div.control-head", {}, box);
    node("label", { for: `slider-${key}` }, head, label);
    node("span.hint", {}, head, hint);
    const typed = node("input.number", { type: "text", inputmode: "decimal", "aria-label": `${label} value` }, head);
    const reset = node("button.reset", { type: "button", title: `${label} off`, "aria-label": `Turn ${label} off` }, head, "↺");
    const range = node("input", {
      type: "range", id: `slider-${key}`, "aria-label": label,
      min: slider.positions ? 0 : min, max: slider.positions ?? max, step: slider.positions ? 1 : step,
    }, box);
    shown[key] = () => {
      const value = params[key];
      if (document.activeElement !== typed) typed.value = String(value);
      if (document.activeElement !== range) range.value = slider.toPosition(value);
      const span = Number(range.max) - Number(range.min);
      range.style.setProperty("--filled", `${(100 * (slider.toPosition(value) - Number(range.min))) / span}%`);
      set(range, { "aria-valuetext": value === off ? `${value}, off` : String(value) });
      box.classList.toggle("is-off", value === off);
    };
    range.addEventListener("input", () => change({ [key]: tidy(slider.toValue(Number(range.value))) }));
    onTyped(typed, slider, (value) => change({ [key]: value }), () => params[key]);
    reset.addEventListener("click", () => { range.value = slider.toPosition(off); change({ [key]: off }); });
    shown[key]();
    range.value = slider.toPosition(params[key]);
  }

  function onTyped(input, spec, accept, present) {
    const take = () => {
      const { value, problem: wrong } = readNumber(input.value, spec);
      set(input, { "aria-invalid": wrong ? "true" : null });
      if (wrong) say(problem, `${wrong} Still using ${present()}.`);
      else accept(value);
    };
    input.addEventListener("input", take);
    input.addEventListener("blur", () => {
      set(input, { "aria-invalid": null });
      say(problem, "");
      input.value = String(present());
    });
  }

  function addNumbers(parent) {
    const box = node("div.control.numbers", {}, parent);
    const seed = addNumber(box, { key: "seed", label: "Seed", min: 0, max: Number.MAX_SAFE_INTEGER, whole: true });
    const dice = node("button.small-button", { type: "button", title: "Another seed", "aria-label": "Another seed" }, seed, "⚄");
    dice.addEventListener("click", () => change({ seed: Math.floor(Math.random() * 1e6) }));
    addNumber(box, { key: "max_new_tokens", label: "New tokens", min: 1, max: params.most_new_tokens, whole: true });
    const button = node("button.small-button", { type: "button", "aria-expanded": "false", "aria-controls": "controls-more" },
      box, "Min-p, penalties, rule …");
    button.addEventListener("click", () => {
      more.hidden = !more.hidden;
      set(button, { "aria-expanded": String(!more.hidden) });
    });
  }

  function addNumber(parent, spec) {
    const row = node("div.number-row", {}, parent);
    node("label", { for: spec.key }, row, spec.label);
    const input = node("input.number", { id: spec.key, type: "text", inputmode: "numeric", "aria-label": spec.label }, row);
    shown[spec.key] = () => { if (document.activeElement !== input) input.value = String(params[spec.key]); };
    onTyped(input, spec, (value) => change({ [spec.key]: value }), () => params[spec.key]);
    shown[spec.key]();
    return row;
  }

  function addChoices(parent) {
    params.rule ??= "transformers";
    params.penalty_counts_prompt ??= true;
    const box = node("div.control", {}, parent);
    node("label", { for: "rule" }, node("div.control-head", {}, box), "Order of the stages, as in");
    const rule = node("select", { id: "rule" }, box);
    for (const name of Object.keys(RULES)) node("option", { value: name }, rule, name);
    shown.rule = () => { rule.value = params.rule; };
    rule.addEventListener("change", () => change({ rule: rule.value }));
    const line = node("label.check", {}, node("div.control", {}, parent));
    const counts = node("input", { type: "checkbox" }, line);
    node("span", {}, line, "Penalties count the prompt");
    shown.penalty_counts_prompt = () => { counts.checked = params.penalty_counts_prompt; };
    counts.addEventListener("change", () => change({ penalty_counts_prompt: counts.checked }));
    shown.rule();
    shown.penalty_counts_prompt();
  }

  api.store.set({ params: { ...params } });
  api.setValue({ ...params });
  return {
    /** Python (a preset, a loaded run) sets the sliders. */
    update(value) {
      if (!value || Object.entries(value).every(([key, given]) => params[key] === given)) return;
      Object.assign(params, value);
      for (const show of Object.values(shown)) show();
      api.store.set({ params: { ...params } });
      api.setValue({ ...params });
      clearTimeout(timer);
      timer = setTimeout(() => api.trigger("settled"), REST_MS);
    },
  };
}

/** 0.1 + 0.2 is not something a person wants to read. */
function tidy(value) {
  return Number(value.toFixed(4));
}
