// Evidence of the clinic: a row for each test made, and the two texts of the last one, token under token, over the
// largest logit gap of each step on a log scale.

import { logScale } from "../../page/js/axis.js";
import { SIDES } from "../../page/js/comparison.js";
import { small } from "../../page/js/numbers.js";
import { node, pool, say, set, svg } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/**
 * One test made, see evidence_row in clinic_part.py.
 * @typedef {object} Test
 * @property {import("../../page/js/words.js").Told} name
 * @property {boolean} equal
 * @property {number | null} first_difference
 * @property {number} first_gap
 * @property {number} largest_gap
 * @property {number} fed
 * @property {number} prompt_length
 * @property {boolean} same_numbers
 * @property {import("../../page/js/words.js").Told[]} reading
 *
 * The texts of a test.
 * @typedef {object} Strip
 * @property {string[]} on
 * @property {string[]} off
 * @property {number | null} first_difference
 * @property {number[]} gaps
 * @property {number} rounding  the most that float32 may move a logit
 */

const COLUMNS = ["name", "tokens", "first_gap", "largest_gap", "fed", "numbers"];
const LOWEST = 1e-8; // equal logits stand at the bottom of the scale
const HIGHEST = 100;
const MARKS = [1e-8, 1e-6, 1e-4, 0.01, 1, 100];
const HEIGHT = 150;
const COLUMN = 104; // pixels of a token, as in style.css
const KEPT_TESTS = 8;

/** @param {HTMLElement} element @returns {import("../../page/js/types.js").Panel} */
export function mount(element) {
  const empty = node("p.empty-note", {}, element, words.say("cache_on_off.clinic.empty"));
  const stage = node("div.clinic", {}, element);
  const planted = node("p.clinic-planted", {}, stage);
  const drawTable = evidenceTable(stage);
  const reading = node("p.verdict", { role: "status" }, stage);
  const drawStrip = strip(stage);
  /** @type {Test[]} */
  let tests = []; // the evidence so far: Python sends the newest row
  /** @type {string | null} */
  let newest = null;

  return {
    update(value) {
      if (!value?.test) tests = [];
      else if (value.id !== newest) tests = [...tests, value.test].slice(-KEPT_TESTS);
      newest = value?.id ?? null;
      empty.hidden = tests.length > 0;
      stage.hidden = !tests.length;
      drawTable(tests, value?.last?.rounding ?? 0);
      if (!tests.length) return;
      say(planted, (value.planted ?? []).map((/** @type {any} */ told) => words.say(told)).join(" "));
      planted.hidden = !value.planted;
      say(
        reading,
        tests
          .at(-1)
          ?.reading.map((told) => words.say(told))
          .join(" ") ?? "",
      );
      drawStrip(value.last);
    },
  };
}

/** The texts of a row. @param {Test} test @returns {string[]} in the order of the columns */
export function cellsOf(test) {
  return [
    words.say(test.name),
    test.equal || test.first_difference === null
      ? words.say("cache_on_off.clinic.all_equal")
      : words.say("cache_on_off.clinic.diverge_at", { token: test.first_difference + 1 }),
    small(test.first_gap),
    small(test.largest_gap),
    words.say("cache_on_off.clinic.fed", { fed: test.fed, prompt: test.prompt_length }),
    words.say(`cache_on_off.clinic.numbers.${test.same_numbers ? "same" : "different"}`),
  ];
}

/** What is as it should be is good, what is not is bad. @param {Test} test @param {number} rounding @returns {string[]} */
function looksOf({ equal, first_gap, largest_gap, same_numbers }, rounding) {
  const judged = (/** @type {boolean} */ good) => (good ? "is-good" : "is-bad");
  const numbers = same_numbers ? "" : "is-bad";
  return ["", judged(equal), judged(first_gap <= rounding), judged(largest_gap <= rounding), "", numbers];
}

/** @param {Element} stage @returns {(tests: Test[], rounding: number) => void} */
function evidenceTable(stage) {
  const holder = scroller(stage, words.say("cache_on_off.clinic.evidence"));
  const table = node("table.compare-table.clinic-table", {}, holder);
  const head = node("tr", {}, node("thead", {}, table));
  for (const key of COLUMNS) node("th", { scope: "col" }, head, words.say(`cache_on_off.clinic.column.${key}`));
  const body = node("tbody", {}, table);
  return (tests, rounding) => {
    const lines = pool(body, tests.length, () => {
      const line = node("tr");
      node("th", { scope: "row" }, line);
      for (const _ of COLUMNS.slice(1)) node("td", {}, line);
      return line;
    });
    for (const [index, test] of tests.entries()) {
      const looks = looksOf(test, rounding);
      for (const [column, text] of cellsOf(test).entries()) {
        const cell = lines[index].children[column];
        say(cell, text);
        cell.className = looks[column];
      }
      lines[index].classList.toggle("is-last", index === tests.length - 1);
    }
  };
}

/** @param {Element} stage @param {string} name */
const scroller = (stage, name) => node("div.clinic-scroll", { tabindex: "0", "aria-label": name }, stage);

/** @param {Element} stage @returns {(last: Strip) => void} */
function strip(stage) {
  const holder = node("div.clinic-strip", {}, scroller(stage, words.say("cache_on_off.clinic.strip")));
  const line = (/** @type {string} */ kind, /** @type {string} */ title) => {
    const made = node(/** @type {any} */ (`div.clinic-line${kind}`), {}, holder);
    node("span.clinic-side", {}, made, title);
    return made;
  };
  const tokens = SIDES.map((side) =>
    node("div.clinic-tokens", {}, line(`.is-${side}`, words.say(`cache_on_off.comparison.column.${side}`))),
  );
  const picture = svg("svg", { height: HEIGHT, role: "img" }, line("", words.say("cache_on_off.clinic.gaps")));
  const drawGaps = gapsPicture(picture);
  return (last) => {
    const count = Math.max(last.on.length, last.off.length);
    holder.style.setProperty("--columns", String(count));
    for (const [place, side] of SIDES.entries()) drawTokens(tokens[place], last[side], last, count);
    drawGaps(last, count * COLUMN);
  };
}

/** @param {Element} holder @param {string[]} labels @param {Strip} last @param {number} count */
function drawTokens(holder, labels, last, count) {
  const chips = pool(holder, count, () => node("span.token.clinic-token"));
  for (let index = 0; index < count; index += 1) {
    say(chips[index], labels[index] ?? "–");
    set(chips[index], { title: labels[index] ?? words.say("cache_on_off.clinic.no_token") });
    chips[index].dataset.pair = last.on[index] === last.off[index] ? "equal" : "other";
    chips[index].classList.toggle("is-different", index === last.first_difference);
  }
}

/** @param {SVGSVGElement} picture @returns {(last: Strip, width: number) => void} */
function gapsPicture(picture) {
  const y = logScale([LOWEST, HIGHEST], [HEIGHT - 18, 8]);
  const grid = svg("g", {}, picture);
  const bars = svg("g", {}, picture);
  const limit = svg("line.clinic-limit", {}, picture);
  const marks = pool(grid, MARKS.length, (place) =>
    svg("line.grid-line", { x1: 0, y1: y(MARKS[place]), y2: y(MARKS[place]) }),
  );
  return ({ gaps, rounding }, width) => {
    set(picture, { width, "aria-label": words.say("cache_on_off.clinic.picture", { steps: gaps.length }) });
    for (const mark of marks) set(mark, { x2: width });
    const drawn = pool(bars, gaps.length, () => {
      const bar = svg("g");
      svg("rect.clinic-bar", {}, bar);
      svg("text.clinic-gap", { "text-anchor": "middle" }, bar);
      return bar;
    });
    for (const [index, gap] of gaps.entries()) {
      const [bar, word] = drawn[index].children;
      const top = y(Math.max(LOWEST, Math.min(HIGHEST, gap)));
      const place = { x: index * COLUMN + 6, width: COLUMN - 12, y: top - 2, height: Math.max(2, y(LOWEST) - top) };
      set(bar, place);
      bar.classList.toggle("is-bad", gap > rounding);
      set(word, { x: index * COLUMN + COLUMN / 2, y: HEIGHT - 2 });
      say(word, small(gap));
    }
    set(limit, { x1: 0, x2: width, y1: y(rounding), y2: y(rounding) });
  };
}
