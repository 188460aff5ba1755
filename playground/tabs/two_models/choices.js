// Which model stands left and which right: two lists, and examples that choose both.

import { node, pool, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/**
 * @typedef {{ model: string, form: string }} Chosen
 * @typedef {{ title: words.Told, left: Chosen, right: Chosen, prompt: string | null }} Example
 * @typedef {{ sides: (Chosen & { title: words.Told })[], examples: Example[] }} Choices  from choices in sides.py
 */

const NAMES = /** @type {const} */ (["left", "right"]);

/** @param {Chosen} chosen */
const keyOf = ({ model, form }) => `${form}:${model}`; // a model's name may hold anything

/** @param {string} value @returns {Chosen} */
export function chosenOf(value) {
  const at = value.indexOf(":");
  return { form: value.slice(0, at), model: value.slice(at + 1) };
}

/**
 * @param {Element} element
 * @param {Choices} choices
 * @param {{ ask: (prompt?: string | null) => void, renew: () => void }} on  renew: the lists may be out of date
 */
export function choiceLine(element, choices, on) {
  const line = node("div.two-choices", {}, element);
  const [left, right] = NAMES.map((name) => {
    const label = node("label", {}, line);
    node("span", {}, label, words.say(`two_models.compare.${name}`));
    const select = node("select.two-select", { id: `two-${name}` }, label);
    select.addEventListener("change", () => on.ask());
    select.addEventListener("pointerdown", on.renew);
    select.addEventListener("focus", on.renew);
    return select;
  });
  const again = words.say("two_models.compare.start");
  const button = node("button.small-button", { id: "two-compare", type: "button" }, line, again);
  button.addEventListener("click", () => on.ask());
  const group = { role: "group", "aria-label": words.say("two_models.compare.examples") };
  const chips = node("div.two-examples", group, line);
  let examples = choices.examples;
  chips.addEventListener("click", ({ target }) => {
    const chip = /** @type {Element} */ (target).closest("button");
    const example = examples[[...chips.children].indexOf(/** @type {Element} */ (chip))];
    if (!example) return;
    choose(example);
    on.ask(example.prompt);
  });

  /** @param {Example} example */
  function choose(example) {
    left.value = keyOf(example.left);
    right.value = keyOf(example.right);
  }

  /** What is chosen stays, as long as it is there. @param {Choices} given */
  function fill(given) {
    for (const select of [left, right]) {
      const before = select.value;
      const options = pool(select, given.sides.length, () => node("option"));
      given.sides.forEach((side, index) => {
        set(options[index], { value: keyOf(side) });
        say(options[index], words.text(side.title));
      });
      if (given.sides.some((side) => keyOf(side) === before)) select.value = before;
    }
    examples = given.examples;
    const buttons = pool(chips, examples.length, (place) =>
      node("button.small-button.example", { type: "button", id: `two-example-${place + 1}` }),
    );
    examples.forEach(({ title, prompt }, index) => {
      say(buttons[index], words.text(title));
      set(buttons[index], { title: prompt });
    });
  }

  fill(choices);
  choose(choices.examples[0]);
  return { fill, now: () => ({ left: chosenOf(left.value), right: chosenOf(right.value) }) };
}
