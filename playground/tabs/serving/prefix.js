// Prompts that begin alike: which blocks the cache already has, for any block size; and thirty answers to one prompt.

import { drawColumns, linearScale, stepMarks } from "../../page/js/axis.js";
import { asker } from "../../page/js/jobs.js";
import { count, percent } from "../../page/js/numbers.js";
import { node, pool, say, set, svg } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { choices } from "./choices.js";
import { barRows, keyNumbers } from "./rows.js";

/**
 * @typedef {object} Given  of prefix_values
 * @property {Record<string, number[][]>} prompts  token ids of the requests, by order
 * @property {string[]} questions
 * @property {number} bytes_a_token
 * @property {import("../../page/js/words.js").Told} measured
 * @property {{ prompt: number, tokens: number[] }} [answers]  tokens fed
 */

const ROW = 26;
const EDGE = { left: 330, right: 16, top: 4, bottom: 28 };
const REST_MS = 500; // before the model is asked again
const MOST_BLOCK = 128;

/** How many first tokens of each prompt lie in whole blocks that an earlier one has filled; the last token never does.
 * @param {number[][]} prompts @param {number} block */
export function foundTokens(prompts, block) {
  const filled = new Set();
  return prompts.map((prompt) => {
    const keys = Array.from({ length: Math.floor(prompt.length / block) }, (_, place) =>
      prompt.slice(0, (place + 1) * block).join(),
    );
    let hits = 0;
    while ((hits + 1) * block < prompt.length && filled.has(keys[hits])) hits++;
    for (const key of keys) filled.add(key);
    return hits * block;
  });
}

/** Blocks that all prompts together need where found ones are shared. @param {number[][]} prompts @param {number} block */
export function newBlocks(prompts, block) {
  const found = foundTokens(prompts, block);
  return sum(prompts.map((prompt, place) => Math.ceil(prompt.length / block) - found[place] / block));
}

/** What n answers to one prompt need, each with the prompt for itself, and with it shared; `tokens`: fed of each answer.
 * @param {number} prompt @param {number[]} tokens @param {number} block */
export function answersRoom(prompt, tokens, block) {
  const blocks = tokens.map((each) => Math.ceil((prompt + each) / block));
  const full = Math.floor(prompt / block);
  return {
    alone_tokens: sum(tokens.map((each) => prompt + each)),
    shared_tokens: prompt + sum(tokens),
    alone_blocks: sum(blocks),
    shared_blocks: full + sum(blocks.map((each) => each - full)),
  };
}

/** @param {number[]} values */
const sum = (values) => values.reduce((total, value) => total + value, 0);

/** Tokens with which all prompts begin. @param {number[][]} prompts */
export function commonLength([first, ...others]) {
  const differs = first.findIndex((token, place) => others.some((other) => other[place] !== token));
  return differs < 0 ? first.length : differs;
}

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const bar = node("div.serving-choices", {}, element);
  const label = (/** @type {string} */ value) => words.say(`serving.prefix.order.${value}`);
  const orders = { id: "prefix-order", name: "serving.prefix.order_label", options: api.props.value.orders, label };
  const chosen = choices(bar, [orders], changed);
  const size = blockSize(bar, changed);
  const status = node("p.note", { role: "status" }, bar);
  const view = build(element);
  const asking = asker(api, () => {});
  /** @type {Given | null} */
  let given = null;
  /** @type {Given["answers"] | null} */
  let answers = null;
  let timer = 0;

  function changed() {
    draw();
    clearTimeout(timer);
    timer = window.setTimeout(ask, REST_MS);
  }

  async function ask() {
    const model = api.store.get().bar?.model;
    if (!model) return;
    if (model !== asking.asked) answers = null;
    view.measured.classList.add("is-stale");
    const question = { model, order: chosen.get()["prefix-order"], block: size.get(), answers: !answers };
    const reply = await asking.ask(question, model);
    if (reply.stopped && !reply.problem) return; // a newer question is on its way
    say(status, reply.problem ?? "");
    view.measured.classList.toggle("is-stale", Boolean(reply.problem));
  }

  function draw() {
    if (!given || !api.width) return;
    const [order, block] = [chosen.get()["prefix-order"], size.get()];
    drawPrompts(view, given, { prompts: given.prompts[order], block, width: api.width });
    if (answers) drawAnswers(view.answers, answers, { block, each: given.bytes_a_token });
  }

  return {
    reads: ["bar"],
    update(value) {
      if (value?.prompts) {
        given = /** @type {Given} */ (value);
        answers = given.answers ?? answers;
        say(view.measured, words.text(given.measured));
        draw();
      }
      asking.take(value);
    },
    draw({ bar: now }) {
      draw();
      if (now && now.model !== asking.asked) ask();
    },
  };
}

/** @param {Element} parent @param {() => void} tell */
function blockSize(parent, tell) {
  const holder = node("div.control.serving-choice.prefix-size", {}, parent);
  const name = words.say("serving.prefix.block");
  node("label", { for: "prefix-block" }, holder, name);
  const box = node("input.number", { id: "prefix-block", type: "text", inputmode: "numeric" }, holder);
  const spoken = words.say("serving.control.slider", { name });
  const range = node("input", { type: "range", min: 1, max: MOST_BLOCK, step: 1, "aria-label": spoken }, holder);
  let block = 16;

  function show() {
    range.value = String(block);
    range.style.setProperty("--filled", `${(100 * (block - 1)) / (MOST_BLOCK - 1)}%`);
  }
  box.addEventListener("input", () => {
    const value = Number(box.value);
    if (!Number.isInteger(value) || value < 1 || value > MOST_BLOCK || value === block) return;
    block = value;
    show();
    tell();
  });
  box.addEventListener("change", () => {
    box.value = String(block);
  });
  range.addEventListener("input", () => {
    box.value = range.value;
    box.dispatchEvent(new Event("input", { bubbles: true })); // the address follows
  });
  box.value = String(block);
  show();
  return { get: () => block };
}

/** @param {Element} element */
function build(element) {
  const numbers = node("div.key-numbers", {}, element);
  const picture = svg("svg", {}, node("figure.schedule", {}, element));
  const rows = svg("g", {}, picture);
  const columns = svg("g", {}, picture);
  const common = svg("line.prefix-common", {}, picture);
  const legend = node("div.serving-legend", {}, element);
  for (const part of ["found", "computed", "rest", "common"]) {
    const entry = node("span.serving-entry", {}, legend);
    node("span.serving-key", { "data-part": part }, entry);
    node("span", {}, entry, words.say(`serving.prefix.${part}`));
  }
  const measured = node("p.note.prefix-measured.serving-small-print", {}, element);
  const below = node("section.serving-small-print", {}, element);
  node("h3.serving-heading", {}, below, words.say("serving.prefix.answers.title"));
  const answers = node("div.is-wide", {}, below);
  return { numbers, picture, rows, columns, common, measured, answers };
}

/** @param {ReturnType<typeof build>} view @param {Given} given @param {{ prompts: number[][], block: number, width: number }} shown */
function drawPrompts(view, given, { prompts, block, width }) {
  const found = foundTokens(prompts, block);
  const all = sum(prompts.map((prompt) => prompt.length));
  const [blocks, alone] = [newBlocks(prompts, block), sum(prompts.map((prompt) => Math.ceil(prompt.length / block)))];
  const facts = {
    found: sum(found),
    all,
    computed: all - sum(found),
    blocks,
    alone,
    bytes: blocks * block * given.bytes_a_token,
  };
  drawNumbers(view.numbers, facts);
  const left = width < 700 ? 20 : EDGE.left;
  const longest = Math.max(...prompts.map((prompt) => Math.ceil(prompt.length / block) * block));
  const x = linearScale([0, longest], [left, width - EDGE.right]);
  const bottom = EDGE.top + ROW * prompts.length;
  set(view.picture, {
    role: "img",
    width,
    height: bottom + EDGE.bottom,
    "aria-label": words.say("serving.prefix.spoken", facts),
  });
  const lines = pool(view.rows, prompts.length, () => {
    const line = svg("g");
    svg("text.axis", { "text-anchor": "end" }, line);
    svg("g", {}, line);
    return line;
  });
  prompts.forEach((prompt, place) => {
    const top = EDGE.top + place * ROW;
    const [name, cells] = lines[place].children;
    set(name, { x: left - 10, y: top + ROW - 8 });
    say(name, left === EDGE.left ? shortened(given.questions[place]) : "");
    drawBlocks(cells, { length: prompt.length, found: found[place], block, top, x });
  });
  const same = x(commonLength(prompts));
  set(view.common, { x1: same, x2: same, y1: 0, y2: bottom });
  drawColumns(view.columns, stepMarks(longest, 8), { x, y: bottom + 20, word: (step) => count(step) });
}

/** @param {string} text */
const shortened = (text) => (text.length > 34 ? `${text.slice(0, 33)}…` : text);

/** @param {Element} cells @param {{ length: number, found: number, block: number, top: number, x: (token: number) => number }} row */
function drawBlocks(cells, { length, found, block, top, x }) {
  const number = Math.ceil(length / block);
  const gap = Math.min(2, (x(block) - x(0)) / 4);
  const rects = pool(cells, 2 * number, () => svg("rect", {}));
  for (let place = 0; place < number; place++) {
    const [start, end] = [place * block, (place + 1) * block];
    const filled = Math.min(end, length);
    const place_ = { y: top + 2, height: ROW - 5 };
    const isLast = end > length;
    set(rects[2 * place], {
      class: start < found ? "prefix-found" : "prefix-computed",
      x: x(start) + gap / 2,
      width: Math.max(0.5, x(filled) - x(start) - (isLast ? 0 : gap)),
      ...place_,
    });
    set(rects[2 * place + 1], {
      class: "prefix-rest",
      x: x(filled),
      width: isLast ? Math.max(0, x(end) - x(filled) - gap) : 0,
      ...place_,
    });
  }
}

/** @param {Element} holder @param {{ found: number, all: number, computed: number, blocks: number, alone: number, bytes: number }} facts */
function drawNumbers(holder, facts) {
  keyNumbers(holder, [
    [percent(facts.found / facts.all), words.say("serving.prefix.number.share")],
    [count(facts.computed), words.say("serving.prefix.number.tokens", facts)],
    [count(facts.blocks), words.say("serving.prefix.number.blocks", facts)],
  ]);
}

/** Two bars: the prompt thirty times, and once. @param {Element} holder @param {{ prompt: number, tokens: number[] }} answers @param {{ block: number, each: number }} sizes */
function drawAnswers(holder, { prompt, tokens }, { block, each }) {
  const room = answersRoom(prompt, tokens, block);
  const ways = /** @type {const} */ ([
    ["alone", "ghost", room.alone_blocks, room.alone_tokens],
    ["shared", "kept", room.shared_blocks, room.shared_tokens],
  ]);
  const rows = ways.map(([name, kind, blocks, computed]) => ({
    label: words.say(`serving.prefix.answers.${name}`, { count: tokens.length, prompt }),
    text: words.say("serving.prefix.answers.text", { blocks, bytes: blocks * block * each, computed }),
    bars: [{ kind, share: blocks / room.alone_blocks }],
  }));
  barRows(holder, rows);
}
