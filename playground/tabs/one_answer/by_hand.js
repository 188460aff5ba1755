// By hand: a few tokens with numbers of one's own. The stages, the rules, the bars and the ruler are those of the real
// runs, and their settings are the sliders of the page.

import { chips } from "../../page/js/chips.js";
import { setControls } from "../../page/js/controls.js";
import { mount as mountBars } from "../../page/js/distribution.js";
import { percent } from "../../page/js/numbers.js";
import { reread, rereadStep } from "../../page/js/reread.js";
import { ruleNames, settingsOf } from "../../page/js/stage_table.js";
import { node, pool, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { mount as mountFormula } from "./formula.js";
import { ruleName } from "./stage_words.js";
import { mount as mountStages } from "./stages.js";

/**
 * @typedef {import("../../page/js/types.js").Hand} Hand
 * @typedef {import("../../page/js/types.js").Run} Run
 * @typedef {import("../../page/js/types.js").Params} Params
 * @typedef {import("../../page/js/types.js").Store} Store
 * @typedef {import("../../page/js/types.js").PanelApi} PanelApi
 * @typedef {{ model: number[], rules: Record<string, number[]>, kept: Record<string, number> }} Results
 */

/** @type {Hand["kind"][]} */
const KINDS = ["probs", "logits"];
const MOST = 8; // tokens
/** Cases that can be checked by eye; what they don't name is off. @type {{ key: string, kind: Hand["kind"], values: number[], settings: Record<string, number> }[]} */
const EXAMPLES = [
  { key: "boundary", kind: "probs", values: [0.5, 0.25, 0.125, 0.125], settings: { top_p: 0.5 } },
  { key: "order", kind: "logits", values: [3, 2, 1], settings: { temperature: 0.5, top_p: 0.8 } },
  { key: "together", kind: "probs", values: [0.4, 0.3, 0.2, 0.1], settings: { top_p: 0.55, top_k: 2 } },
  { key: "min_p", kind: "logits", values: [3, 2, 1, 0, -1], settings: { temperature: 2, min_p: 0.1 } },
];

/** What was typed, as a run of one step; its token is the one that the random number picks. @param {Hand} hand @param {Params} params @returns {Run} */
export function handRun({ kind, tokens, uniform }, params) {
  const values = tokens.map(([, value]) => value);
  const vocabulary = tokens.map(([name]) => name);
  const run = {
    ...{
      id: "by hand",
      model: "",
      prompt: "",
      system: "",
      history: [],
      held: null,
      promptIds: [],
      promptLength: 0,
      promptLabels: [],
      stopReason: "",
    },
    ...{ numFed: [1], cacheBytes: [[0]], seconds: [], params, maxNewTokens: 1, forced: new Set(), trainedLength: 1 },
    ...{ vocabulary, tokenBytes: vocabulary.map(() => ""), vocabSize: tokens.length, numSteps: 1 },
    uniforms: [uniform],
    logits: Float32Array.from(values, (value) => (kind === "probs" ? Math.log(value) : value)),
  };
  const chosen = reread({ ...run, tokenIds: [0] }, params).chosenIds[0];
  return { ...run, tokenIds: [chosen], labels: [vocabulary[chosen]], pieces: [vocabulary[chosen]] };
}

/** What each library's rule makes of it under the same sliders: probabilities in the order of the tokens.
 * @param {Hand} hand @param {Params} params @returns {Results} */
export function resultsOf(hand, params) {
  const run = handRun(hand, params);
  /** @type {Results} */
  const results = { model: [], rules: {}, kept: {} };
  for (const rule of ruleNames()) {
    const now = rereadStep(run, { ...params, rule }, 0);
    results.rules[rule] = [];
    results.kept[rule] = now.numCandidates;
    now.ranking.forEach((id, place) => {
      results.model[id] = now.modelProbs[place];
      results.rules[rule][id] = now.probs[place];
    });
  }
  return results;
}

/** A number as it was typed, null where it is none. @param {string} text @param {Hand["kind"]} kind */
export function readValue(text, kind) {
  const value = text.trim() === "" ? Number.NaN : Number(text.replace(",", ".").replace("−", "-"));
  return Number.isFinite(value) && Math.abs(value) <= 1000 && (kind === "logits" || value >= 0) ? value : null;
}

/** Whether something can be sampled from it: not where all probabilities are 0. @param {Hand} hand */
export function isPossible({ kind, tokens }) {
  return kind === "logits" || tokens.some(([, value]) => value > 0);
}

/** @param {HTMLElement} element @param {PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const { store } = api;
  const head = headOf(element, store);
  const board = node("div.hand-board", {}, element);
  const table = tableIn(node("div.hand-scroll", {}, board), store);
  const verdict = node("p.hand-verdict", { role: "status" }, board);
  const luck = luckIn(board, store);
  const pictures = picturesIn(node("div.hand-pictures", {}, element), element, api);

  return {
    reads: ["params", "hand", "log", "dark"],
    draw(state) {
      const { params, hand } = state;
      if (!params) return;
      const results = resultsOf(hand, params);
      head.draw(hand);
      table.draw(hand, results, params.rule);
      say(verdict, verdictOf(results.kept));
      luck.draw(hand);
      pictures.draw(state, handRun(hand, params));
    },
  };
}

/** @param {Record<string, number>} kept  tokens of each rule */
function verdictOf(kept) {
  const counts = Object.values(kept);
  if (counts.every((each) => each === counts[0])) return words.say("one_answer.stages.all_keep", { kept: counts[0] });
  const each = Object.entries(kept).map(([rule, count]) =>
    words.say("one_answer.stages.keeps", { rule: ruleName(rule), kept: count }),
  );
  return words.say("one_answer.stages.each_keeps", { each: each.join(", ") });
}

/** Title, examples, and what the numbers are. @param {Element} element @param {Store} store */
function headOf(element, store) {
  const head = node("div.card-head", {}, element);
  node("h2", {}, head, words.say("one_answer.by_hand.title"));
  node("p.note", {}, element, words.say("one_answer.by_hand.how"));
  const row = node("div.exports", {}, element);
  for (const { key, kind, values, settings } of EXAMPLES) {
    const button = node("button.small-button", { type: "button" }, row, words.say(`one_answer.by_hand.example.${key}`));
    button.addEventListener("click", () => {
      const off = Object.fromEntries(settingsOf().map((setting) => [setting.field, setting.off]));
      setControls({ ...off, rule: "transformers", ...settings });
      store.set({ hand: { ...store.get().hand, kind, tokens: values.map((value, place) => [letter(place), value]) } });
    });
  }
  const about = words.say("one_answer.by_hand.kind");
  const choice = node("div.choice", {}, row);
  node("span.note", {}, choice, about);
  const kinds = chips(choice, about, (place) => store.set({ hand: inKind(store.get().hand, KINDS[place]) }));
  return {
    /** @param {Hand} hand */
    draw({ kind }) {
      const names = KINDS.map((each) => words.say(`one_answer.by_hand.${each}`));
      kinds.draw(names, KINDS.indexOf(kind));
    },
  };
}

/** The same distribution in the other numbers. @param {Hand} hand @param {Hand["kind"]} kind @returns {Hand} */
export function inKind(hand, kind) {
  if (kind === hand.kind) return hand;
  const values = hand.tokens.map(([, value]) => value);
  const weights = values.map((value) => (hand.kind === "logits" ? Math.exp(value - Math.max(...values)) : value));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const tidy = (/** @type {number} */ value) => Number(value.toFixed(4));
  return {
    ...hand,
    kind,
    tokens: hand.tokens.map(([name], place) => {
      const share = weights[place] / sum;
      return [name, kind === "probs" ? tidy(share) : Math.max(tidy(Math.log(share)), -1000)];
    }),
  };
}

const letter = (/** @type {number} */ place) => String.fromCharCode(65 + place);

/** A row for each token: its name and number to type, and its probability under each rule.
 * @param {Element} parent @param {Store} store */
function tableIn(parent, store) {
  const table = node("table.hand-table", {}, parent);
  const head = node("tr", {}, node("thead", {}, table));
  for (const name of ["token", "value", "model"])
    node("th", { scope: "col" }, head, words.say(`one_answer.by_hand.column.${name}`));
  const rules = ruleNames().map((rule) => node("th", { scope: "col" }, head, ruleName(rule)));
  node("td", {}, head);
  const body = node("tbody", {}, table);
  const problem = node("p.problem", { role: "alert" }, parent);
  const add = node("button.small-button", { type: "button" }, parent, words.say("one_answer.by_hand.add"));
  add.addEventListener("click", () => {
    const { hand } = store.get();
    store.set({ hand: { ...hand, tokens: [...hand.tokens, [letter(hand.tokens.length), 0]] } });
  });
  const change = (/** @type {number} */ place, /** @type {[string, number]} */ token) => {
    const { hand } = store.get();
    const changed = { ...hand, tokens: hand.tokens.map((each, at) => (at === place ? token : each)) };
    say(problem, isPossible(changed) ? "" : words.say("one_answer.by_hand.impossible"));
    if (isPossible(changed)) store.set({ hand: changed });
  };
  const remove = (/** @type {number} */ place) => {
    const { hand } = store.get();
    const left = { ...hand, tokens: hand.tokens.filter((_token, at) => at !== place) };
    if (isPossible(left)) store.set({ hand: left });
  };
  return {
    /** @param {Hand} hand @param {Results} results @param {string} chosen  the rule of the page */
    draw(hand, results, chosen) {
      set(add, { disabled: hand.tokens.length >= MOST ? "" : null });
      const lines = pool(body, hand.tokens.length, (place) => lineOf(place, store, change, remove, problem));
      hand.tokens.forEach((token, place) => {
        fillLine(lines[place], token, place, results, hand.tokens.length > 2);
      });
      ruleNames().forEach((rule, index) => {
        rules[index].classList.toggle("is-chosen", rule === chosen);
      });
    },
  };
}

/** @param {number} place @param {Store} store @param {(place: number, token: [string, number]) => void} change
 * @param {(place: number) => void} remove @param {Element} problem */
function lineOf(place, store, change, remove, problem) {
  const line = node("tr");
  const facts = { number: place + 1 };
  const name = node(
    "input.hand-name",
    { type: "text", maxlength: 12, "aria-label": words.say("one_answer.by_hand.name_of", facts) },
    node("td", {}, line),
  );
  const value = node(
    "input.hand-value",
    { type: "text", inputmode: "decimal", "aria-label": words.say("one_answer.by_hand.value_of", facts) },
    node("td", {}, line),
  );
  name.addEventListener("input", () => change(place, [name.value, store.get().hand.tokens[place][1]]));
  value.addEventListener("change", () => {
    const { hand } = store.get();
    const read = readValue(value.value, hand.kind);
    set(value, { "aria-invalid": read === null ? "true" : null });
    if (read !== null) change(place, [hand.tokens[place][0], read]);
    else say(problem, words.say(`one_answer.by_hand.wrong.${hand.kind}`));
  });
  for (let column = 0; column <= ruleNames().length; column += 1) node("td", {}, line);
  const title = words.say("one_answer.by_hand.remove", facts);
  const button = node("button.small-button", { type: "button", title, "aria-label": title }, node("td", {}, line), "×");
  button.addEventListener("click", () => remove(place));
  return line;
}

/** @param {HTMLElement} line @param {[string, number]} token @param {number} place @param {Results} results @param {boolean} canGo */
function fillLine(line, [name, value], place, { model, rules }, canGo) {
  const [first, second, own, ...rest] = line.children;
  const [nameBox, valueBox] = [first, second].map((cell) => /** @type {HTMLInputElement} */ (cell.firstChild));
  if (document.activeElement !== nameBox) nameBox.value = name;
  if (document.activeElement !== valueBox) valueBox.value = String(value);
  say(own, percent(model[place]));
  ruleNames().forEach((rule, index) => {
    const share = rules[rule][place];
    say(rest[index], share ? percent(share) : words.say("one_answer.by_hand.cut"));
    rest[index].classList.toggle("is-cut", !share);
  });
  /** @type {HTMLElement} */ (rest[rest.length - 1].firstChild).hidden = !canGo;
}

/** The random number, moved by hand. @param {Element} parent @param {Store} store */
function luckIn(parent, store) {
  const label = node("label.hand-luck", {}, parent);
  const caption = node("span", {}, label);
  const range = node("input", { type: "range", min: 0, max: 0.999, step: 0.001, id: "hand-luck" }, label);
  range.addEventListener("input", () => {
    store.set({ hand: { ...store.get().hand, uniform: Number(range.value) } });
  });
  return {
    /** @param {Hand} hand */
    draw({ uniform }) {
      range.value = String(uniform);
      say(caption, words.say("one_answer.by_hand.luck", { uniform }));
    },
  };
}

/** The pictures of the other part, mounted on a store that holds what was typed.
 * @param {Element} parent @param {HTMLElement} element @param {PanelApi} api */
function picturesIn(parent, element, api) {
  const { store } = api;
  /** @type {import("../../page/js/types.js").State | null} */
  let mine = null;
  const own = {
    ...api,
    props: { value: {} },
    store: {
      ...store,
      get: () => mine ?? store.get(),
      set: (/** @type {any} */ { hover: _hover, ...patch }) => store.set(patch),
    },
    get width() {
      return left.clientWidth;
    },
  };
  const strip = node("div.hand-stages", {}, element);
  const left = node("div.hand-bars", {}, parent);
  const panels = [mountBars(left, own), mountFormula(node("div", {}, parent)), mountStages(strip, own)];
  return {
    /** @param {import("../../page/js/types.js").State} state @param {Run} run */
    draw(state, run) {
      mine = { ...state, run, step: 0, hover: null, fork: null };
      for (const panel of panels) panel.draw?.(mine);
    },
  };
}
