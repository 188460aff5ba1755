// The card of the chosen question: what the model was asked with, what its run says, and a way back to what was there.

import { conditionsOf, isFor } from "../../page/js/conditions.js";
import { setControls } from "../../page/js/controls.js";
import { asker, jobWords } from "../../page/js/jobs.js";
import { mount as mountPlot } from "../../page/js/plot.js";
import { show } from "../../page/js/run_data.js";
import { node, pool, say } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/**
 * @typedef {import("../../page/js/types.js").State} State
 * @typedef {import("../../page/js/types.js").AnswersRequest} AnswersRequest
 */

/**
 * What questions.py answers: the facts of the finding's sentence and of the heads of its table, and a value for each
 * column of each row, null where a cell stays empty.
 * @typedef {object} Answer
 * @property {string} question
 * @property {Record<string, any>} facts
 * @property {Record<string, any>[]} rows
 * @property {any} figure
 * @property {AnswersRequest} made  model, prompt and settings that the question set
 */

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const { store } = api;
  const status = node("p.note.ask-status", { role: "status" }, element);
  const card = cardIn(element, () => store.set({ question: null }));
  let asked = ""; // the question under way, or answered last
  /** @type {Answer | null} */
  let shown = null;
  /** What was on the page before the first question. @type {State | null} */
  let before = null;
  const question = asker(api, (job) => say(status, jobWords(job, words.say("one_answer.ask.working"))));

  /** @param {string} key */
  async function ask(key) {
    asked = key;
    before ??= store.get();
    const reply = await question.ask({ key });
    say(status, reply.problem ?? "");
    if (store.get().question !== key) return; // closed meanwhile
    if (reply.problem) {
      asked = shown?.question ?? "";
      store.set({ question: shown?.question ?? null });
    } else {
      shown = reply;
      card.fill(reply);
      draw(store.get());
    }
  }

  /** Back to what was there, unless somebody has gone on from what the question set. */
  function close() {
    const [was, answer] = [before, shown];
    [asked, shown, before] = ["", null, null];
    if (!answer || !was?.bar || !isUntouched(answer, store.get())) return;
    setControls(was.params ?? {});
    api.setValue(was.bar);
    api.trigger("closed"); // the bar takes model and prompt over
    if (was.run) show(store, was.run, was.step);
  }

  /** @param {State} state */
  function draw(state) {
    const { question: chosen } = state;
    if (chosen === null && asked) close();
    else if (chosen !== null && chosen !== asked) ask(chosen);
    card.show(shown !== null, shown !== null && !isUntouched(shown, state));
  }

  return { reads: ["dark", "question", "params", "run"], update: question.take, draw };
}

/** Whether the page still is as the question set it. @param {Answer} answer @param {Pick<State, "run" | "params">} state */
export function isUntouched({ made }, { run, params }) {
  return (
    Boolean(run && params) && isFor(made, { model: run?.model ?? "", prompt: run?.prompt ?? "", params: params ?? {} })
  );
}

/** @param {Element} element @param {() => void} close */
function cardIn(element, close) {
  const card = node("div.ask-card.card", { hidden: "" }, element);
  const text = node("div", {}, card);
  const [title, paragraph] = [node("h2", {}, text), node("p", {}, text)];
  const finding = node("p.ask-finding", {}, text);
  const made = node("p.note", {}, text);
  const stale = node("p.note.ask-stale", { role: "status", hidden: "" }, text, words.say("one_answer.ask.stale"));
  const table = node("table.ask-table");
  const head = node("tr", {}, node("thead", {}, table));
  const body = node("tbody", {}, table);
  const picture = node("div.ask-picture", {}, card);
  const plot = mountPlot(node("div", {}, picture));
  const attributes = { type: "button", title: words.say("one_answer.ask.close_hint") };
  const shut = node("button.small-button", attributes, card, words.say("one_answer.ask.close"));
  shut.addEventListener("click", close);

  return {
    /** @param {boolean} isOpen @param {boolean} isOld */
    show(isOpen, isOld) {
      card.hidden = !isOpen;
      stale.hidden = !isOld;
      if (isOpen) plot.draw();
    },
    /** @param {Answer} answer */
    fill(answer) {
      const { question, facts, figure } = answer;
      say(title, words.say(`one_answer.lesson.${question}.title`));
      say(paragraph, words.say(`one_answer.lesson.${question}.text`).replaceAll("\n", " "));
      say(finding, words.say(`one_answer.finding.${question}.sentence`, facts));
      say(made, words.say("one_answer.ask.made", { conditions: conditionsOf(answer.made) }));
      const { columns, rows } = tableOf(answer);
      fillRow(head, columns, "th");
      const lines = pool(body, rows.length, () => node("tr"));
      for (const [index, cells] of rows.entries()) fillRow(lines[index], cells, "td");
      (figure ? text : card).append(table); // beside the text, where there is no curve
      picture.hidden = !figure;
      if (figure) plot.update(figure);
    },
  };
}

/** The table in words. @param {Pick<Answer, "question" | "facts" | "rows">} answer @returns {{ columns: string[], rows: string[][] }} */
export function tableOf({ question, facts, rows }) {
  const names = Object.keys(rows[0]);
  return {
    columns: names.map((name) => words.say(`one_answer.finding.${question}.head.${name}`, facts)),
    rows: rows.map((row) =>
      names.map((name) => (row[name] === null ? "" : words.say(`one_answer.finding.${question}.cell.${name}`, row))),
    ),
  };
}

/** @param {Element} row @param {string[]} cells @param {"th" | "td"} kind */
function fillRow(row, cells, kind) {
  const nodes = pool(row, cells.length, () => node(kind, kind === "th" ? { scope: "col" } : {}));
  for (const [index, cell] of cells.entries()) say(nodes[index], cell);
}
