// Two answers side by side: one is pinned with its settings, the other is what the page has now. Both show the same step.

import { numberIn, percent } from "./numbers.js";
import { countTold, probTold, rereadStep } from "./reread.js";
import { node, pool, say, set } from "./svg.js";
import * as words from "./words.js";

/**
 * @typedef {import("./types.js").Run} Run
 * @typedef {import("./types.js").Params} Params
 */

const ROWS = 5;

/** @param {HTMLElement} element @param {import("./types.js").PanelApi} api @returns {import("./types.js").Panel} */
export function mount(element, api) {
  const { store } = api;
  const attributes = { type: "button", title: words.say("links.pin.pin_title"), hidden: "" };
  const button = node("button.small-button.pin", attributes, element);
  const box = node("div.pinned", { hidden: "" }, element);
  const sides = { pinned: sideOf(box, "links.pin.pinned"), now: sideOf(box, "links.pin.now") };
  button.addEventListener("click", () => {
    const { pinned, run, params } = store.get();
    store.set({ pinned: pinned || !run?.logits || !params ? null : { run, params } });
  });
  return {
    reads: ["run", "params", "step", "pinned"],
    draw({ run, params, step, pinned }) {
      button.hidden = !pinned && !run?.logits;
      say(button, words.say(pinned ? "links.pin.unpin" : "links.pin.pin"));
      set(button, { "aria-pressed": String(Boolean(pinned)) });
      box.hidden = !pinned;
      if (!pinned) return;
      sides.pinned(pinned.run, pinned.params, step);
      if (run?.logits && params) sides.now(run, params, step);
    },
  };
}

/** One of the two. Returns what draws it. @param {Element} parent @param {string} key */
function sideOf(parent, key) {
  const name = words.say(key);
  const side = node(`section.pinned-side.is-${key.split(".")[2]}`, { "aria-label": name }, parent);
  const head = node("p.pinned-note", {}, side);
  const [title, settings] = [node("b", {}, head, name), node("span", {}, head)];
  const text = node("p.pinned-text", { translate: "no" }, side);
  const [before, here, after] = [node("span", {}, text), node("mark", {}, text), node("span", {}, text)];
  const count = node("p.pinned-note", {}, side);
  const rows = node("div.pinned-rows", { role: "img" }, side);

  /** @param {Run} run @param {Params} params @param {number} step */
  return (run, params, step) => {
    const { temperature, top_p, top_k, seed } = params;
    const facts = { model: run.model, temperature, top_p, top_k, seed };
    say(settings, words.say("links.pin.conditions", facts));
    set(title, { title: run.prompt });
    say(before, run.pieces.slice(0, step).join(""));
    say(here, run.pieces[step] ?? "");
    say(after, run.pieces.slice(step + 1).join(""));
    const isThere = step < run.numSteps;
    rows.hidden = !isThere;
    if (!isThere) return say(count, words.say("links.pin.over", { count: run.numSteps }));
    const candidates = candidatesOf(run, params, step);
    say(count, words.say("links.pin.candidates", { step, count: candidates.count }));
    drawRows(rows, candidates.top);
    const told = candidates.top.map((each) => words.say("links.pin.one_token", each)).join(", ");
    set(rows, { "aria-label": words.say("links.pin.spoken", { name, step, tokens: told }) });
  };
}

/**
 * The most likely tokens that can still be sampled, and how many there are in all.
 * @param {Run} run @param {Params} params @param {number} step
 */
export function candidatesOf(run, params, step) {
  const now = rereadStep(run, params, step);
  const top = [];
  for (let place = now.start; place < Math.min(now.stop, now.start + ROWS); place += 1)
    top.push({
      token: run.vocabulary[now.ranking[place]],
      share: probTold(now, place),
      isChosen: place === now.chosenPlace,
    });
  return { count: countTold(now), top };
}

/** @param {Element} parent @param {ReturnType<typeof candidatesOf>["top"]} top */
function drawRows(parent, top) {
  const rows = pool(parent, top.length, () => {
    const row = node("div.pinned-row");
    node("span.mono", { translate: "no" }, row);
    node("i", {}, node("span.pinned-lane", {}, row));
    node("span.pinned-number", {}, row);
    return row;
  });
  top.forEach(({ token, share, isChosen }, place) => {
    const [label, lane, number] = rows[place].children;
    rows[place].classList.toggle("is-chosen", isChosen);
    say(label, token);
    /** @type {HTMLElement} */ (lane.firstElementChild).style.transform = `scaleX(${numberIn(share)})`;
    say(number, percent(share));
  });
}
