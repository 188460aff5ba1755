// One text under several kinds of cache, one below the other: what each still holds at a step of the answer, what it
// answers, and how far its next token is from that of the cache with everything.

import { announce } from "../../page/js/announce.js";
import { asker, isUnderWay, jobWords } from "../../page/js/jobs.js";
import { node, pool, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { drawBits, drawStrip, positionAt } from "./strip.js";

/**
 * @typedef {object} Kind
 * @property {string} name
 * @property {words.Told} title
 * @property {words.Told} text
 * @property {[number, number][][][]} held  step, layer, runs of positions: first, how many
 * @property {number[]} rounded  tokens that are stored in few bits, from the first on
 * @property {number[]} bytes
 * @property {number[]} copied  bytes that moved for the newest token
 * @property {number[]} kl  bits
 * @property {string[]} chosen  most likely token of each step
 * @property {number} equal  tokens chosen alike before the first other one
 * @property {string} answer
 * @property {boolean} is_right
 * @property {boolean} fits
 * @property {number | null} seconds  for a token
 */

/**
 * @typedef {object} Comparison
 * @property {number} budget  tokens
 * @property {number} budget_bytes
 * @property {number} prompt_length
 * @property {string[]} labels  of prompt and answer
 * @property {string | null} word  that answers the question, where a story asks one
 * @property {number[]} places  where the prompt says it
 * @property {string | null} question
 * @property {Kind[]} kinds  the first keeps everything
 */

/** @param {Comparison} value */
export const numSteps = ({ kinds }) => kinds[0].kl.length;

/** Where the kinds are furthest from each other: the step to look at first. @param {Comparison} value */
export function widestStep({ kinds }) {
  const widest = kinds[0].kl.map((_, step) => Math.max(...kinds.map(({ kl }) => kl[step])));
  return widest.indexOf(Math.max(...widest));
}

/** How many of those that have to do with the budget are right. @param {Comparison} value @returns {words.Told} */
export function verdict({ kinds, word, budget, prompt_length: prompt }) {
  const others = kinds.slice(1);
  const right = others.filter(({ is_right }) => is_right).length;
  const facts = { right, count: others.length, budget, prompt, word: word ?? "" };
  return { key: `kinds_of_cache.compare.${word ? "verdict" : "verdict_same"}`, facts };
}

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const { stories, budgets } = api.props.value;
  const choice = buildChoices(element, stories, budgets);
  const view = build(element);
  /** @type {Comparison | null} */
  let value = null;
  let step = 0;
  const question = asker(api, (job) => {
    say(view.status, jobWords(job));
    element.classList.toggle("is-stale", isUnderWay(job));
  });

  async function ask() {
    const reply = await question.ask({ story: choice.story.value, budget: Number(choice.budget.value) });
    if (reply.stopped) return;
    element.classList.remove("is-stale");
    say(view.status, reply.problem ?? "");
    if (!reply.kinds) return;
    value = /** @type {Comparison} */ (reply);
    step = widestStep(value);
    draw();
    announce(words.say(verdict(value)));
  }

  function draw() {
    const budget = Number(choice.budget.value);
    say(choice.words, words.say("kinds_of_cache.compare.budget", { budget }));
    choice.budget.style.setProperty("--filled", `${(100 * (budget - budgets[0])) / (budgets[1] - budgets[0])}%`);
    element.classList.toggle("is-empty", !value);
    if (value) drawAll(view, value, step);
  }

  choice.story.addEventListener("change", ask);
  choice.budget.addEventListener("input", draw);
  choice.budget.addEventListener("change", ask);
  choice.again.addEventListener("click", ask);
  document.addEventListener("click", ({ target }) => {
    if (!(target instanceof Element) || !target.closest("#lesson-K16")) return;
    choice.story.value = "0";
    choice.budget.value = String(budgets[2]);
    ask();
  });
  view.range.addEventListener("input", () => {
    step = Number(view.range.value);
    draw();
  });
  view.rows.addEventListener("pointermove", ({ target, clientX }) => {
    const strip = target instanceof Element ? target.closest("svg.kinds-strip") : null;
    const position = value && strip ? positionAt(strip, clientX, value.labels.length) : null;
    if (value && position !== null)
      say(view.pointed, words.say("kinds_of_cache.compare.pointed", { position, token: value.labels[position] }));
  });

  return {
    update: question.take,
    reads: [],
    draw() {
      draw();
      if (question.asked === null) ask();
    },
  };
}

/** What is compared, and how large. @param {HTMLElement} element @param {string[]} stories @param {[number, number, number]} budgets */
function buildChoices(element, stories, [least, most, first]) {
  const line = node("div.kinds-choices", {}, element);
  const name = words.say("kinds_of_cache.compare.text");
  const story = node("select.kinds-select", { id: "kinds-story", "aria-label": name }, line);
  stories.forEach((title, number) => {
    node("option", { value: number }, story, title);
  });
  node("option", { value: "bar" }, story, words.say("kinds_of_cache.compare.bar"));
  const label = node("label.kinds-budget", {}, line);
  const said = node("span", {}, label);
  const budget = node(
    "input.steps-range",
    { id: "kinds-budget", type: "range", min: least, max: most, step: 8, value: first },
    label,
  );
  const again = words.say("kinds_of_cache.compare.start");
  const button = node("button.small-button", { id: "kinds-compare", type: "button" }, line, again);
  return { story, words: said, budget, again: button };
}

/** @param {HTMLElement} element */
function build(element) {
  const status = node("p.note", { role: "status" }, element);
  const head = node("p.kinds-verdict", {}, element);
  const steps = node("div.kinds-steps", {}, element);
  const name = words.say("kinds_of_cache.compare.step");
  const range = node("input.steps-range", { type: "range", min: 0, step: 1, "aria-label": name }, steps);
  const caption = node("span.kinds-caption", {}, steps);
  const heads = node("div.kinds-row.kinds-heads", { "aria-hidden": "true" }, element);
  for (const key of ["kind", "holds", "answers", "bytes", "distance"])
    node("span", {}, heads, words.say(`kinds_of_cache.head.${key}`));
  const rows = node("div.kinds-rows", {}, element);
  const pointed = node("p.note.kinds-pointed", {}, element, words.say("kinds_of_cache.compare.point"));
  return { status, head, steps, range, caption, heads, rows, pointed };
}

/** @param {ReturnType<typeof build>} view @param {Comparison} value @param {number} step */
function drawAll(view, value, step) {
  const last = numSteps(value) - 1;
  say(view.head, words.say(verdict(value)));
  set(view.range, { max: last });
  view.range.value = String(step);
  view.range.style.setProperty("--filled", `${(100 * step) / Math.max(1, last)}%`);
  const token = value.labels[value.prompt_length + step];
  say(view.caption, words.say("kinds_of_cache.compare.at", { step, last, token }));
  const most = Math.max(...value.kinds.flatMap(({ kl }) => kl), 0.01);
  const rows = pool(view.rows, value.kinds.length, makeRow);
  for (const [index, kind] of value.kinds.entries()) drawRow(rows[index], value, kind, step, most);
}

function makeRow() {
  const row = node("section.kinds-row");
  const name = node("div", {}, row);
  node("h3", {}, name);
  node("p.note", {}, name);
  node("div.kinds-holds", {}, row);
  const answers = node("div.kinds-answers", {}, row);
  node("p.kinds-answer", {}, answers);
  node("p.note", {}, answers);
  const bytes = node("div.kinds-bytes", {}, row);
  node("b", {}, bytes);
  node("p.note", {}, bytes);
  node("p.note", {}, bytes);
  const distance = node("div.kinds-distance", {}, row);
  node("b", {}, distance);
  node("div", {}, distance);
  return row;
}

/** @param {Element} row @param {Comparison} value @param {Kind} kind @param {number} step @param {number} most  bits */
function drawRow(row, value, kind, step, most) {
  const [name, holds, answers, bytes, distance] = row.children;
  say(name.children[0], words.text(kind.title));
  say(name.children[1], words.text(kind.text));
  const seen = value.prompt_length + step;
  const held = { layers: kind.held[step], rounded: kind.rounded[step], places: value.places };
  drawStrip(holds, { ...held, seen, total: value.labels.length }, words.text(kind.title));
  set(row, { "data-right": kind.is_right ? "yes" : "no" });
  const sign = kind.is_right ? "right" : "wrong";
  say(answers.children[0], words.say(`kinds_of_cache.compare.${sign}`, { answer: kind.answer }));
  const tokens = { equal: kind.equal, count: numSteps(value) };
  say(answers.children[1], words.say("kinds_of_cache.compare.equal", tokens));
  set(bytes, { "data-fits": kind === value.kinds[0] || kind.fits ? "yes" : "no" });
  say(bytes.children[0], words.say("kinds_of_cache.number.bytes", { bytes: kind.bytes[step] }));
  say(bytes.children[1], words.say("kinds_of_cache.compare.moved", { bytes: kind.copied[step] }));
  const { seconds } = kind;
  say(bytes.children[2], seconds === null ? "" : words.say("kinds_of_cache.compare.time", { seconds }));
  say(distance.children[0], words.say("kinds_of_cache.number.bits", { bits: kind.kl[step] }));
  drawBits(distance.children[1], kind.kl, step, most);
}
