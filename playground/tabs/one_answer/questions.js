// Questions as buttons. Pressing one sets prompt and sliders, and its card shows what the run says to it.

import { asker, isUnderWay, jobWords } from "../../page/js/jobs.js";
import { mount as mountPlot } from "../../page/js/plot.js";
import { node, pool, say, set } from "../../page/js/svg.js";

export function mount(element, api) {
  const question = asker(api, (job) => {
    say(status, jobWords(job, "Asking the model …"));
    for (const [key, button] of buttons) set(button, { "aria-busy": key === asked && isUnderWay(job) ? "true" : null });
  });
  const row = node("div.ask-row", {}, element);
  node("span.note", {}, row, "People ask");
  const buttons = (api.props.value?.questions ?? []).map(({ key, title, short }) => {
    const button = node(
      "button.small-button.ask-chip",
      { type: "button", "aria-expanded": "false", title },
      row,
      short,
    );
    button.addEventListener("click", () => (key === shown ? close() : open(key)));
    return [key, button];
  });
  const status = node("span.note", { role: "status", "aria-live": "polite" }, row);
  const card = node("div.ask-card", { hidden: "" }, element);
  const words = node("div", {}, card);
  const title = node("h3", {}, words);
  const text = node("p", {}, words);
  const finding = node("p.ask-finding", {}, words);
  const table = node("table.ask-table", {}, words);
  const picture = node("div.ask-picture", {}, card);
  const plot = mountPlot(node("div", {}, picture));
  const head = node("tr", {}, node("thead", {}, table));
  const body = node("tbody", {}, table);
  const shut = node("button.small-button", { type: "button", "aria-label": "Close the question" }, card, "Close");
  shut.addEventListener("click", close);
  let shown = null;
  let asked = null;

  async function open(key) {
    if (question.busy) return;
    asked = key;
    const reply = await question.ask({ key });
    say(status, reply.problem ?? "");
    if (reply.problem) return;
    shown = key;
    showCard(reply);
  }

  function close() {
    shown = null;
    card.hidden = true;
    mark();
  }

  function showCard(reply) {
    card.hidden = false;
    say(title, reply.title);
    say(text, reply.text);
    say(finding, reply.finding);
    fillRow(head, reply.columns, "th");
    picture.hidden = !reply.figure;
    if (reply.figure) plot.update(reply.figure);
    const rows = pool(body, reply.rows.length, () => node("tr"));
    reply.rows.forEach((cells, index) => fillRow(rows[index], cells, "td"));
    mark();
  }

  function mark() {
    for (const [key, button] of buttons) {
      set(button, { "aria-expanded": String(key === shown), "aria-pressed": String(key === shown) });
    }
  }

  return { reads: ["dark"], update: question.take, draw: () => plot.draw() };
}

function fillRow(row, cells, kind) {
  const nodes = pool(row, cells.length, () => node(kind));
  cells.forEach((cell, index) => say(nodes[index], cell));
}
