// Thirty answers to what is in the bar: how many are distinct, a numbered dot for each, and the table of what they say.

import { conditionsOf } from "../../page/js/conditions.js";
import { download } from "../../page/js/download.js";
import { jobWords } from "../../page/js/jobs.js";
import { percent } from "../../page/js/numbers.js";
import { node, pool, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { want } from "./asking.js";
import { drawDot, drawDots } from "./dot_grid.js";
import { barRequest, isFor } from "./request.js";
import { reasonOf, textOf } from "./texts.js";

/**
 * @typedef {import("../../page/js/types.js").State} State
 * @typedef {{ text: string, rows: number[], count: number, probability: number, model_probability: number,
 *   length: number, stop: string }} Row  a distinct answer
 * @typedef {{ groups: number[], rows: Row[] }} View
 */

/** What makes two answers the same, by the name of its button. @type {Record<State["compareBy"], string>} */
const VIEWS = { tokens: "thirty_answers.answers.by_tokens", text: "thirty_answers.answers.by_text" };
/** The columns after the dot, and what some of them mean. @type {[name: string, meaning: string | null][]} */
const COLUMNS = [
  ["thirty_answers.answers.column.answer", null],
  ["thirty_answers.answers.column.count", "thirty_answers.answers.meaning.count"],
  ["thirty_answers.answers.column.share", "thirty_answers.answers.meaning.share"],
  ["thirty_answers.answers.column.predicted", "thirty_answers.answers.meaning.predicted"],
  ["thirty_answers.answers.column.tokens", "thirty_answers.answers.meaning.tokens"],
  ["thirty_answers.answers.column.ends", null],
];

/**
 * How it stands with the answers to a request: which line to say, which problem, and whether what is shown is old.
 * @param {State["answers"]} answers
 * @param {import("../../page/js/types.js").AnswersRequest | null} request
 * @param {number} count
 */
export function standing({ asked, job, problem, value }, request, count) {
  if (isFor(value, request)) {
    const { seconds, machine } = /** @type {any} */ (value);
    return { line: words.say("thirty_answers.answers.sampled", { seconds, machine }), problem: "", old: false };
  }
  const isAsked = isFor(asked, request);
  const old = value !== null;
  if (isAsked && problem !== null) return { line: "", problem, old };
  if (isAsked && job?.state === "queued") return { line: jobWords(job), problem: "", old };
  const line = old ? words.say("thirty_answers.stale") : words.say("thirty_answers.answers.first", { count });
  return { line, problem: "", old };
}

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const { count } = api.props.value;
  const { store } = api;
  const parts = build(element, store);
  /** What is drawn. @type {View | null} */
  let view = null;
  parts.save.addEventListener("click", () => {
    const { value } = store.get().answers;
    if (value) download(value.csv, "answers.csv");
  });

  return {
    reads: ["params", "bar", "answers", "compareBy", "answerRows"],
    draw(state) {
      const request = barRequest(state);
      if (request) want(request);
      const { line, problem, old } = standing(state.answers, request, count);
      element.classList.toggle("is-stale", old);
      say(parts.status, line);
      say(parts.problem, problem);
      for (const button of parts.buttons) set(button, { "aria-pressed": button.dataset.view === state.compareBy });
      const { value } = state.answers;
      if (value && value.views[state.compareBy] !== view) {
        view = value.views[state.compareBy];
        drawView(parts, value, /** @type {View} */ (view), store);
      }
      if (view) light(parts, view, state.answerRows);
    },
  };
}

/** @param {HTMLElement} element @param {import("../../page/js/types.js").Store} store */
function build(element, store) {
  element.classList.add("answers");
  const head = node("div.answers-head", {}, element);
  const number = node("div.answers-number", { "aria-live": "polite" }, head, "–");
  const beside = node("div.answers-beside", {}, head);
  const about = node("p.answers-words", {}, beside);
  const dots = node("div.dots.answers-dots", {}, beside);
  const cut = node("p.note.answers-cut", {}, element);
  const status = node("p.note.answers-status", { role: "status" }, element);
  const problem = node("p.answers-problem", { role: "alert" }, element);
  const tools = node("div.answers-tools", {}, element);
  const buttons = buildSwitch(tools, store);
  const save = node("button.small-button.answers-csv", { type: "button" }, tools, words.say("thirty_answers.csv"));
  const name = words.say("thirty_answers.answers.region");
  const scroll = node("div.answers-scroll", { tabindex: "0", role: "region", "aria-label": name }, element);
  const conditions = node("p.note.answers-conditions", {}, element);
  const table = node("table.answers-table", {}, scroll);
  const header = node("tr", {}, node("thead", {}, table));
  node("td", {}, header);
  for (const [column, meaning] of COLUMNS) {
    const title = meaning && words.say(meaning);
    node("th", { scope: "col", title }, header, words.say(column));
  }
  return { number, about, dots, cut, status, problem, buttons, save, conditions, body: node("tbody", {}, table) };
}

/** @param {Element} tools @param {import("../../page/js/types.js").Store} store */
function buildSwitch(tools, store) {
  const name = words.say("thirty_answers.answers.compare_spoken");
  const choice = node("div.answers-switch", { role: "group", "aria-label": name }, tools);
  node("span.note", {}, choice, words.say("thirty_answers.answers.compare"));
  const buttons = Object.entries(VIEWS).map(([view, label]) => {
    const button = node("button.small-button", { type: "button", "data-view": view }, choice, words.say(label));
    button.addEventListener("click", () => store.set({ compareBy: /** @type {State["compareBy"]} */ (view) }));
    return button;
  });
  set(buttons[1], { title: words.say("thirty_answers.answers.by_text_hint") });
  return buttons;
}

/**
 * What is compared: whole answers, or only what they begin with, where the length ran out.
 * @param {View} view @param {number} tokens  that an answer may have
 */
export function cutWords({ groups, rows }, tokens) {
  const cut = rows.filter(({ stop }) => stop === "length").reduce((sum, { count }) => sum + count, 0);
  if (!cut) return words.say("thirty_answers.answers.whole");
  return words.say("thirty_answers.answers.cut", { cut, count: groups.length, tokens });
}

/** @param {ReturnType<typeof build>} parts @param {any} value @param {View} view @param {import("../../page/js/types.js").Store} store */
function drawView({ number, about, dots, cut, conditions, body }, value, view, store) {
  const { groups, rows } = view;
  const { prompt } = value;
  say(number, String(rows.length));
  say(about, words.say("thirty_answers.answers.distinct", { distinct: rows.length, count: groups.length, prompt }));
  say(cut, cutWords(view, value.max_new_tokens));
  say(conditions, conditionsOf(value));
  drawDots(dots, view, (row, place) =>
    words.say("thirty_answers.answers.dot", { number: row + 1, text: rows[place].text }),
  );
  const points = (/** @type {HTMLElement} */ target, /** @type {Row} */ row) => {
    target.onpointerenter = () => store.set({ answerRows: row.rows });
    target.onpointerleave = () => store.set({ answerRows: null });
  };
  groups.forEach((place, row) => {
    points(/** @type {HTMLElement} */ (dots.children[row]), rows[place]);
  });
  const lines = pool(body, rows.length, makeLine);
  rows.forEach((row, place) => {
    fillLine(lines[place], row, place, groups.length);
    points(lines[place], row);
  });
}

function makeLine() {
  const line = node("tr");
  node("span.dot", {}, node("td", {}, line));
  node("td.answers-text", {}, line);
  const count = node("td.answers-count", {}, line);
  node("span.answers-bar", {}, count);
  node("b", {}, count);
  for (const _column of COLUMNS.slice(2)) node("td", {}, line);
  return line;
}

/** @param {HTMLElement} line @param {Row} row @param {number} place @param {number} total */
function fillLine(line, row, place, total) {
  const [dot, text, count, share, predicted, tokens, end] = line.children;
  const [bar, number] = count.children;
  drawDot(/** @type {HTMLElement} */ (dot.firstChild), place);
  say(text, textOf(row.text));
  /** @type {HTMLElement} */ (bar).style.setProperty("--part", String(row.count / total));
  say(number, String(row.count));
  say(share, percent(row.count / total));
  say(predicted, percent(row.probability));
  const facts = { share: row.probability, model: row.model_probability };
  set(predicted, { title: words.say("thirty_answers.answers.probability", facts) });
  say(tokens, String(row.length));
  say(end, reasonOf(row.stop));
}

/** @param {ReturnType<typeof build>} parts @param {View} view @param {number[] | null} lit */
function light({ dots, body }, { rows }, lit) {
  [...dots.children].forEach((dot, row) => {
    dot.classList.toggle("is-lit", lit?.includes(row) ?? false);
  });
  [...body.children].forEach((line, place) => {
    line.classList.toggle(
      "is-lit",
      rows[place].rows.some((row) => lit?.includes(row)),
    );
  });
}
