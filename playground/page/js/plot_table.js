// The numbers of a Plotly curve: in words for who can't see it, as a table, and for a spreadsheet.

import * as words from "./words.js";

/** @typedef {{ data: any[], layout: any }} Figure */
/** @typedef {{ columns: string[], rows: any[][] }} Table */

/** @type {Record<string, any>} */
const KINDS = {
  f8: Float64Array,
  f4: Float32Array,
  i1: Int8Array,
  i2: Int16Array,
  i4: Int32Array,
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
};

/** One row for each place on the x axis, one column for each named trace: { columns, rows }. @param {Figure} figure @returns {Table} */
export function tableOf({ data, layout }) {
  const traces = data.filter((trace) => trace.visible !== false && trace.hoverinfo !== "skip");
  const places = new Map();
  traces.forEach((trace, column) => {
    const [x, y] = [numbersOf(trace.x), numbersOf(trace.y)];
    (x.length ? x : y.map((_, index) => index)).forEach((place, index) => {
      if (place === null || y[index] === null || y[index] === undefined) return;
      if (!places.has(place)) places.set(place, Array(traces.length).fill(""));
      places.get(place)[column] = y[index];
    });
  });
  const names = traces.map(
    (trace, index) => trace.name || titleOf(layout.yaxis) || words.say("page.plot.curve", { number: index + 1 }),
  );
  const rows = [...places].map(([place, values]) => [place, ...values]);
  if (rows.every(([place]) => typeof place === "number")) rows.sort((a, b) => a[0] - b[0]);
  return { columns: [titleOf(layout.xaxis) || "x", ...names], rows };
}

/** What stands on the axes and which curves there are. @param {Figure} figure */
export function sentenceOf({ data, layout }) {
  const names = [...new Set(data.map(({ name }) => name).filter(Boolean))];
  const [title, x, y] = [plain(layout.title?.text ?? ""), titleOf(layout.xaxis), titleOf(layout.yaxis)];
  const axes = x && y ? words.say("page.plot.over", { x, y }) : x || y || words.say("page.plot.name");
  const about = title ? words.say("page.plot.titled", { title, axes }) : axes;
  if (!names.length) return words.say("page.plot.spoken", { about });
  return words.say("page.plot.spoken_curves", { about, names: names.map(plain).join(", ") });
}

/** @param {Table} table */
export function csvOf({ columns, rows }) {
  return [columns, ...rows].map((row) => row.map(cell).join(",")).join("\r\n");
}

/** As in page/spreadsheet.py: text that a spreadsheet would run begins with an apostrophe. */
function cell(value) {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Plotly for Python writes a vector of numpy as base64. */
function numbersOf(values) {
  if (!values?.bdata) return Array.isArray(values) ? values : [];
  const bytes = Uint8Array.from(atob(values.bdata), (letter) => letter.charCodeAt(0));
  return [...new KINDS[values.dtype](bytes.buffer)];
}

function titleOf(axis) {
  return plain(axis?.title?.text ?? "");
}

/** Plotly's titles know a little HTML. */
function plain(text) {
  return text
    .replace(/<br\s*\/?>/g, " ")
    .replace(/<[^>]*>/g, "")
    .trim();
}
