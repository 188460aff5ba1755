// What the calculator is asked: a model or a pasted config.json, a machine, and the sliders. Each box has an id, by which
// an address of the page sets it.

import { node, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { MOST_LETTERS, parametersOf, readConfig } from "./memory.js";

const GIB = 1024 ** 3;
const OWN = "own"; // in place of a model's name: what somebody pasted
const STEPS_AN_OCTAVE = 4; // of a slider whose values double

/** The sliders: each goes by ratios, or evenly. @type {Record<string, { least: number, most: number, value: number, even?: boolean }>} */
const SLIDERS = {
  tokens: { least: 128, most: 2 ** 20, value: 8192 },
  memory: { least: 4, most: 2048, value: 80 },
  bandwidth: { least: 50, most: 100_000, value: 3350 },
  usable: { least: 50, most: 100, value: 90, even: true },
};
const BITS = [32, 16, 8, 4];
const OPENING = { model: "Llama-3.1-8B", machine: "H100 SXM" }; // the sliders open as that machine has it

/** The value at a place of a slider that goes by ratios: powers of two and three between. @param {number} place @param {number} least */
export function valueAt(place, least) {
  const value = least * 2 ** (place / STEPS_AN_OCTAVE);
  return value < 20 ? Math.round(value) : Number(value.toPrecision(place % STEPS_AN_OCTAVE ? 2 : 7));
}

/** @param {number} value @param {number} least */
export const placeOf = (value, least) => Math.round(STEPS_AN_OCTAVE * Math.log2(value / least));

/** A number that a person typed, within its bounds; null: it is none. @param {string} text @param {{ least: number, most: number }} bounds */
export function typed(text, { least, most }) {
  const value = Number(text.replaceAll(",", "").trim());
  return text.trim() && Number.isFinite(value) ? Math.min(most, Math.max(least, Math.round(value))) : null;
}

/**
 * @param {Element} holder
 * @param {{ model: any[], machine: any[], lesson: Record<string, any> }} table  models.toml
 * @param {() => void} tell  something has changed
 */
export function controls(holder, table, tell) {
  const models = table.model.map(({ name, ...config }) => ({ name, config }));
  const values = Object.fromEntries(Object.entries(SLIDERS).map(([name, { value }]) => [name, value]));
  const model = select(holder, "model", [...models.map(({ name }) => name), OWN]);
  const cacheBits = select(holder, "cache-bits", BITS.map(String));
  const weightBits = select(holder, "weight-bits", BITS.map(String));
  const machine = select(holder, "machine", [...table.machine.map(({ name }) => name), OWN]);
  const sliders = Object.fromEntries(Object.keys(SLIDERS).map((name) => [name, slider(holder, name, values, changed)]));
  const paste = pasteBox(holder);
  const parameters = numberBox(paste.holder, "parameters");

  /** @param {string} [name]  of the slider that was moved */
  function changed(name) {
    if (name === "memory" || name === "bandwidth") machine.value = OWN;
    tell();
  }

  function onMachine() {
    const found = table.machine.find(({ name }) => name === machine.value);
    if (found) for (const name of ["memory", "bandwidth"]) sliders[name].put(found[name]);
    tell();
  }

  function onModel() {
    paste.holder.hidden = model.value !== OWN;
    tell();
  }

  /** @param {Record<string, any>} wanted */
  function put(wanted) {
    for (const [box, key] of /** @type {const} */ ([
      [model, "model"],
      [machine, "machine"],
      [cacheBits, "cache_bits"],
      [weightBits, "weight_bits"],
    ])) {
      box.value = String(wanted[key]);
      box.dispatchEvent(new Event("input", { bubbles: true })); // the address follows
    }
    sliders.tokens.put(wanted.tokens);
    onModel();
    onMachine();
  }

  model.addEventListener("input", onModel);
  machine.addEventListener("input", onMachine);
  for (const box of [cacheBits, weightBits, paste.box, parameters]) box.addEventListener("input", tell);
  document.addEventListener("serving-lesson", (event) => put(table.lesson[/** @type {CustomEvent} */ (event).detail]));
  Object.assign(model, { value: OPENING.model });
  Object.assign(machine, { value: OPENING.machine });
  for (const box of [cacheBits, weightBits]) box.value = "16";

  return {
    /** The model of this page, with its config. @param {string} name @param {any} config */
    own(name, config) {
      const label = words.say("serving.control.loaded", { name });
      if (models.some((each) => each.name === label)) return;
      models.push({ name: label, config });
      node("option", { value: label }, null, label);
      model.insertBefore(node("option", { value: label }, null, label), model.lastElementChild);
    },
    get: () => read({ models, model, paste, parameters, values, cacheBits, weightBits }),
  };
}

/** The config and the setup; without a config, what is wrong with the pasted one. @param {Record<string, any>} boxes */
function read({ models, model, paste, parameters, values, cacheBits, weightBits }) {
  const listed = models.find((/** @type {any} */ each) => each.name === model.value);
  const pasted = listed ? null : readConfig(paste.box.value);
  const config = listed?.config ?? pasted?.config ?? null;
  const known = config ? parametersOf(config) : null;
  const given = Number(parameters.value) * 1e9;
  const all = pasted && given > 0 ? given : (known ?? 0);
  let problem = null;
  if (pasted?.problem) {
    problem = words.say(`serving.config.${pasted.problem}`, { name: pasted.name, most: MOST_LETTERS });
  } else if (config && !all) problem = words.say("serving.config.no_parameters");
  const setup = {
    memory: values.memory * GIB,
    bandwidth: values.bandwidth * 1e9,
    tokens: values.tokens,
    cacheBits: Number(cacheBits.value),
    weightBits: Number(weightBits.value),
    usable: values.usable / 100,
    parameters: all,
    activeParameters: Number.isInteger(config?.active_parameters) ? config.active_parameters : all,
  };
  return { config, setup, problem };
}

/** @param {Element} holder @param {string} name @param {string[]} options */
function select(holder, name, options) {
  const box = node("div.control", {}, holder);
  const id = `serving-${name}`;
  node("label", { for: id }, node("div.control-head", {}, box), words.say(`serving.control.${name}`));
  const made = node("select", { id }, box);
  for (const value of options) {
    const label =
      value === OWN
        ? words.say(`serving.control.own.${name}`)
        : name.endsWith("bits")
          ? words.say("serving.control.bits", { bits: Number(value) })
          : value;
    node("option", { value }, made, label);
  }
  return made;
}

/** @param {Element} holder @param {string} name @param {Record<string, number>} values @param {(name: string) => void} tell */
function slider(holder, name, values, tell) {
  const { least, most, even } = SLIDERS[name];
  const box = node("div.control", {}, holder);
  const id = `serving-${name}`;
  const head = node("div.control-head", {}, box);
  node("label", { for: id }, head, words.say(`serving.control.${name}`));
  const number = node("input.number", { id, type: "text", inputmode: "numeric" }, head);
  const ends = even ? { min: least, max: most } : { min: 0, max: placeOf(most, least) };
  const label = words.say("serving.control.slider", { name: words.say(`serving.control.${name}`) });
  const range = node("input", { type: "range", step: 1, ...ends, "aria-label": label }, box);

  /** @param {number} value */
  function put(value) {
    values[name] = value;
    number.value = String(value);
    number.dispatchEvent(new Event("input", { bubbles: true })); // the address follows
  }
  function show() {
    const place = even ? values[name] : placeOf(values[name], least);
    range.value = String(place);
    range.style.setProperty("--filled", `${(100 * (place - ends.min)) / (ends.max - ends.min)}%`);
    set(range, { "aria-valuetext": String(values[name]) });
  }
  range.addEventListener("input", () => {
    put(even ? Number(range.value) : valueAt(Number(range.value), least));
    tell(name);
  });
  number.addEventListener("input", () => {
    const value = typed(number.value, SLIDERS[name]);
    if (value !== null && value !== values[name]) {
      values[name] = value;
      tell(name);
    }
    show();
  });
  number.addEventListener("change", () => {
    number.value = String(values[name]);
  });
  number.value = String(values[name]);
  show();
  return { put };
}

/** Where a config.json is pasted. @param {Element} parent */
function pasteBox(parent) {
  const holder = node("div.control.serving-paste", { hidden: "" }, parent);
  node("label", { for: "serving-config" }, holder, words.say("serving.control.config"));
  const box = node(
    "textarea",
    { id: "serving-config", rows: 4, maxlength: MOST_LETTERS + 1, spellcheck: "false" },
    holder,
  );
  return { holder, box };
}

/** @param {Element} parent @param {string} name */
function numberBox(parent, name) {
  const line = node("label.serving-number", {}, parent);
  say(node("span", {}, line), words.say(`serving.control.${name}`));
  return node("input.number", { id: `serving-${name}`, type: "text", inputmode: "decimal" }, line);
}
