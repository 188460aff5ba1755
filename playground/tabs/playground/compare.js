// One answer twice: with the cache and without. The tokens are the same; the work is not.

import { drawRows, linearScale, pointsOf } from "../../page/js/axis.js";
import * as comparison from "../../page/js/comparison.js";
import { follower, isUnderWay, jobWords } from "../../page/js/jobs.js";
import { decimals } from "../../page/js/numbers.js";
import { node, say, set, svg } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/** @typedef {import("../../page/js/types.js").ComparisonResult} ComparisonResult */

const HEIGHT = 112;
const EDGE = { left: 58, right: 12, top: 12, bottom: 26 };
const ROWS = ["fed", "first", "later", "total"];

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const empty = node("p.empty-note", { role: "status" }, element);
  const about = node("p.compare-about", {}, element);
  const verdict = node("p.verdict", {}, element);
  const table = comparison.comparisonTable(element, "");
  const times = timesPicture(element);
  const note = node("p.note", {}, element);
  /** @type {import("../../page/js/jobs.js").Job | null} */
  let job = null;
  /** @type {import("../../page/js/types.js").Comparison | null} what the job has brought */
  let made = null;
  const jobs = follower({
    buttons: ["#compare"],
    tell: (told) => {
      job = told;
      draw(api.store.get());
    },
  });

  /** @param {import("../../page/js/types.js").State} state */
  function draw({ comparison: value }) {
    const waits = isUnderWay(job) || job?.state === "failed" || job?.state === "stopped";
    const result = waits ? null : value?.result;
    for (const part of [about, verdict, table.table, note]) part.hidden = !result;
    times.picture.style.display = result ? "" : "none";
    empty.hidden = Boolean(result);
    say(empty, jobWords(job, words.say("cache_on_off.compare.running")) || words.say("cache_on_off.compare.empty"));
    if (!value || !result) return;
    say(about, `${value.model}: ${value.prompt}`);
    comparison.drawVerdict(verdict, result);
    table.draw(comparison.rows(result).filter(({ key }) => ROWS.includes(key)));
    const { repeats, machine } = result;
    const timed = words.say("cache_on_off.compare.timed", { repeats, machine });
    say(note, [comparison.counted(result), timed, comparison.noise(result)].join(" ").trim());
    if (api.width) times.draw(result, api.width);
  }

  return {
    update(given) {
      if (!jobs.hear(given)) return;
      if (given?.sides) made = given;
      if (job?.state === "done" && made?.result) api.store.set({ comparison: made });
      draw(api.store.get());
    },
    reads: ["comparison"],
    draw,
  };
}

/** Milliseconds of each step, both sides. @param {Element} parent */
function timesPicture(parent) {
  const attributes = { height: HEIGHT, role: "img", "aria-label": words.say("cache_on_off.compare.times") };
  const picture = svg("svg", attributes, parent);
  const grid = svg("g", {}, picture);
  const lines = { off: svg("polyline.time-off", {}, picture), on: svg("polyline.time-on", {}, picture) };
  const legend = { y: HEIGHT - 3 };
  svg("text.axis", { x: 0, ...legend }, picture, words.say("cache_on_off.compare.axis"));
  svg("text.time-words-on", { x: 110, ...legend }, picture, words.say("cache_on_off.compare.line_on"));
  svg("text.time-words-off", { x: 225, ...legend }, picture, words.say("cache_on_off.compare.line_off"));
  return {
    picture,
    /** @param {ComparisonResult} result @param {number} width */
    draw({ sides: { on, off } }, width) {
      const steps = Math.max(on.seconds.length, off.seconds.length, 2);
      const most = 1000 * Math.max(...on.seconds, ...off.seconds);
      const x = linearScale([0, steps - 1], [EDGE.left, width - EDGE.right]);
      const y = linearScale([0, most], [HEIGHT - EDGE.bottom, EDGE.top]);
      set(picture, { width });
      const word = (/** @type {number} */ mark) => decimals(mark, mark < 10 ? 1 : 0);
      drawRows(grid, [0, most / 2, most], { y, left: EDGE.left, right: width - EDGE.right, word });
      for (const [line, { seconds }] of /** @type {const} */ ([
        [lines.on, on],
        [lines.off, off],
      ])) {
        const points = pointsOf(
          seconds.map((each) => 1000 * each),
          x,
          y,
        );
        set(line, { points });
      }
    },
  };
}
