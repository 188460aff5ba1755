// A Plotly curve in a div that is kept: Plotly.react changes what differs. The value is a figure made in Python.

import { download } from "./download.js";
import { csvOf, sentenceOf, tableOf } from "./plot_table.js";
import { plotly } from "./plotly.js";
import { node, pool, say, set } from "./svg.js";
import { cellOf, fill } from "./table.js";
import * as words from "./words.js";

const MOST_ROWS = 300; // on the page; the file has all

/** @param {HTMLElement} element @returns {{ reads: ["dark"], update: (value: any) => void, draw: () => void }} */
export function mount(element) {
  const holder = node("div.plot", { role: "img", "aria-label": words.say("page.plot.name") }, element);
  const buttons = node("div.plot-buttons", {}, element);
  const numbers = numbersBelow(element, () => figure);
  /** @type {any} */
  let figure = null;
  for (const format of ["png", "svg"]) {
    const button = node(
      "button.small-button",
      { type: "button", title: words.say("page.plot.save_picture", { format: format.toUpperCase() }) },
      buttons,
      format.toUpperCase(),
    );
    button.addEventListener("click", async () => {
      if (figure)
        (await plotly()).downloadImage(holder, { format, filename: "decoding", width: 1280, height: 720, scale: 2 });
    });
  }

  async function draw() {
    if (!figure || !element.clientWidth) return;
    const Plotly = await plotly();
    if (!figure) return; // taken away meanwhile
    const { data, layout } = withColours(figure, getComputedStyle(document.body));
    const room = element.clientWidth;
    const size = {
      width: Math.max(room, layout.meta?.least_width ?? 0), // on a phone a wide one scrolls
      height: layout.height ?? Math.max(280, Math.min(420, room / 2)),
    };
    set(holder, { tabindex: size.width > room ? 0 : null });
    Plotly.react(holder, data, { ...layout, ...size }, { responsive: false, displayModeBar: false });
  }

  return {
    reads: ["dark"],
    update(value) {
      figure = value?.data ? value : null;
      element.parentElement?.classList.toggle("empty", !figure);
      buttons.hidden = !figure;
      holder.hidden = !figure;
      if (figure) set(holder, { "aria-label": sentenceOf(figure) });
      numbers.update();
      draw();
    },
    draw,
  };
}

/** The numbers as a table, made when it is opened. @param {HTMLElement} element @param {() => any} figureNow */
function numbersBelow(element, figureNow) {
  const box = node("details.plot-numbers", {}, element);
  node("summary", {}, box, words.say("page.plot.numbers"));
  const scroll = node(
    "div.plot-scroll",
    { tabindex: 0, role: "region", "aria-label": words.say("page.plot.numbers_of") },
    box,
  );
  const table = node("table.plot-table", {}, scroll);
  const head = node("tr", {}, node("thead", {}, table));
  const body = node("tbody", {}, table);
  const note = node("p.plot-note", {}, box);
  const csv = node("button.small-button", { type: "button" }, box, words.say("page.plot.save_csv"));
  csv.addEventListener("click", () => download(csvOf(tableOf(figureNow())), "decoding.csv"));

  function show() {
    const figure = figureNow();
    if (!box.open || !figure) return;
    const { columns, rows } = tableOf(figure);
    const shown = rows.slice(0, MOST_ROWS);
    fill(head, columns, () => node("th", { scope: "col" }));
    const lines = pool(body, shown.length, () => node("tr"));
    for (const [index, row] of shown.entries()) fill(lines[index], row, cellOf);
    const facts = { shown: shown.length, all: rows.length };
    say(note, shown.length < rows.length ? words.say("page.plot.first_rows", facts) : "");
  }

  box.addEventListener("toggle", show);
  return {
    update() {
      box.hidden = !figureNow();
      show();
    },
  };
}

/** "var(--kept)" becomes the colour that the page has now. @param {any} figure @param {CSSStyleDeclaration} style */
function withColours(figure, style) {
  return JSON.parse(JSON.stringify(figure), (_key, value) =>
    typeof value === "string" && value.includes("var(--")
      ? value.replace(/var\((--[\w-]+)\)/g, (_all, name) => style.getPropertyValue(name).trim())
      : value,
  );
}
