// What padding does to an answer: on the left and right, with and without a word to the model.

import { asker } from "../../page/js/jobs.js";
import { small } from "../../page/js/numbers.js";
import { node, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { choices } from "./choices.js";

/** @typedef {{ side: string, told: string, text: string, first: number, later: number | null, verdict: string }} Box */

const TOLD = ["nothing", "mask", "positions"];
const SIDES = ["left", "right"];
const REST_MS = 600; // without a letter typed

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const bar = node("div.serving-choices", {}, element);
  const options = api.props.value.pads.map(String);
  const label = (/** @type {string} */ value) => words.say("serving.padding.pads_of", { count: Number(value) });
  const chosen = choices(bar, [{ id: "padding-pads", name: "serving.padding.pads", options, value: "24", label }], () =>
    ask(),
  );
  const status = node("p.note", { role: "status" }, bar);
  const view = build(element);
  const asking = asker(api, () => say(status, words.say("serving.waiting")));
  let asked = "";
  let timer = 0;

  async function ask() {
    const { bar: now, params } = api.store.get();
    if (!now || !params) return;
    element.classList.add("is-asking");
    const reply = await asking.ask({ ...now, system: params.system, pads: Number(chosen.get()["padding-pads"]) });
    if (reply.stopped && !reply.problem) return; // a newer question is on its way
    if (reply.gaveWay) asked = ""; // seen again, it asks again
    element.classList.remove("is-asking");
    say(status, reply.problem ?? "");
  }

  return {
    reads: ["bar", "params"],
    update(given) {
      if (given?.boxes) drawBoxes(view, given);
      asking.take(given);
    },
    draw({ bar: now, params }) {
      const key = JSON.stringify([now, params?.system]);
      if (!now || !params || key === asked) return;
      clearTimeout(timer);
      timer = window.setTimeout(ask, asked ? REST_MS : 0);
      asked = key;
    },
  };
}

/** @param {Element} element */
function build(element) {
  const result = node("div.serving-result", {}, element);
  const alone = node("p.padding-alone", {}, result);
  const grid = node("div.padding-grid", {}, result);
  node("span", {}, grid);
  for (const told of TOLD) node("h3", {}, grid, words.say(`serving.padding.told.${told}`));
  const boxes = SIDES.flatMap((side) => {
    node("h3", {}, grid, words.say(`serving.padding.side.${side}`));
    return TOLD.map((told) => {
      const box = node("div.padding-box", {}, grid);
      for (const part of ["verdict", "text", "numbers"]) node(/** @type {any} */ (`p.padding-${part}`), {}, box);
      node("p.padding-told", {}, box, words.say(`serving.padding.told.${told}`)); // where there is no room for columns
      return box;
    });
  });
  node("p.note.serving-small-print", {}, result, words.say("serving.padding.about"));
  return { alone, boxes };
}

/** @param {ReturnType<typeof build>} view @param {{ alone: string, pads: number, boxes: Box[] }} given */
function drawBoxes(view, { alone, boxes }) {
  say(view.alone, words.say("serving.padding.alone", { text: alone }));
  boxes.forEach(({ text, first, later, verdict: judged }, place) => {
    const box = view.boxes[place];
    const [verdict, answer, numbers] = box.children;
    set(box, { "data-verdict": judged });
    say(verdict, words.say(`serving.padding.verdict.${judged}`));
    say(answer, text);
    const facts = { first: small(first), later: later === null ? "–" : small(later) };
    say(numbers, words.say("serving.padding.numbers", facts));
  });
}
