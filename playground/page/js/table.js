// A small table of texts and numbers. value: { columns: [..], rows: [[..]], note }; each text may be what Python told.

import { node, pool, say } from "./svg.js";
import { text } from "./words.js";

/** @param {HTMLElement} element @returns {import("./types.js").Panel} */
export function mount(element) {
  const table = node("table.fact-table", {}, element);
  const head = node("tr", {}, node("thead", {}, table));
  const body = node("tbody", {}, table);
  const note = node("p.note", {}, element);

  return {
    update(value) {
      element.classList.toggle("is-empty", !value);
      if (!value) return;
      fill(head, value.columns, () => node("th", { scope: "col" }));
      const lines = pool(body, value.rows.length, () => node("tr"));
      value.rows.forEach((/** @type {any[]} */ row, /** @type {number} */ index) => {
        fill(lines[index], row, cellOf);
      });
      say(note, text(value.note));
    },
  };
}

/** The first of a row names it. @param {number} place */
export function cellOf(place) {
  return node(place ? "td" : "th", place ? {} : { scope: "row" });
}

/** A row of cells. @param {Element} line @param {any[]} values @param {(place: number) => Element} make */
export function fill(line, values, make) {
  const cells = pool(line, values.length, make);
  for (const [index, value] of values.entries()) say(cells[index], text(value));
}
