// Two answers as tokens, those that cover the same text above each other, and the step looked at.

import { systemWords } from "../../page/js/conditions.js";
import { node, pool, say, sayToken, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { isMoved } from "./pair.js";

/**
 * @typedef {import("../../page/js/types.js").Pair} Pair
 * @typedef {import("../../page/js/types.js").State} State
 */

/** @param {Element} element @param {import("../../page/js/types.js").Store} store */
export function answersPicture(element, store) {
  const view = build(element);
  view.strip.addEventListener("click", ({ target }) => {
    const step = /** @type {Element} */ (target).closest("[data-step]")?.getAttribute("data-step");
    if (step) store.set({ pairStep: Number(step) });
  });
  view.range.addEventListener("input", () => store.set({ pairStep: Number(view.range.value) }));

  return {
    /** @param {State} state */
    draw({ pair, pairStep: step, params }) {
      if (!pair) return;
      const [left, right] = pair.answers;
      pair.titles.forEach((title, side) => {
        say(view.names[side], words.say(`two_models.compare.${side ? "below" : "above"}`, { model: title }));
      });
      drawStrip(view.strip, pair, step);
      const last = left.length - 1;
      set(view.range, { max: last });
      view.range.value = String(step);
      view.range.style.setProperty("--filled", `${(100 * step) / Math.max(1, last)}%`);
      say(view.caption, words.say("two_models.step.at", { step, last, token: left[step] }));
      const aligned = words.say("two_models.compare.aligned", { left: left.length, right: right.length });
      const moved = params && isMoved(pair, params) ? words.say("two_models.compare.moved") : "";
      const behind = pair.system ? `, ${systemWords(pair.system)}` : "";
      const asked = words.say("two_models.compare.prompt", { prompt: pair.prompt, behind });
      say(view.note, [aligned, asked, moved].join(" ").trim());
    },
  };
}

/** @param {Element} element */
function build(element) {
  const legend = node("div.two-legend", {}, element);
  const names = [node("span", {}, legend), node("span", {}, legend)];
  const attributes = { role: "group", "aria-label": words.say("two_models.compare.answers"), translate: "no" };
  const strip = node("div.two-strip", attributes, element);
  const steps = node("div.two-steps", {}, element);
  const name = words.say("two_models.step.name");
  const range = node("input.steps-range", { type: "range", min: 0, step: 1, "aria-label": name }, steps);
  const caption = node("span.two-caption", {}, steps);
  const note = node("p.note", {}, element);
  return { names, strip, range, caption, note };
}

function makeColumn() {
  const column = node("div.two-column");
  node("div.two-line", {}, column);
  node("div.two-line", {}, column);
  return column;
}

/** @param {HTMLElement} strip @param {Pair} pair @param {number} step */
function drawStrip(strip, { answers, columns, different }, step) {
  const boxes = pool(strip, columns.length, makeColumn);
  columns.forEach(([from, to, first, end], index) => {
    const isDifferent = different !== null && index >= different;
    boxes[index].classList.toggle("is-different", isDifferent);
    boxes[index].classList.toggle("is-fork", index === different);
    set(boxes[index], { title: index === different ? words.say("two_models.compare.fork") : null });
    const [above, below] = boxes[index].children;
    drawLine(above, answers[0].slice(from, to), (place) => from + place, step);
    // Below the same text the same step is meant; after that the right answer is no longer the one that is read.
    drawLine(below, answers[1].slice(first, end), () => (isDifferent ? null : from), null);
  });
}

/** @param {Element} line @param {string[]} labels @param {(place: number) => number | null} stepOf @param {number | null} chosen */
function drawLine(line, labels, stepOf, chosen) {
  const tokens = pool(line, labels.length, () => node("button.two-token", { type: "button", tabindex: -1 }));
  labels.forEach((label, place) => {
    const step = stepOf(place);
    sayToken(tokens[place], label);
    set(tokens[place], { "data-step": step });
    tokens[place].classList.toggle("is-now", step !== null && step === chosen);
  });
}
