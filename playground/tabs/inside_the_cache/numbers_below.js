// The numbers of a picture as a table, for who can't see it. Made when it is opened: most people never do.

import { node, pool, say } from "../../page/js/svg.js";
import { cellOf, fill } from "../../page/js/table.js";
import * as words from "../../page/js/words.js";

const MOST_ROWS = 300;

/** @typedef {{ columns: any[], rows: any[][] }} Table */

/** @param {HTMLElement} element @param {string} name  of the picture @param {() => Table | null} tableNow */
export function numbersBelow(element, name, tableNow) {
  const box = node("details.plot-numbers", {}, element);
  node("summary", {}, box, words.say("inside_the_cache.number.all"));
  const scroll = node("div.plot-scroll", { tabindex: 0, role: "region", "aria-label": name }, box);
  const table = node("table.plot-table", {}, scroll);
  const head = node("tr", {}, node("thead", {}, table));
  const body = node("tbody", {}, table);
  const note = node("p.note", {}, box);

  function show() {
    const made = box.open ? tableNow() : null;
    if (!made) return;
    const shown = made.rows.slice(-MOST_ROWS);
    fill(head, made.columns, () => node("th", { scope: "col" }));
    const lines = pool(body, shown.length, () => node("tr"));
    for (const [index, row] of shown.entries()) fill(lines[index], row, cellOf);
    const facts = { shown: shown.length, all: made.rows.length };
    say(note, shown.length < made.rows.length ? words.say("inside_the_cache.number.last_rows", facts) : "");
  }

  box.addEventListener("toggle", show);
  return { update: show };
}
