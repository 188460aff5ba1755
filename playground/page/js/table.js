// A small table of texts and numbers. value: { columns: [..], rows: [[..]], note }

import { node, pool, say } from "./svg.js";

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
      value.rows.forEach((row, index) => {
        fill(lines[index], row, (place) => node(place ? "td" : "th", place ? {} : { scope: "row" }));
      });
      say(note, value.note ?? "");
    },
  };
}

function fill(line, texts, make) {
  const cells = pool(line, texts.length, make);
  texts.forEach((text, index) => say(cells[index], String(text)));
}
