// Every token pass of both runs as an area on one scale: a row is a step, a column a position of the text. Without a
// cache each row begins at the left again, a triangle on top of the prompt's block; with it a row is one cell, a line.

import { linearScale } from "../../page/js/axis.js";
import { SIDES } from "../../page/js/comparison.js";
import { count } from "../../page/js/numbers.js";
import { node, pool, say, set, svg } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { sum } from "./race_sides.js";

/** @typedef {ReturnType<typeof buildSide>} SideView */

const EDGE = { left: 8, right: 8, top: 6, bottom: 34 };

/** @param {HTMLElement} element @returns {import("../../page/js/types.js").Panel} */
export function mount(element) {
  const empty = node("p.empty-note", {}, element, words.say("cache_on_off.work.empty"));
  const holder = node("div.work", {}, element);
  const sides = { on: buildSide(holder, "on"), off: buildSide(holder, "off") };
  const legend = node("p.note.work-legend", {}, element);
  for (const key of ["fresh", "again", "stored"]) {
    const entry = node("span", {}, legend);
    node(/** @type {any} */ (`span.swatch.swatch-${key}`), {}, entry);
    entry.append(` ${words.say(`cache_on_off.work.legend.${key}`)}`);
  }

  return {
    reads: ["race"],
    draw({ race }) {
      empty.hidden = Boolean(race);
      holder.hidden = legend.hidden = !race;
      if (!race) return;
      const width = Math.floor(sides.on.box.clientWidth);
      if (!width) return; // the replay goes on while another tab is looked at
      const height = Math.max(150, Math.min(320, Math.round(width * 0.75)));
      for (const side of SIDES) drawSide(sides[side], race, side, width, height);
    },
  };
}

/** @param {Element} parent @param {"on" | "off"} side */
function buildSide(parent, side) {
  const box = node("figure.work-side", {}, parent);
  const caption = node("figcaption", {}, box);
  const number = node(/** @type {any} */ (`span.key-number.work-number.is-${side}`), {}, caption, "0");
  node("span.work-words", {}, caption, words.say(`cache_on_off.work.passes.${side}`));
  const picture = svg("svg", { role: "img" }, box);
  return {
    box,
    number,
    picture,
    stored: svg("path.work-stored", {}, picture),
    fresh: svg("g", {}, picture),
    again: svg("g", {}, picture),
    axis: svg("text.axis", { "text-anchor": "start" }, picture),
    end: svg("text.axis", { "text-anchor": "end" }, picture),
    words: svg("text.work-inside", { "text-anchor": "middle" }, picture),
  };
}

/**
 * Where each row of a side begins. Step n ends at position P + n: what it was fed reaches back from there, and what it
 * read from the cache fills the rest. @param {number} prompt tokens @param {number[]} fed
 */
export function rowsOf(prompt, fed) {
  return fed.map((count, step) => {
    const end = prompt + step;
    return { start: end - count, newest: step ? end - 1 : end - count, end };
  });
}

/** Rows of keys and values that a side only read again, or computed again. @param {"on" | "off"} side @param {number} prompt @param {number[]} fed */
export function repeatedRows(side, prompt, fed) {
  return sum(rowsOf(prompt, fed).map(({ start }, step) => (side === "on" ? start : step ? fed[step] - 1 : 0)));
}

/** @param {SideView} view @param {import("../../page/js/types.js").Race} race @param {"on" | "off"} side @param {number} width @param {number} height */
function drawSide(view, { value, done }, side, width, height) {
  const { prompt_length: prompt, max_new: most } = value;
  const made = done[side];
  const fed = value.sides[side].fed.slice(0, made);
  const x = linearScale([0, prompt + most], [EDGE.left, width - EDGE.right]);
  const y = linearScale([0, most], [EDGE.top, height - EDGE.bottom]);
  set(view.picture, { width, height, "aria-label": words.say(`cache_on_off.work.picture.${side}`, { made }) });
  say(view.number, count(sum(fed)));
  drawCells(view, rowsOf(prompt, fed), x, y);
  const rows = repeatedRows(side, prompt, fed);
  set(view.words, { x: x(0.5 * prompt + 0.25 * most), y: (y(0) + y(most)) / 2 });
  const fits = rows && y(made) - y(0) > 60;
  say(view.words, fits ? words.say(`cache_on_off.work.repeated.${side}`, { rows }) : "");
  set(view.axis, { x: x(0), y: height - 10 });
  say(view.axis, words.say("cache_on_off.work.prompt", { prompt }));
  set(view.end, { x: width - EDGE.right, y: height - 10 });
  say(view.end, words.say("cache_on_off.work.step", { made, most }));
}

/** @param {SideView} view @param {ReturnType<typeof rowsOf>} rows @param {import("../../page/js/axis.js").Scale} x @param {import("../../page/js/axis.js").Scale} y */
function drawCells(view, rows, x, y) {
  const row = y(1) - y(0);
  const cell = Math.max(2.5, x(1) - x(0));
  const thick = Math.max(row * (row > 4 ? 0.86 : 1), 1);
  const fresh = pool(view.fresh, rows.length, () => svg("rect.work-fresh"));
  const again = pool(view.again, rows.length, () => svg("rect.work-again"));
  for (const [step, { start, newest, end }] of rows.entries()) {
    const wide = step ? cell : x(end) - x(newest);
    set(fresh[step], { x: x(newest), y: y(step), width: wide, height: Math.max(thick, step ? 2 : 3) });
    set(again[step], { x: x(start), y: y(step), width: x(newest) - x(start), height: thick });
  }
  const edge = rows.map(({ start }, step) => `L${x(start).toFixed(1)},${y(step).toFixed(1)}V${y(step + 1).toFixed(1)}`);
  set(view.stored, { d: rows.length ? `M${x(0)},${y(0)}${edge.join("")}L${x(0)},${y(rows.length)}Z` : null });
}
