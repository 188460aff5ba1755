// A small table of texts and numbers. value: { columns: [..], rows: [[..]], note }

import { node, pool, say } from "./svg.js";

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
        fill(lines[index], row, (/** @type {number} */ place) =>
          node(place ? "td" : "th", place ? {} : { scope: "row" }),
        );
      });
      say(note, value.note ?? "");
    },
  };
}

/** @param {Element} line @param {any[]} texts @param {(place: number) => Element} make */
function fill(line, texts, make) {
  const cells = pool(line, texts.length, make);
  for (const [index, text] of texts.entries()) say(cells[index], String(text));
}
