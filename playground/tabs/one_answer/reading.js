// What the model really reads: the tokens of the prompt as they go in, those of the chat template apart from those of the
// visitor. It follows the boxes; only the tokenizer runs.

import { MOST_LETTERS } from "../../page/js/address.js";
import { placeAfter } from "../../page/js/chips.js";
import { setControls } from "../../page/js/controls.js";
import { node, pool, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { textsOf } from "./turns.js";

/**
 * What reading.py sent. `skipped` tokens behind the first half are not shown.
 * @typedef {{ id: number, label: string, kind: string }} ReadToken
 * @typedef {{ is_chat: boolean, tokens: ReadToken[], skipped: number, counts: Record<string, number>,
 *   typed_markers: { marker: string, count: number }[] }} Reading
 */

const REST_MS = 200; // without a letter typed
const TYPED = ["text", "system", "user", "assistant"];

/** How many tokens there are, and whose. @param {Reading} reading @param {string} model */
export function aboutWords({ is_chat: isChat, counts }, model) {
  const sum = (/** @type {string[]} */ kinds) => kinds.reduce((total, kind) => total + (counts[kind] ?? 0), 0);
  const count = sum(Object.keys(counts));
  if (!isChat) return words.say("one_answer.reading.base", { model, count });
  const own = sum(TYPED);
  return words.say("one_answer.reading.chat", { model, count, own, added: count - own });
}

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  node("h2", {}, element, words.say("one_answer.reading.title"));
  const system = systemBox(element);
  const about = node("p.note.reading-about", { role: "status" }, element);
  const picture = tokensPicture(element);
  const ask = newestReply(api, (reading, { model, history }) => {
    const problem = /** @type {{ problem?: string }} */ (reading).problem;
    if (!problem) system.offer(reading.is_chat, model);
    const said = problem ?? aboutWords(reading, model);
    say(about, history.length ? words.say("one_answer.reading.next", { said }) : said);
    picture.draw(problem ? null : reading);
  });
  return {
    reads: ["bar", "params", "run", "next"],
    draw({ bar, params, run, next }) {
      if (!bar || !params) return;
      system.draw(params.system);
      const goesOn = run && run.model === bar.model && next.trim();
      const talk = goesOn ? { prompt: next, history: textsOf(run) } : null;
      ask({ model: bar.model, prompt: bar.prompt, history: [], system: params.system, ...talk });
    },
  };
}

/** What is in the boxes. @typedef {{ model: string, prompt: string, system: string, history: string[] }} Boxes */

/** Asks when the hand rests, and hears the newest reply only. @param {import("../../page/js/types.js").PanelApi} api
 * @param {(reading: Reading, asked: Boxes) => void} hear */
function newestReply(api, hear) {
  let [newest, timer] = ["", 0];
  return (/** @type {Boxes} */ asked) => {
    const key = JSON.stringify(asked);
    if (key === newest) return;
    newest = key;
    clearTimeout(timer);
    timer = window.setTimeout(async () => {
      const reply = await api.server.reading(asked).catch(() => ({ problem: words.say("page.job.gone") }));
      if (key === newest) hear(reply, asked);
      if (reply.problem === words.say("page.job.gone")) newest = ""; // asked again when it is next drawn
    }, REST_MS);
  };
}

/** Where the system prompt is written: a setting like those of the sliders. @param {HTMLElement} element */
function systemBox(element) {
  const label = node("label.reading-system", {}, element);
  node("b", {}, label, words.say("one_answer.reading.system"));
  const box = node("textarea", { rows: 1, maxlength: MOST_LETTERS }, label);
  box.addEventListener("input", (event) => {
    event.stopPropagation(); // the address has it as a setting, not as a box of an experiment
    setControls({ system: box.value.trim() && box.value }); // spaces alone are none
  });
  box.addEventListener("change", (event) => event.stopPropagation());
  return {
    /** @param {string} system */
    draw(system) {
      if (box.value !== system) box.value = system;
    },
    /** @param {boolean} isChat @param {string} model */
    offer(isChat, model) {
      box.disabled = !isChat;
      set(box, { placeholder: words.say(`one_answer.reading.${isChat ? "no_system" : "never_system"}`, { model }) });
    },
  };
}

/** The tokens, their ids beside them, and a sentence for each kind that there is. @param {HTMLElement} element */
function tokensPicture(element) {
  const board = node("div.reading-board", {}, element);
  const strip = node(
    "div.reading-tokens",
    { role: "listbox", "aria-label": words.say("one_answer.reading.list"), translate: "no" },
    board,
  );
  const side = node("div.reading-ids", {}, board);
  const title = node("h3", {}, side);
  const ids = node("p.mono", { translate: "no" }, side);
  const typed = node("p.reading-typed", {}, element);
  const kinds = node("ul.reading-kinds", {}, element);
  /** @type {ReadToken[]} */
  let tokens = [];
  let shown = -1;

  /** @param {number} place  of a token; -1: of none */
  function point(place) {
    for (const [row, name] of [
      /** @type {const} */ ([strip, "aria-selected"]),
      /** @type {const} */ ([ids, "data-on"]),
    ]) {
      if (row.children[shown]) set(row.children[shown], { [name]: name === "data-on" ? null : "false" });
      if (row.children[place]) set(row.children[place], { [name]: "true" });
    }
    shown = place;
    const token = tokens[place];
    const pointed = token && { id: token.id, token: token.label };
    say(title, words.say(`one_answer.reading.${token ? "pointed" : "ids"}`, pointed));
  }

  listen(strip, point);
  return {
    /** @param {Reading | null} reading */
    draw(reading) {
      board.hidden = kinds.hidden = typed.hidden = !reading;
      if (!reading) return;
      tokens = reading.tokens;
      point(-1);
      drawTokens(strip, ids, reading);
      drawKinds(kinds, reading);
      say(typed, reading.typed_markers.map((each) => words.say("one_answer.reading.typed_marker", each)).join(" "));
    },
  };
}

/** The pointer and the arrow keys. @param {HTMLElement} strip @param {(place: number) => void} point */
function listen(strip, point) {
  const placeOf = (/** @type {Event} */ { target }) => [...strip.children].indexOf(/** @type {Element} */ (target));
  strip.addEventListener("pointerover", (event) => point(placeOf(event)));
  strip.addEventListener("pointerleave", () => point(-1));
  strip.addEventListener("focusin", (event) => point(placeOf(event)));
  strip.addEventListener("focusout", () => point(-1));
  strip.addEventListener("keydown", (event) => {
    const place = placeAfter(event.key, placeOf(event), strip.children.length);
    if (place === null) return;
    event.preventDefault();
    set(/** @type {Element} */ (event.target), { tabindex: -1 });
    const next = /** @type {HTMLElement} */ (strip.children[place]);
    set(next, { tabindex: 0 });
    next.focus();
  });
}

/** @param {HTMLElement} strip @param {HTMLElement} ids @param {Reading} reading */
function drawTokens(strip, ids, { tokens, skipped }) {
  const boxes = pool(strip, tokens.length, () => node("span.reading-token", { role: "option" }));
  const numbers = pool(ids, tokens.length, () => node("span"));
  const gap = skipped ? tokens.length / 2 : -1; // before this one
  tokens.forEach(({ id, label, kind }, place) => {
    const what = words.say("one_answer.reading.token", { token: label, id });
    say(boxes[place], label);
    set(boxes[place], {
      "data-kind": kind,
      "aria-label": what,
      "aria-selected": "false",
      tabindex: place ? -1 : 0,
      "data-gap": place === gap ? words.say("one_answer.reading.skipped", { count: skipped }) : null,
    });
    say(numbers[place], `${id}${place === gap - 1 ? ", … " : place < tokens.length - 1 ? ", " : ""}`);
    set(numbers[place], { "data-on": null });
  });
}

/** @param {HTMLElement} list @param {Reading} reading */
function drawKinds(list, { counts }) {
  const kinds = Object.keys(counts);
  const rows = pool(list, kinds.length, () => {
    const row = node("li");
    node("span.reading-token", {}, row);
    node("span", {}, row);
    return row;
  });
  kinds.forEach((kind, place) => {
    const [sample, text] = rows[place].children;
    set(sample, { "data-kind": kind });
    say(sample, words.say("one_answer.reading.times", { count: counts[kind] }));
    say(text, words.say(`one_answer.reading.kind.${kind}`));
  });
}
