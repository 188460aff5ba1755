// Questions as buttons. Pressing one sets prompt and sliders, and its card shows what the run says to it.

import { asker, isUnderWay, jobWords } from "../../page/js/jobs.js";
import { mount as mountPlot } from "../../page/js/plot.js";
import { node, pool, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/**
 * What questions.py answers: the facts of the finding's sentence and of the heads of its table, and a value for each
 * column of each row, null where a cell stays empty.
 * @typedef {object} Answer
 * @property {string} question
 * @property {Record<string, any>} facts
 * @property {Record<string, any>[]} rows
 * @property {any} figure
 */

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const row = node("div.ask-row", {}, element);
  node("span.note", {}, row, words.say("one_answer.ask.row"));
  /** @type {[string, HTMLElement][]} */
  const buttons = (api.props.value?.questions ?? []).map((/** @type {string} */ key) => [key, buttonOf(row, key)]);
  const status = node("span.note", { role: "status", "aria-live": "polite" }, row);
  const card = cardBelow(element, () => api.store.set({ question: null }));
  let asked = ""; // the question under way, or answered last
  let shown = ""; // whose numbers the card has
  const question = asker(api, (job) => {
    say(status, jobWords(job, words.say("one_answer.ask.working")));
    for (const [key, button] of buttons) set(button, { "aria-busy": key === asked && isUnderWay(job) ? "true" : null });
  });
  for (const [key, button] of buttons) {
    button.addEventListener("click", () => {
      if (!question.busy) api.store.set({ question: key === shown ? null : key });
    });
  }

  /** @param {string} key */
  async function ask(key) {
    asked = key;
    const reply = await question.ask({ key });
    say(status, reply.problem ?? "");
    if (api.store.get().question !== key) return; // closed meanwhile
    if (reply.problem) {
      asked = shown;
      api.store.set({ question: shown || null });
    } else {
      shown = key;
      card.fill(reply);
      draw(api.store.get());
    }
  }

  /** @param {Pick<import("../../page/js/types.js").State, "question">} state */
  function draw({ question: chosen }) {
    if (chosen === null) asked = shown = "";
    else if (chosen !== asked) ask(chosen);
    card.show(shown !== "");
    for (const [key, button] of buttons) {
      const isShown = String(key === shown);
      set(button, { "aria-expanded": isShown, "aria-pressed": isShown });
    }
  }

  return { reads: ["dark", "question"], update: question.take, draw };
}

/** @param {Element} row @param {string} key */
function buttonOf(row, key) {
  const title = words.say(`one_answer.lesson.${key}.title`);
  const attributes = { type: "button", "aria-expanded": "false", title };
  return node("button.small-button.ask-chip", attributes, row, words.say(`one_answer.lesson.${key}.button`));
}

/** @param {Element} element @param {() => void} close */
function cardBelow(element, close) {
  const card = node("div.ask-card", { hidden: "" }, element);
  const text = node("div", {}, card);
  const [title, paragraph] = [node("h3", {}, text), node("p", {}, text)];
  const finding = node("p.ask-finding", {}, text);
  const table = node("table.ask-table", {}, text);
  const head = node("tr", {}, node("thead", {}, table));
  const body = node("tbody", {}, table);
  const picture = node("div.ask-picture", {}, card);
  const plot = mountPlot(node("div", {}, picture));
  const attributes = { type: "button", "aria-label": words.say("one_answer.ask.close_label") };
  const shut = node("button.small-button", attributes, card, words.say("one_answer.ask.close"));
  shut.addEventListener("click", close);

  return {
    /** @param {boolean} isOpen */
    show(isOpen) {
      card.hidden = !isOpen;
      if (isOpen) plot.draw();
    },
    /** @param {Answer} answer */
    fill(answer) {
      const { question, facts, figure } = answer;
      say(title, words.say(`one_answer.lesson.${question}.title`));
      say(paragraph, words.say(`one_answer.lesson.${question}.text`).replaceAll("\n", " "));
      say(finding, words.say(`one_answer.finding.${question}.sentence`, facts));
      const { columns, rows } = tableOf(answer);
      fillRow(head, columns, "th");
      const lines = pool(body, rows.length, () => node("tr"));
      for (const [index, cells] of rows.entries()) fillRow(lines[index], cells, "td");
      picture.hidden = !figure;
      if (figure) plot.update(figure);
    },
  };
}

/** The table in words. @param {Answer} answer @returns {{ columns: string[], rows: string[][] }} */
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
  const nodes = pool(row, cells.length, () => node(kind));
  for (const [index, cell] of cells.entries()) say(nodes[index], cell);
}
