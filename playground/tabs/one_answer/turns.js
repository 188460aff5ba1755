// The conversation: what was asked and answered, and the next question, which the model reads behind all of it.

import { isUnderWay, jobWords, nextNumber } from "../../page/js/jobs.js";
import { node, pool, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/**
 * @typedef {import("../../page/js/types.js").Run} Run
 * @typedef {import("../../page/js/types.js").State} State
 */

/** What the model said, without the token that ended it. @param {Pick<Run, "pieces" | "stopReason">} run */
function answerOf({ pieces, stopReason }) {
  return (stopReason === "stop token" ? pieces.slice(0, -1) : pieces).join("");
}

/** Questions and answers by turns, the last ones too. @param {Pick<Run, "history" | "prompt" | "pieces" | "stopReason">} run */
export function textsOf(run) {
  return [...run.history, run.prompt, answerOf(run)];
}

/** How much of the text was in the cache when the answer began. @param {Run} run */
export function fedWords({ history, promptLength: count, numFed, held }) {
  if (!history.length || !numFed.length) return "";
  const [fed, reused] = [numFed[0], count - numFed[0]];
  const facts = { fed, reused, count, held: held ?? reused };
  const said = (/** @type {string} */ key) => words.say(`one_answer.turns.${key}`, facts);
  if (reused === 0) return said(held ? "nothing_common" : "gone");
  return [said("reused"), held !== null && reused < held ? said("differs") : ""].join(" ").trim();
}

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const { store } = api;
  const { list, empty, fed, alone, status, box, on, anew } = build(element);
  let asked = { number: -1, prompt: "" }; // the newest question from here

  /** @param {string} model @param {string[]} history @param {string} prompt
   * @param {string | null} run  whose answer ends the history */
  function ask(model, history, prompt, run) {
    asked = { number: nextNumber(), prompt };
    api.setValue({ model, prompt, history, run, number: asked.number });
    api.trigger("asked");
    write("");
  }

  /** @param {string} next */
  function write(next) {
    box.value = next;
    store.set({ next });
  }

  /** A question that was refused comes back into the box. @param {import("../../page/js/jobs.js").Job} job */
  function follow(job) {
    say(status, jobWords(job, ""));
    if (job.state === "failed" && asked.prompt && !box.value) write(asked.prompt);
    if (!isUnderWay(job)) asked.prompt = "";
  }

  on.addEventListener("click", () => {
    const { run, next } = store.get();
    if (run?.logits && next.trim()) ask(run.model, textsOf(run), next, run.id);
  });
  anew.addEventListener("click", () => {
    const { run, next } = store.get();
    if (run) ask(run.model, [], next.trim() ? next : textsOf(run)[0], null);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    on.click();
  });
  for (const kind of ["input", "change"]) {
    box.addEventListener(kind, (event) => {
      event.stopPropagation(); // what is half written is no part of the address
      store.set({ next: box.value });
    });
  }

  store.set({ ask });
  return {
    reads: ["run", "job", "next"],
    draw({ run, job, next }) {
      empty.hidden = Boolean(run);
      drawTurns(list, run ? textsOf(run) : []);
      say(fed, run ? fedWords(run) : "");
      alone.hidden = !run?.history.length;
      if (job && job.number === asked.number) follow(job);
      else say(status, "");
      const isBusy = isUnderWay(job);
      set(on, { disabled: isBusy || !run?.logits || !next.trim() ? "" : null });
      set(anew, { disabled: isBusy || !run ? "" : null });
    },
  };
}

/** @param {HTMLElement} element */
function build(element) {
  const title = (/** @type {string} */ key) => ({ type: "button", title: words.say(`one_answer.turns.${key}_title`) });
  node("h2", {}, element, words.say("one_answer.turns.title"));
  const empty = node("p.empty-note", {}, element, words.say("one_answer.turns.empty"));
  const list = node("ol.turns", { translate: "no" }, element);
  const fed = node("p.turns-fed", { role: "status" }, element);
  const alone = node("p.turns-alone", { hidden: "" }, element, words.say("one_answer.turns.alone"));
  const row = node("div.turns-next", {}, element);
  const label = words.say("one_answer.turns.next");
  const box = node("textarea", { rows: 1, "aria-label": label, placeholder: label }, row);
  const on = node("button.small-button.turns-on", title("on"), row, words.say("one_answer.turns.on"));
  const anew = node("button.small-button.turns-anew", title("anew"), row, words.say("one_answer.turns.anew"));
  const status = node("p.note", { role: "status" }, element);
  return { list, empty, fed, alone, status, box, on, anew };
}

/** @param {HTMLElement} list @param {string[]} texts  questions and answers by turns */
function drawTurns(list, texts) {
  const rows = pool(list, texts.length / 2, () => {
    const row = node("li");
    node("p.turns-question", {}, row);
    node("p.turns-answer", {}, row);
    return row;
  });
  for (let turn = 0; turn < rows.length; turn += 1) {
    const [question, answer] = rows[turn].children;
    say(question, texts[2 * turn]);
    say(answer, texts[2 * turn + 1]);
  }
}
