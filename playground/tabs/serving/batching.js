// Static against continuous batching: what both did on the model, on one axis of steps; and what padding sets aside.

import { drawColumns, linearScale, stepMarks } from "../../page/js/axis.js";
import { asker } from "../../page/js/jobs.js";
import { count, decimals, milliseconds, percent } from "../../page/js/numbers.js";
import { node, pool, say, set, svg } from "../../page/js/svg.js";
import { cellOf, fill } from "../../page/js/table.js";
import * as words from "../../page/js/words.js";
import { choices } from "./choices.js";
import { keyNumbers } from "./rows.js";

/**
 * One request: the steps of its first token, after its last, and when its slot was free again.
 * @typedef {{ prompt: number, tokens: number, slot: number, first: number, end: number, held: number, first_seconds: number, later_seconds: number | null }} Served
 */
/** @typedef {{ way: string, steps: number, passes: number, use: number, seconds: [number, number], served: Served[] }} Way */
/**
 * @typedef {object} Result
 * @property {number} slots
 * @property {number} repeats
 * @property {number} same  answers that are equal in both ways
 * @property {[number, number]} time_ratio  static over continuous, over the repeats
 * @property {Way[]} ways  static, continuous
 * @property {string} machine
 */

const ROW = 13;
const NARROW = 700; // pixels: both pictures side by side need more
const GAP = 28;
const NOISY = 1.5; // the largest ratio of the times over the smallest
const EDGE = { left: 40, right: 14, top: 4, bottom: 28 };

/** How many times more steps the static batch takes. @param {Way[]} ways */
export const stepRatio = ([fixed, continuous]) => fixed.steps / continuous.steps;

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const { workloads, slots } = api.props.value;
  const bar = node("div.serving-choices", {}, element);
  const start = node(
    "button.small-button",
    { type: "button", id: "batching-start" },
    null,
    words.say("serving.batching.start"),
  );
  const chosen = choices(
    bar,
    [
      {
        id: "batching-workload",
        name: "serving.batching.workload",
        options: workloads,
        label: (name) => words.say(`serving.workload.${name}`),
      },
      {
        id: "batching-slots",
        name: "serving.batching.slots",
        options: slots.map(String),
        value: "4",
        label: (value) => value,
      },
    ],
    ask,
  );
  bar.append(start);
  start.addEventListener("click", ask);
  const status = node("p.note", { role: "status" }, bar);
  const view = build(element);
  const asking = asker(api, (job) =>
    say(status, words.say(job.state === "queued" ? "serving.waiting" : "serving.running")),
  );
  /** @type {Result | null} */
  let result = null;

  async function ask() {
    const model = api.store.get().bar?.model;
    if (!model) return;
    const { "batching-workload": workload, "batching-slots": number } = chosen.get();
    element.classList.add("is-asking");
    const reply = await asking.ask({ model, workload, slots: Number(number) }, model);
    if (reply.stopped && !reply.problem) return; // a newer question is on its way
    element.classList.remove("is-asking");
    say(status, reply.problem ?? "");
  }

  function draw() {
    if (result && api.width) drawResult(view, result, api.width);
  }

  return {
    reads: ["bar"],
    update(given) {
      if (given?.ways) {
        result = given;
        draw();
      }
      asking.take(given);
    },
    draw({ bar: now }) {
      draw();
      if (now && now.model !== asking.asked) ask();
    },
  };
}

/** @param {Element} element */
function build(element) {
  const result = node("div.serving-result", {}, element);
  const numbers = node("div.key-numbers", {}, result);
  const pair = node("div.schedules", {}, result);
  const charts = ["static", "continuous"].map((way) => {
    const figure = node("figure.schedule", {}, pair);
    const head = node("figcaption.schedule-head", {}, figure);
    node("h3", {}, head, words.say(`serving.way.${way}`));
    const facts = node("span.note.serving-small-print", {}, head);
    const picture = svg("svg", {}, figure);
    return { facts, picture, rows: svg("g", {}, picture), columns: svg("g", {}, picture) };
  });
  const legend = node("div.serving-legend", {}, result);
  for (const part of ["waiting", "prefill", "decode", "idle"]) {
    const entry = node("span.serving-entry", {}, legend);
    node("span.serving-key", { "data-part": part }, entry);
    node("span", {}, entry, words.say(`serving.schedule.${part}`));
  }
  const conditions = node("p.note.serving-small-print", {}, result);
  const more = node("details.serving-more.serving-small-print", {}, result);
  node("summary", {}, more, words.say("serving.schedule.numbers"));
  const table = node("table.fact-table", {}, node("div.serving-scroll", { tabindex: 0 }, more));
  return { numbers, charts, conditions, table };
}

/** @param {ReturnType<typeof build>} view @param {Result} result @param {number} width */
function drawResult(view, result, width) {
  const { ways } = result;
  const each = width < NARROW ? width : (width - GAP) / 2;
  const longest = Math.max(...ways.map(({ steps }) => steps));
  keyNumbers(view.numbers, numbersOf(result));
  ways.forEach((way, place) => {
    drawSchedule(view.charts[place], way, { width: each, longest });
  });
  const facts = { machine: result.machine, repeats: result.repeats, same: result.same, count: ways[0].served.length };
  say(view.conditions, words.say("serving.schedule.conditions", facts));
  drawTable(view.table, ways);
}

/** The large numbers, each with its words. @param {Pick<Result, "ways" | "repeats" | "time_ratio">} result @returns {[string, string][]} */
export function numbersOf({ ways, repeats, time_ratio: [low, high] }) {
  const [fixed, continuous] = ways;
  const isOnce = repeats === 1;
  const time = isOnce ? "time_once" : high / low > NOISY ? "time_noisy" : "time";
  const isSame = fixed.steps === continuous.steps;
  const facts = { static: fixed.steps, continuous: continuous.steps };
  return [
    [`${decimals(stepRatio(ways), 1)} ×`, words.say(`serving.batching.${isSame ? "same_steps" : "steps"}`, facts)],
    [percent(continuous.use), words.say("serving.batching.use", { static: fixed.use })],
    [
      isOnce ? `${decimals(low, 1)} ×` : `${decimals(low, 1)}–${decimals(high, 1)} ×`,
      words.say(`serving.batching.${time}`),
    ],
  ];
}

/** @param {{ facts: Element, picture: Element, rows: Element, columns: Element }} chart @param {Way} way @param {{ width: number, longest: number }} size */
function drawSchedule({ facts, picture, rows, columns }, way, { width, longest }) {
  const bottom = EDGE.top + ROW * way.served.length;
  const x = linearScale([0, longest], [EDGE.left, width - EDGE.right]);
  set(picture, { width, height: bottom + EDGE.bottom });
  const told = { steps: way.steps, passes: way.passes, use: way.use, low: way.seconds[0], high: way.seconds[1] };
  say(facts, words.say("serving.schedule.facts", told));
  const spoken = words.say("serving.schedule.spoken", { ...told, way: words.say(`serving.way.${way.way}`) });
  set(picture, { role: "img", "aria-label": spoken });
  const lines = pool(rows, way.served.length, () => {
    const line = svg("g");
    for (const kind of ["waiting", "idle", "decode", "prefill"])
      svg(/** @type {any} */ (`rect.schedule-${kind}`), {}, line);
    svg("text.axis", { "text-anchor": "end" }, line);
    svg("title", {}, line);
    return line;
  });
  way.served.forEach((each, place) => {
    const top = EDGE.top + place * ROW;
    const [waiting, idle, decode, prefill, name, title] = lines[place].children;
    const bar = (/** @type {Element} */ rect, /** @type {number} */ from, /** @type {number} */ to, thin = false) =>
      set(rect, {
        x: x(from),
        width: Math.max(0, x(to) - x(from) - 0.5),
        y: top + (thin ? 5 : 1),
        height: thin ? 2 : ROW - 2,
      });
    bar(waiting, 0, each.first, true);
    bar(idle, each.end, each.held);
    bar(decode, each.first + 1, each.end);
    bar(prefill, each.first, each.first + 1);
    set(name, { x: EDGE.left - 8, y: top + ROW - 1 });
    say(name, place % 3 ? "" : count(place + 1));
    say(title, words.say("serving.schedule.request", { ...each, number: place + 1, idle: each.held - each.end }));
  });
  const marks = [...stepMarks(longest, 6), longest];
  if (marks.length > 2 && x(longest) - x(marks[marks.length - 2]) < 50) marks.splice(-2, 1);
  drawColumns(columns, marks, { x, y: bottom + 20, word: (step) => count(step) });
}

/** @param {Element} table @param {Way[]} ways */
function drawTable(table, ways) {
  const [fixed, continuous] = ways;
  const lines = pool(table, fixed.served.length + 1, () => node("tr"));
  const heads = ["request", "prompt", "answer", "first_static", "first_continuous", "later_static", "later_continuous"];
  fill(
    lines[0],
    heads.map((name) => words.say(`serving.schedule.column.${name}`)),
    () => node("th", { scope: "col" }),
  );
  const time = (/** @type {number | null} */ seconds) => (seconds === null ? "–" : milliseconds(seconds));
  fixed.served.forEach((each, place) => {
    const other = continuous.served[place];
    const cells = [
      place + 1,
      each.prompt,
      each.tokens,
      time(each.first_seconds),
      time(other.first_seconds),
      time(each.later_seconds),
      time(other.later_seconds),
    ];
    fill(lines[place + 1], cells, cellOf);
  });
}
