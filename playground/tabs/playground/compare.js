// One answer twice: with the cache and without. The tokens are the same; the work is not.

import { drawRows, linearScale, pointsOf } from "../../page/js/axis.js";
import { follower, isUnderWay, jobWords } from "../../page/js/jobs.js";
import { milliseconds } from "../../page/js/numbers.js";
import { node, say, set, svg } from "../../page/js/svg.js";

const HEIGHT = 112;
const EDGE = { left: 58, right: 12, top: 12, bottom: 26 };

export function mount(element, api) {
  const empty = node("p.empty-note", {}, element, "Press the button: both runs start from the same prompt and seed.");
  const about = node("p.compare-about", {}, element);
  const verdict = node("p.verdict", {}, element);
  const table = node("table.compare-table", {}, element);
  const cells = makeTable(table);
  const picture = svg(
    "svg",
    { height: HEIGHT, role: "img", "aria-label": "Time of each step, cache on and off" },
    element,
  );
  const grid = svg("g", {}, picture);
  const lines = { off: svg("polyline.time-off", {}, picture), on: svg("polyline.time-on", {}, picture) };
  const legend = { y: HEIGHT - 3 };
  svg("text.axis", { x: 0, ...legend }, picture, "ms per step:");
  svg("text.time-words-on", { x: 110, ...legend }, picture, "— cache on");
  svg("text.time-words-off", { x: 225, ...legend }, picture, "- - cache off");
  const note = node("p.note", {}, element);
  let value = null;
  let job = null;
  const jobs = follower({
    buttons: ["#compare"],
    tell: (told) => {
      job = told;
    },
  });

  function draw() {
    const waits = isUnderWay(job) || job?.state === "failed" || job?.state === "stopped";
    const ready = Boolean(value?.sides) && !waits;
    for (const part of [about, verdict, table, note]) part.hidden = !ready;
    picture.style.display = ready ? "" : "none";
    empty.hidden = ready;
    say(
      empty,
      jobWords(job, "Running both sides …") || "Press the button: both runs start from the same prompt and seed.",
    );
    if (!ready) return;
    const { sides, expected, equal } = value;
    say(about, `${value.model}: ${value.prompt}`);
    say(
      verdict,
      equal
        ? `✓ The same ${value.new_tokens} tokens. Largest difference of a logit: ${value.largest_gap.toExponential(1)}.`
        : `The tokens part at step ${value.first_difference}: largest difference of a logit ${value.largest_gap.toExponential(1)}.`,
    );
    verdict.classList.toggle("is-good", equal);
    for (const side of ["on", "off"]) {
      say(cells.fed[side], sides[side].fed.toLocaleString("en"));
      say(cells.first[side], milliseconds(sides[side].first_seconds));
      say(cells.later[side], sides[side].later_seconds === null ? "–" : milliseconds(sides[side].later_seconds));
      say(cells.total[side], milliseconds(sides[side].total_seconds));
    }
    say(cells.fed.ratio, `${value.token_ratio.toFixed(1)} ×`);
    say(cells.total.ratio, `${value.time_ratio.toFixed(1)} ×`);
    say(cells.first.ratio, ratio(sides.off.first_seconds, sides.on.first_seconds));
    say(cells.later.ratio, ratio(sides.off.later_seconds, sides.on.later_seconds));
    const counted = sides.on.fed === expected.on && sides.off.fed === expected.off;
    const count = (fed) => fed.toLocaleString("en");
    say(
      note,
      `Tokens fed: P + (N − 1) = ${count(expected.on)} and P·N + N(N − 1)/2 = ${count(expected.off)} ` +
        `for P = ${value.prompt_length}, N = ${value.new_tokens}${counted ? ", as counted" : "; the count differs!"}. ` +
        `Medians of ${value.repeats} runs in turn on ${value.machine}${value.noisy ? "; noisy: the repeats disagree" : ""}.`,
    );
    drawTimes();
  }

  function drawTimes() {
    const width = api.width;
    const { on, off } = value.sides;
    const steps = Math.max(on.seconds.length, off.seconds.length, 2);
    const most = 1000 * Math.max(...on.seconds, ...off.seconds);
    const x = linearScale([0, steps - 1], [EDGE.left, width - EDGE.right]);
    const y = linearScale([0, most], [HEIGHT - EDGE.bottom, EDGE.top]);
    set(picture, { width });
    const word = (mark) => mark.toFixed(mark < 10 ? 1 : 0);
    drawRows(grid, [0, most / 2, most], { y, left: EDGE.left, right: width - EDGE.right, word });
    for (const side of ["on", "off"]) {
      const times = value.sides[side].seconds.map((seconds) => 1000 * seconds);
      set(lines[side], { points: pointsOf(times, x, y) });
    }
  }

  return {
    update(given) {
      if (!jobs.hear(given)) return;
      value = given;
      draw();
    },
    reads: [],
    draw,
  };
}

function ratio(off, on) {
  return off && on ? `${(off / on).toFixed(1)} ×` : "–";
}

function makeTable(table) {
  const head = node("tr", {}, node("thead", {}, table));
  for (const text of ["", "cache on", "cache off", "ratio"]) node("th", { scope: "col" }, head, text);
  const body = node("tbody", {}, table);
  const cells = {};
  for (const [key, text] of [
    ["fed", "tokens fed"],
    ["first", "first token"],
    ["later", "each later token"],
    ["total", "total"],
  ]) {
    const row = node("tr", {}, body);
    node("th", { scope: "row" }, row, text);
    cells[key] = { on: node("td.is-on", {}, row), off: node("td.is-off", {}, row), ratio: node("td", {}, row) };
  }
  return cells;
}
