// The call new_K, new_V = cache.update(k, v, layer) with the shapes it had, layer by layer and step by step, and the
// mask of the batch that gets a 1 with every token.

import { asker, jobWords } from "../../page/js/jobs.js";
import { node, pool, say, sayToken, set } from "../../page/js/svg.js";
import { cellOf, fill } from "../../page/js/table.js";
import * as words from "../../page/js/words.js";

const MOST_ONES = 40; // of the mask that are written out

/**
 * @typedef {{ given: number[], returned: number[], theirs: number | null, num_stored: number, num_bytes: number,
 *   copied_bytes: number, same_buffer: boolean }} Call
 * @typedef {{ name: string, ours: string, theirs: string | null, text: words.Told, steps: Call[][] }} Kind
 * @typedef {{ prompt: string, prompt_length: number, labels: string[], kinds: Kind[] }} Calls
 */

/** (1, 2, 23, 32) @param {number[]} shape */
export const shapeOf = (shape) => `(${shape.join(", ")})`;

/** What the class of transformers returns, which differs in one number. @param {Call} call */
export const shapeOfTheirs = ({ returned, theirs }) =>
  theirs === null ? "–" : shapeOf([returned[0], returned[1], theirs, returned[3]]);

/** The last ones of a mask of so many tokens, and how many stand before them. @param {number} length @param {number} most */
export function maskOnes(length, most = MOST_ONES) {
  const shown = Math.min(length, most);
  return { hidden: length - shown, shown };
}

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const view = build(element);
  /** @type {Calls | null} */
  let value = null;
  const question = asker(api, (job) => say(view.status, jobWords(job)));

  /** @param {import("../../page/js/types.js").State} state */
  async function ask({ bar, params }) {
    const about = JSON.stringify([bar, params?.system]);
    if (!bar || !params || about === question.asked) return;
    const reply = await question.ask({}, about);
    if (reply.stopped) return;
    say(view.status, reply.problem ?? "");
    if (!reply.kinds) return;
    value = /** @type {Calls} */ (reply);
    draw();
  }

  function draw() {
    element.classList.toggle("is-empty", !value);
    if (value) drawCalls(view, value);
  }

  view.range.addEventListener("input", draw);
  view.kinds.addEventListener("change", draw);
  return {
    update: question.take,
    reads: ["bar", "params"],
    draw(state) {
      draw();
      ask(state);
    },
  };
}

/** @param {HTMLElement} element */
function build(element) {
  const status = node("p.note", { role: "status" }, element);
  const line = node("div.kinds-choices", {}, element);
  const name = words.say("kinds_of_cache.update.choice");
  const kinds = node("select.kinds-select", { id: "kinds-update", "aria-label": name }, line);
  const steps = node("div.kinds-steps", {}, line);
  const slider = words.say("kinds_of_cache.update.step");
  const range = node("input.steps-range", { type: "range", min: 0, step: 1, value: 1, "aria-label": slider }, steps);
  const caption = node("span.kinds-caption", {}, steps);
  const code = node("p.kinds-call", {}, element, words.say("kinds_of_cache.update.call"));
  const text = node("p.kinds-says", {}, element);
  const table = node("table.fact-table.kinds-calls", {}, node("div.table-holder", {}, element));
  const head = node("tr", {}, node("thead", {}, table));
  const body = node("tbody", {}, table);
  node("h3", {}, element, words.say("kinds_of_cache.update.mask_title"));
  const mask = node("div.kinds-mask", {}, element);
  const maskWords = node("p.note", {}, element);
  return { status, kinds, range, caption, code, text, head, body, mask, maskWords };
}

/** @param {ReturnType<typeof build>} view @param {Calls} value */
function drawCalls(view, value) {
  const options = pool(view.kinds, value.kinds.length, () => node("option"));
  for (const [index, { ours, theirs }] of value.kinds.entries()) {
    set(options[index], { value: index });
    const key = theirs ? "both" : "ours";
    say(options[index], words.say(`kinds_of_cache.update.named.${key}`, { ours, theirs: theirs ?? "" }));
  }
  const kind = value.kinds[Number(view.kinds.value) || 0];
  const last = kind.steps.length - 1;
  set(view.range, { max: last });
  const step = Math.min(Number(view.range.value), last);
  view.range.style.setProperty("--filled", `${(100 * step) / last}%`);
  const length = value.prompt_length + step;
  const token = value.labels[length - 1];
  say(view.caption, words.say(`kinds_of_cache.update.${step ? "at" : "prompt"}`, { step, last, token }));
  say(view.text, words.text(kind.text));
  drawTable(view, kind, kind.steps[step]);
  drawMask(view, length, value.labels);
}

/** @param {ReturnType<typeof build>} view @param {Kind} kind @param {Call[]} calls */
function drawTable(view, { theirs }, calls) {
  const facts = { theirs: theirs ?? words.say("kinds_of_cache.update.nobody") };
  const columns = ["layer", "given", "returned", "theirs", "stored", "bytes", "moved", "buffer"];
  const heads = columns.map((name) => words.say(`kinds_of_cache.column.${name}`, facts));
  fill(view.head, heads, () => node("th", { scope: "col" }));
  const lines = pool(view.body, calls.length, () => node("tr"));
  calls.forEach((call, layer) => {
    const cells = [
      words.say("kinds_of_cache.update.layer", { layer }),
      shapeOf(call.given),
      shapeOf(call.returned),
      shapeOfTheirs(call),
      call.num_stored,
      words.say("kinds_of_cache.number.bytes", { bytes: call.num_bytes }),
      words.say("kinds_of_cache.number.bytes", { bytes: call.copied_bytes }),
      words.say(`kinds_of_cache.buffer.${call.same_buffer ? "same" : "other"}`),
    ];
    fill(lines[layer], cells, cellOf);
  });
}

/** @param {ReturnType<typeof build>} view @param {number} length @param {string[]} labels */
function drawMask(view, length, labels) {
  const { hidden, shown } = maskOnes(length);
  const boxes = pool(view.mask, shown, () => {
    const box = node("span.kinds-one");
    node("b", {}, box, "1");
    node("span", {}, box);
    return box;
  });
  for (const [index, box] of [...boxes].entries()) {
    sayToken(box.children[1], labels[hidden + index]);
    box.classList.toggle("is-newest", index === shown - 1);
  }
  say(view.maskWords, words.say("kinds_of_cache.update.mask", { length, hidden }));
}
