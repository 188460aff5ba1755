// Prompts in blocks of a few tokens: which blocks are found again, which are new, and which places stay empty.

import { asker, jobWords } from "../../page/js/jobs.js";
import { node, pool, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/**
 * @typedef {{ num_tokens: number, num_hits: number, num_fed: number, num_blocks: number, num_empty: number }} Served
 * @typedef {{ block_size: number, served: Served[], bytes_shared: number, bytes_alone: number, answers_shared: number,
 *   answers_alone: number, copied_bytes: number }} Size
 * @typedef {{ requests: { title: words.Told }[], answers: number, answer_tokens: number, sizes: Size[] }} Blocks
 */

const FIRST = 16; // tokens in a block, as servers have them

/** Each block of a prompt, with the part of it that is filled. @param {Served} served @param {number} size */
export function blocksOf({ num_blocks: count, num_hits: hits, num_empty: empty }, size) {
  return Array.from({ length: count }, (_, index) => ({
    isHit: index < hits,
    filled: index === count - 1 ? (size - empty) / size : 1,
  }));
}

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const view = build(element);
  /** @type {Blocks | null} */
  let value = null;
  const question = asker(api, (job) => say(view.status, jobWords(job)));

  async function ask() {
    const reply = await question.ask({});
    if (reply.stopped) return;
    say(view.status, reply.problem ?? "");
    if (!reply.sizes) return;
    value = /** @type {Blocks} */ (reply);
    view.range.value = String(value.sizes.findIndex((each) => each.block_size === FIRST));
    draw();
  }

  function draw() {
    element.classList.toggle("is-empty", !value);
    if (value) drawBlocks(view, value);
  }

  view.range.addEventListener("input", draw);
  return {
    update: question.take,
    reads: [],
    draw() {
      draw();
      if (question.asked === null) ask();
    },
  };
}

/** @param {HTMLElement} element */
function build(element) {
  const status = node("p.note", { role: "status" }, element);
  const steps = node("label.kinds-steps", {}, element);
  const caption = node("span.kinds-caption", {}, steps);
  const range = node("input.steps-range", { id: "kinds-block-size", type: "range", min: 0, step: 1 }, steps);
  const rows = node("div.kinds-requests", {}, element);
  const numbers = node("div.key-numbers", {}, element);
  const note = node("p.note", {}, element);
  return { status, caption, range, rows, numbers, note };
}

/** @param {ReturnType<typeof build>} view @param {Blocks} value */
function drawBlocks(view, value) {
  const last = value.sizes.length - 1;
  set(view.range, { max: last });
  const now = value.sizes[Number(view.range.value)];
  view.range.style.setProperty("--filled", `${(100 * Number(view.range.value)) / last}%`);
  say(view.caption, words.say("kinds_of_cache.blocks.size", { size: now.block_size }));
  const rows = pool(view.rows, value.requests.length, makeRow);
  const longest = Math.max(...now.served.map(({ num_blocks: count }) => count)) * now.block_size;
  value.requests.forEach(({ title }, index) => {
    drawRequest(rows[index], words.text(title), now.served[index], now.block_size / longest, now.block_size);
  });
  const facts = { answers: value.answers, tokens: value.answer_tokens };
  const numbers = [
    ["prompts", now.bytes_shared, now.bytes_alone],
    ["answers", now.answers_shared, now.answers_alone],
  ];
  const blocks = pool(view.numbers, numbers.length, () => {
    const block = node("div.key-block");
    node("div.key-large", { "data-kind": "kept" }, block);
    node("div.note", {}, block);
    return block;
  });
  for (const [index, [key, shared, alone]] of numbers.entries()) {
    say(blocks[index].children[0], words.say("kinds_of_cache.number.bytes", { bytes: shared }));
    say(blocks[index].children[1], words.say(`kinds_of_cache.together.${key}`, { alone, ...facts }));
  }
  say(view.note, words.say("kinds_of_cache.blocks.note", { copied: now.copied_bytes, ...facts }));
}

function makeRow() {
  const row = node("div.kinds-request");
  node("h3", {}, row);
  node("p", {}, row);
  node("div.kinds-blocks", { "aria-hidden": "true" }, row);
  return row;
}

/** @param {Element} row @param {string} title @param {Served} served @param {number} share  of the width, of a block @param {number} size */
function drawRequest(row, title, served, share, size) {
  say(row.children[0], title);
  const facts = {
    hits: served.num_hits,
    found: served.num_hits * size,
    fed: served.num_fed,
    tokens: served.num_tokens,
  };
  say(row.children[1], words.say("kinds_of_cache.blocks.served", { ...facts, empty: served.num_empty }));
  const blocks = blocksOf(served, size);
  const boxes = pool(row.children[2], blocks.length, () => node("span.kinds-block"));
  blocks.forEach(({ isHit, filled }, index) => {
    const box = /** @type {HTMLElement} */ (boxes[index]);
    box.style.width = `${100 * share}%`;
    box.style.setProperty("--filled", `${100 * filled}%`);
    set(box, { "data-hit": isHit ? "yes" : "no" });
  });
}
