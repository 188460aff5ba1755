// Thirty answers: how many are distinct, a numbered dot for each, and the table of what they say.
// It asks for new answers when the sliders have rested or another prompt has run, and says "stale" until they are there.

import { download } from "../../page/js/download.js";
import { follower, jobWords, nextNumber } from "../../page/js/jobs.js";
import { milliseconds, percent } from "../../page/js/numbers.js";
import { settingsOf } from "../../page/js/stage_table.js";
import { node, pool, say, set } from "../../page/js/svg.js";

const REST_MS = 300;
const VIEWS = { tokens: "token by token", text: "as text" };

/** What the answers depend on, as one string: the sliders, and the prompt and model that last ran. */
function requestKey(params, run) {
  if (!params) return null;
  const fields = [...settingsOf().map(({ field }) => field), "seed", "penalty_counts_prompt", "rule"];
  return JSON.stringify([fields.map((field) => params[field]), run?.id ?? null]);
}

export function mount(element, api) {
  element.classList.add("answers");
  const head = node("div.answers-head", {}, element);
  const number = node("div.answers-number", { "aria-live": "polite" }, head, "–");
  const beside = node("div.answers-beside", {}, head);
  const words = node("p.answers-words", {}, beside);
  const dots = node("div.dots.answers-dots", { role: "group" }, beside);
  const status = node("p.note.answers-status", { role: "status" }, element);
  const problem = node("p.answers-problem", { role: "alert" }, element);
  const tools = node("div.answers-tools", {}, element);
  const choice = node("div.answers-switch", { role: "group", "aria-label": "What makes two answers the same" }, tools);
  node("span.note", {}, choice, "Compare");
  const buttons = Object.entries(VIEWS).map(([view, label]) => {
    const button = node("button.small-button", { type: "button", "data-view": view }, choice, label);
    button.addEventListener("click", () => {
      api.store.set({ compareBy: view });
      show();
    });
    return button;
  });
  set(buttons[1], { title: "Case, spaces and one final full stop make no difference" });
  const save = node("button.small-button.answers-csv", { type: "button" }, tools, "CSV");
  const scroll = node("div.answers-scroll", { tabindex: "0", role: "region", "aria-label": "The answers" }, element);
  const table = node("table.answers-table", {}, scroll);
  const header = node("tr", {}, node("thead", {}, table));
  const columns = [
    ["", ""],
    ["answer", ""],
    ["count", "rows that gave it"],
    ["share", "count / rows"],
    ["stated", "product of the probabilities of its tokens, under these settings"],
    ["tokens", "without the stop token"],
    ["ends by", ""],
  ];
  for (const [title, meaning] of columns) node("th", { scope: "col", title: meaning || null }, header, title);
  const body = node("tbody", {}, table);

  let value = null;
  let wanted = null; // the request asked for last
  let timer = 0;

  save.addEventListener("click", () => {
    if (value?.views) download(value.csv, "answers.csv");
  });

  function ask() {
    clearTimeout(timer);
    wanted = requestKey(api.store.get().params, api.store.get().run);
    const number = nextNumber();
    jobs.expect(number);
    api.setValue({ number });
    api.trigger("wanted");
  }

  function highlight(rows) {
    api.store.set({ answerRows: rows });
  }

  function show() {
    const by = api.store.get().compareBy;
    for (const button of buttons) set(button, { "aria-pressed": button.dataset.view === by });
    if (!value?.views) return;
    const view = value.views[by];
    say(number, String(view.rows.length));
    say(
      words,
      `distinct ${view.rows.length === 1 ? "answer" : "answers"} among ${view.groups.length} to “${value.prompt}”`,
    );
    const circles = pool(dots, view.groups.length, () => node("span.dot"));
    view.groups.forEach((group, row) => {
      const circle = circles[row];
      say(circle, String(group + 1));
      circle.style.setProperty("--shade", Math.max(1 - group * 0.06, 0.3).toFixed(2));
      set(circle, { title: `answer ${row + 1}: ${view.rows[group].text}` });
      circle.onpointerenter = () => highlight(view.rows[group].rows);
      circle.onpointerleave = () => highlight(null);
    });
    set(dots, { "aria-label": `${view.rows.length} distinct answers among ${view.groups.length}` });
    const lines = pool(body, view.rows.length, makeLine);
    view.rows.forEach((row, place) => fill(lines[place], row, place, view.groups.length));
  }

  function makeLine() {
    const line = node("tr");
    node("span.dot", {}, node("td", {}, line));
    node("td.answers-text", {}, line);
    const count = node("td.answers-count", {}, line);
    node("span.answers-bar", {}, count);
    node("b", {}, count);
    for (let column = 3; column < columns.length; column++) node("td", {}, line);
    return line;
  }

  function fill(line, row, place, total) {
    const cells = line.children;
    say(cells[0].firstChild, String(place + 1));
    cells[0].firstChild.style.setProperty("--shade", Math.max(1 - place * 0.06, 0.3).toFixed(2));
    say(cells[1], row.text || "(empty)");
    cells[2].firstChild.style.setProperty("--part", (row.count / total).toFixed(4));
    say(cells[2].lastChild, String(row.count));
    say(cells[3], percent(row.count / total));
    say(cells[4], percent(row.probability));
    set(cells[4], {
      title: `${row.probability.toExponential(3)} under these settings; ${row.model_probability.toExponential(3)} as the model gave it, at temperature 1 with nothing cut`,
    });
    say(cells[5], String(row.length));
    say(cells[6], row.stop);
    line.onpointerenter = () => highlight(row.rows);
    line.onpointerleave = () => highlight(null);
  }

  function draw(state) {
    const key = requestKey(state.params, state.run);
    if (state.params && key !== wanted) {
      const first = wanted === null;
      element.classList.toggle("is-stale", !first);
      say(
        status,
        first ? "Sampling 30 answers …" : "Stale: sampled with other settings. New ones come when the slider rests.",
      );
      clearTimeout(timer);
      timer = setTimeout(ask, first ? 0 : REST_MS);
    }
    const lit = state.answerRows;
    const view = value?.views?.[state.compareBy];
    if (!view) return;
    for (let row = 0; row < dots.children.length; row++) {
      dots.children[row].classList.toggle("is-lit", Boolean(lit?.includes(row)));
    }
    for (let place = 0; place < body.children.length; place++) {
      body.children[place].classList.toggle(
        "is-lit",
        Boolean(lit && view.rows[place]?.rows.some((row) => lit.includes(row))),
      );
    }
  }

  const jobs = follower({
    tell(job) {
      const isOver = job.state === "failed" || job.state === "stopped";
      say(problem, isOver ? jobWords(job) : "");
      if (isOver) element.classList.toggle("is-stale", Boolean(value));
      if (isOver || job.state === "queued") say(status, isOver ? "" : jobWords(job));
    },
  });
  show();
  return {
    update(given) {
      if (!jobs.hear(given) || !given?.views) return;
      value = given;
      element.classList.remove("is-stale");
      say(
        status,
        `At most ${value.max_new_tokens} tokens each, all in one batch: ${milliseconds(value.seconds)} on ${value.machine}.`,
      );
      show();
    },
    reads: ["params", "run", "compareBy", "answerRows"],
    draw,
  };
}
