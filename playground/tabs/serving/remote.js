// A server elsewhere: its answer token by token, the probabilities that it tells, and what it found in its prefix cache.

import { asker, jobWords } from "../../page/js/jobs.js";
import { count, milliseconds, percent } from "../../page/js/numbers.js";
import { node, pool, say, sayToken, set } from "../../page/js/svg.js";
import { cellOf, fill } from "../../page/js/table.js";
import * as words from "../../page/js/words.js";
import { choices } from "./choices.js";
import { barRows, keyNumbers } from "./rows.js";

/** @typedef {{ label: string, prob: number | null, top: [label: string, prob: number][] }} Step */
/**
 * @typedef {{ prompt: string, steps: Step[], first: number | null, later: number | null, prompt_tokens: number | null,
 *   found: number | null }} Answer  found: tokens of the prompt in the prefix cache; null: the server did not tell
 * @typedef {{ model: string, settings: string, not_sent: string, answers: Answer[] }} Value
 */
/** @typedef {{ name: "token" | "told" | "untold", label: string, share: number, chosen: boolean, count: number }} Row */

const SHOWN = 7; // tokens with a bar of their own
const KEPT = 6; // requests in the table

/** The bars of a step: its most likely tokens and the sampled one, then the others that the server told, then all that
 * it did not tell. @param {Step} step @returns {Row[]} */
export function rowsOf({ label, prob, top }) {
  if (prob === null) return [];
  const place = top.findIndex(([name, own]) => name === label && own === prob);
  const all = place < 0 ? [...top, /** @type {[string, number]} */ ([label, prob])] : top;
  const sampled = place < 0 ? all.length - 1 : place;
  const own = all.map(([name, share], at) => ({ name, share, at })).filter(({ at }) => at < SHOWN || at === sampled);
  const rest = all.filter((_, at) => at >= SHOWN && at !== sampled);
  const sum = (/** @type {[string, number][]} */ list) => list.reduce((total, [, share]) => total + share, 0);
  /** @type {Row[]} */
  const rows = own.map(({ name, share, at }) => ({
    name: "token",
    label: name,
    share,
    chosen: at === sampled,
    count: 1,
  }));
  if (rest.length) rows.push({ name: "told", label: "", share: sum(rest), chosen: false, count: rest.length });
  const left = Math.max(0, 1 - sum(all));
  return [...rows, { name: "untold", label: "", share: left, chosen: false, count: 0 }];
}

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  if (!api.props.value.connected) {
    node("p.card-words", {}, element, words.say("serving.remote.none"));
    return {};
  }
  const bar = node("div.serving-choices", {}, element);
  const label = (/** @type {string} */ form) => words.say(`serving.remote.form.${form}`);
  const options = api.props.value.forms;
  const chosen = choices(bar, [{ id: "remote-form", name: "serving.remote.form_label", options, label }], () => {});
  // No ids: a link to the page sends nothing to the server.
  for (const what of ["bar", "pair"]) {
    const button = node("button.small-button", { type: "button" }, bar, words.say(`serving.remote.send.${what}`));
    button.addEventListener("click", () => ask(what));
  }
  const status = node("p.note", { role: "status" }, bar);
  const view = build(element);
  const asking = asker(api, (job) => say(status, jobWords(job, words.say("serving.remote.running"))));
  /** @type {Value | null} */
  let value = null;
  /** @type {Answer[]} */
  let earlier = [];
  /** @type {number | null} the newest, until one is chosen */
  let step = null;

  async function ask(/** @type {string} */ what) {
    earlier = [...earlier, ...(value?.answers ?? [])].slice(-KEPT);
    value = step = null;
    draw();
    const reply = await asking.ask({ what, form: chosen.get()["remote-form"] });
    if (reply.stopped && !reply.problem) return; // a newer question is on its way
    say(status, reply.problem ?? "");
    status.classList.toggle("is-problem", Boolean(reply.problem) && !reply.stopped);
  }

  function draw() {
    const rows = [...earlier, ...(value?.answers ?? [])].slice(-KEPT);
    view.result.hidden = !rows.length;
    if (rows.length) drawAnswer(view, rows[rows.length - 1], step);
    drawRequests(view.table, rows);
    say(view.sent, value ? words.say(`serving.remote.${value.not_sent ? "sent_without" : "sent"}`, value) : "");
  }

  view.strip.addEventListener("click", (event) => {
    const box = /** @type {Element} */ (event.target).closest(".token");
    if (!box) return;
    step = [...view.strip.children].indexOf(box);
    draw();
  });
  draw();
  return {
    update(given) {
      if (given?.answers) {
        value = given;
        draw();
      }
      asking.take(given);
    },
  };
}

/** @param {Element} element */
function build(element) {
  const result = node("div.serving-result", {}, element);
  const numbers = node("div.key-numbers", {}, result);
  const strip = node("div.token-strip", { translate: "no", "aria-label": words.say("serving.remote.tokens") }, result);
  const pair = node("div.serving-pair", {}, result);
  const left = node("section", {}, pair);
  const title = node("h3.serving-heading", {}, left);
  const bars = node("div.remote-bars", {}, left);
  const right = node("section", {}, pair);
  node("h3.serving-heading", {}, right, words.say("serving.remote.requests"));
  const table = node("table.fact-table", {}, node("div.serving-scroll", { tabindex: 0 }, right));
  node("p.note.serving-small-print", {}, right, words.say("serving.remote.about"));
  const sent = node("p.note.serving-small-print", {}, right);
  return { result, numbers, strip, title, bars, table, sent };
}

/** @param {ReturnType<typeof build>} view @param {Answer} answer @param {number | null} chosen */
function drawAnswer(view, answer, chosen) {
  const { steps, first, later, found, prompt_tokens: all } = answer;
  const time = (/** @type {number | null} */ seconds) => (seconds === null ? "–" : milliseconds(seconds));
  keyNumbers(view.numbers, [
    [time(first), words.say("serving.remote.number.first")],
    [time(later), words.say("serving.remote.number.later")],
    [
      found === null ? "–" : count(found),
      found === null || all === null
        ? words.say("serving.remote.number.not_told")
        : words.say("serving.remote.number.found", { all }),
    ],
  ]);
  const now = Math.min(chosen ?? steps.length - 1, steps.length - 1);
  const boxes = pool(view.strip, steps.length, () => node("button.token", { type: "button" }));
  steps.forEach(({ label, prob }, place) => {
    sayToken(boxes[place], label || words.say("serving.remote.no_text"));
    boxes[place].classList.toggle("is-chosen", place === now);
    boxes[place].style.setProperty("--many", prob === null ? "0" : (1 - prob).toFixed(3));
    set(boxes[place], { "aria-pressed": String(place === now) });
  });
  const rows = now < 0 ? [] : rowsOf(steps[now]);
  const isSilent = now >= 0 && !rows.length;
  say(view.title, words.say(isSilent ? "serving.remote.silent" : "serving.remote.step", { step: now + 1 }));
  barRows(
    view.bars,
    rows.map(({ name, label, share, chosen: isSampled, count: number }) => ({
      label:
        name === "token"
          ? label || words.say("serving.remote.no_text")
          : words.say(`serving.remote.rest.${name}`, { count: number }),
      text: percent(share),
      bars: [{ kind: name === "untold" ? "ghost" : isSampled ? "chosen" : "kept", share }],
    })),
  );
}

/** @param {Element} table @param {Answer[]} answers */
function drawRequests(table, answers) {
  const lines = pool(table, answers.length + 1, () => node("tr"));
  const heads = ["prompt", "tokens", "found", "first", "later"];
  fill(
    lines[0],
    heads.map((name) => words.say(`serving.remote.request.${name}`)),
    () => node("th", { scope: "col" }),
  );
  answers.forEach(({ prompt, prompt_tokens: tokens, found, first, later }, place) => {
    const time = (/** @type {number | null} */ seconds) => (seconds === null ? "–" : milliseconds(seconds));
    const cells = [shortened(prompt), tokens ?? "–", found ?? "–", time(first), time(later)];
    fill(lines[place + 1], cells, cellOf);
  });
}

/** The end of a prompt is where two that begin alike differ. @param {string} prompt */
const shortened = (prompt) => (prompt.length > 26 ? `…${prompt.slice(-25)}` : prompt);
