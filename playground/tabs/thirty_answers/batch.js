// The batch, rows by steps, as two programs compute it: one feeds ended rows the end token until the last row is done,
// ours lets an ended row leave.

import { node, pool, say, set, svg } from "../../page/js/svg.js";

const KINDS = {
  live: "writes a token",
  end: "its last step",
  filled: "already ended, fed the end token",
};

/** What each cell of the padded rectangle is: rows by steps. */
export function paddedCells({ steps }) {
  const longest = Math.max(...steps);
  return steps.map((count) =>
    Array.from({ length: longest }, (_, step) => (step < count - 1 ? "live" : step === count - 1 ? "end" : "filled")),
  );
}

/** The rows that are still in our batch at each step, in order. */
export function droppedColumns({ steps }) {
  const longest = Math.max(...steps);
  return Array.from({ length: longest }, (_, step) => steps.flatMap((count, row) => (step < count ? [row] : [])));
}

export function mount(element, api) {
  element.classList.add("batch");
  const pictures = node("div.batch-pictures", {}, element);
  const padded = makePicture("MiniMind: ended rows stay");
  const dropped = makePicture("Here: ended rows leave");
  const legend = node("p.note.batch-legend", {}, element);
  for (const [kind, words] of Object.entries(KINDS)) {
    const entry = node("span.batch-entry", {}, legend);
    node(`span.batch-key.is-${kind}`, { "aria-hidden": "true" }, entry);
    node("span", {}, entry, words);
  }
  const table = node("table.batch-table", {}, element);
  const body = node("tbody", {}, table);
  const note = node("p.note", {}, element);
  let value = null;

  function makePicture(title) {
    const figure = node("figure", {}, pictures);
    const caption = node("figcaption", {}, figure);
    node("b", {}, caption, title);
    const total = node("span.batch-total", {}, caption);
    const canvas = svg("svg", { role: "img" }, figure);
    return {
      figure,
      total,
      canvas,
      cells: svg("g", {}, canvas),
      words: svg("text.axis", { "text-anchor": "end" }, canvas),
    };
  }

  function drawCells(picture, cells, lit, sizes) {
    const { cell, columns, rows } = sizes;
    set(picture.canvas, {
      width: columns * cell,
      height: rows * cell + 24,
      viewBox: `0 0 ${columns * cell} ${rows * cell + 24}`,
    });
    set(picture.words, { x: columns * cell, y: rows * cell + 19 });
    say(picture.words, `step ${columns} →`);
    const items = pool(picture.cells, cells.length, () => svg("rect"));
    cells.forEach(({ row, step, line, kind }, place) => {
      set(items[place], {
        x: step * cell + 0.5,
        y: line * cell + 0.5,
        width: cell - 1,
        height: cell - 1,
        class: `batch-cell is-${kind}${lit?.includes(row) ? " is-lit" : ""}`,
      });
    });
  }

  function draw(state) {
    if (!value || !element.clientWidth) return;
    const rows = value.steps.length;
    const columns = Math.max(...value.steps);
    const wide = pictures.clientWidth < 520 ? pictures.clientWidth : pictures.clientWidth / 2 - 12;
    const cell = Math.max(4, Math.min(pictures.clientWidth < 520 ? 11 : 18, Math.floor(wide / columns)));
    const kinds = paddedCells(value);
    const all = kinds.flatMap((line, row) => line.map((kind, step) => ({ row, step, line: row, kind })));
    drawCells(padded, all, state.answerRows, { cell, columns, rows });
    const stay = droppedColumns(value).flatMap((column, step) =>
      column.map((row, line) => ({ row, step, line, kind: kinds[row][step] })),
    );
    drawCells(dropped, stay, state.answerRows, { cell, columns, rows });
  }

  function tell() {
    const { steps, prompt_length, padded: all, dropped: ours, merged, filled } = value;
    const count = (number) => number.toLocaleString("en");
    say(padded.total, `${count(all)} tokens`);
    say(dropped.total, `${count(ours)} tokens`);
    const longest = Math.max(...steps);
    set(padded.canvas, {
      "aria-label": `${steps.length} rows, ${longest} steps; ${filled} cells hold only the end token`,
    });
    set(dropped.canvas, {
      "aria-label": `The batch shrinks from ${steps.length} rows to ${steps.filter((step) => step === longest).length}`,
    });
    const lines = [
      ["MiniMind pads", all, `${steps.length} × (${prompt_length} of the prompt + ${longest - 1})`],
      ["ended rows leave", ours, `${prompt_length} of the prompt once + ${count(ours - prompt_length)}`],
      ["equal beginnings once", merged, "as the curve and the 3,000 draws are computed"],
    ];
    const rows = pool(body, lines.length, () => {
      const line = node("tr");
      node("th", { scope: "row" }, line);
      node("span.batch-bar", {}, node("td.batch-lane", {}, line));
      node("td.batch-number", {}, line);
      node("td.batch-why", {}, line);
      return line;
    });
    lines.forEach(([name, tokens, why], place) => {
      const [head, lane, number, words] = rows[place].children;
      say(head, name);
      lane.firstChild.style.setProperty("--part", (tokens / all).toFixed(4));
      say(number, count(tokens));
      say(words, why);
    });
    say(
      note,
      filled
        ? `${count(filled)} of ${count(steps.length * longest)} cells only fill the rectangle. They are cut off before answers are compared, or every length would make another answer.`
        : "All rows end at the same step: nothing is filled.",
    );
  }

  return {
    update(given) {
      if (!given) return;
      value = given;
      tell();
      draw(api.store.get());
    },
    reads: ["answerRows"],
    draw,
  };
}
