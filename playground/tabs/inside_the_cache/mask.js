// Why the mask is added to the scores. Three scores to play with, the third hidden; then a row of the model's own.

import { node, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/** What becomes of a hidden score, under the names of attention.py. @type {Record<string, (score: number) => number>} */
const IDEAS = {
  none: (score) => score,
  added: () => -Infinity,
  times_zero: (score) => score * 0,
  times_infinity: (score) => score * -Infinity,
};
const HIDDEN = 2; // the place of the hidden score

/** Weights of a row of scores under each idea: the arithmetic of attention.py `mask_row`.
 * @param {number[]} scores @returns {[idea: string, weights: number[]][]} */
export function maskRow(scores) {
  return Object.entries(IDEAS).map(([idea, hide]) => [
    idea,
    softmax(scores.map((score, place) => (place === HIDDEN ? hide(score) : score))),
  ]);
}

/** @param {number[]} row */
function softmax(row) {
  const highest = Math.max(...row);
  const powers = row.map((score) => Math.exp(score - highest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const inputs = scoreInputs(element, api.store);
  const table = node("table.mask-table", { "aria-label": words.say("inside_the_cache.mask.table") }, element);
  const lines = Object.keys(IDEAS).map((idea) => {
    const line = node("tr", {}, table);
    node("th", { scope: "row" }, line, words.say(`inside_the_cache.mask.idea.${idea}`));
    return { line, cells: [0, 1, 2].map(() => node("td", {}, line)), verdict: node("td.mask-verdict", {}, line) };
  });
  const own = node("p.mask-own", {}, element);

  /** @param {import("../../page/js/types.js").State} state */
  function draw({ maskScores }) {
    inputs.forEach((input, place) => {
      if (Number(input.value) !== maskScores[place]) input.value = String(maskScores[place]); // else "1." would lose its point
    });
    maskRow(maskScores).forEach(([idea, weights], index) => {
      const { line, cells, verdict } = lines[index];
      weights.forEach((weight, place) => {
        say(cells[place], words.say("inside_the_cache.mask.weight", { weight }));
        cells[place].style.setProperty("--share", String(weight || 0)); // a broken row's are NaN
      });
      set(line, { "data-right": idea === "added" });
      say(verdict, words.say(verdictOf(idea, weights[HIDDEN])));
    });
  }
  draw(api.store.get());
  return {
    reads: ["maskScores"],
    update(value) {
      say(own, words.text(value?.own));
    },
    draw,
  };
}

/** @param {HTMLElement} element @param {import("../../page/js/types.js").Store} store */
function scoreInputs(element, store) {
  const holder = node("div.mask-inputs", {}, element);
  const inputs = store.get().maskScores.map((_, place) => {
    const facts = { number: place + 1 };
    const name =
      place === HIDDEN
        ? words.say("inside_the_cache.mask.hidden_score", facts)
        : words.say("inside_the_cache.mask.score", facts);
    return node("input.number", { type: "number", step: 0.5, min: -20, max: 20 }, node("label", {}, holder, name));
  });
  for (const input of inputs)
    input.addEventListener("input", () => store.set({ maskScores: inputs.map(({ value }) => Number(value) || 0) }));
  return inputs;
}

/** What is to be said of an idea that leaves this weight to the hidden token. @param {string} idea @param {number} leak */
export function verdictOf(idea, leak) {
  const key = (/** @type {string} */ verdict) => ({ key: `inside_the_cache.mask.${verdict}`, facts: { leak } });
  if (Number.isNaN(leak)) return key("broken");
  if (idea === "none") return key("reads_future");
  if (idea === "added") return key("right");
  return key(idea === "times_zero" ? "leaks" : "lucky");
}
