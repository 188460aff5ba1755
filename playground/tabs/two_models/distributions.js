// The next token by both models, bars to the left and to the right of the tokens. The sliders read both again.

import { about, percent } from "../../page/js/numbers.js";
import { countTold, rereadStep } from "../../page/js/reread.js";
import { node, pool, say, sayToken } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { rowsOf } from "./pair.js";

/**
 * @typedef {import("./pair.js").Row} Row
 * @typedef {import("./pair.js").Bar} Bar
 * @typedef {import("./pair.js").Side} Side
 * @typedef {import("../../page/js/types.js").Pair} Pair
 */

const CONTEXT = 32; // letters of the text so far in the title

/** @param {HTMLElement} element @returns {import("../../page/js/types.js").Panel} */
export function mount(element) {
  const title = node("h2.card-title", {}, element);
  const heads = node("div.two-heads", {}, element);
  const sides = [node("p", {}, heads), node("p", {}, heads)];
  const rows = node("div.two-bars", { translate: "no" }, element);
  const none = node("p.note", {}, element, words.say("two_models.bars.none"));
  node("p.note", {}, element, words.say("two_models.bars.legend"));

  return {
    reads: ["pair", "pairStep", "params"],
    draw({ pair, pairStep: step, params }) {
      element.classList.toggle("is-empty", !pair || !params);
      if (!pair || !params) return;
      const place = pair.places[step];
      const left = { run: pair.left, now: rereadStep(pair.left, params, step) };
      const right = place === null ? null : { run: pair.reading, now: rereadStep(pair.reading, params, place) };
      const text = contextOf(pair.left.pieces, step);
      say(title, text ? words.say("two_models.bars.title", { text }) : words.say("two_models.bars.title_first"));
      [left, right].forEach((side, index) => {
        say(sides[index], headOf(pair.titles[index], side));
      });
      none.hidden = right !== null;
      drawRows(rows, rowsOf(left, right));
    },
  };
}

/** The end of the text so far. @param {string[]} pieces @param {number} step */
function contextOf(pieces, step) {
  const text = pieces.slice(0, step).join("").trim();
  return text.length <= CONTEXT ? text : `…${text.slice(-CONTEXT)}`;
}

/** @param {words.Told} model @param {Side | null} side */
function headOf(model, side) {
  if (!side) return words.text(model);
  const { entropy, estimated } = side.now;
  const facts = { model, count: countTold(side.now), nats: about(entropy, estimated.entropy) };
  return words.say("two_models.bars.side", facts);
}

function makeRow() {
  const row = node("div.two-row-of-bars");
  for (const kind of ["left", "label", "right"]) {
    if (kind === "label") node("span.bar-label", {}, row);
    else {
      const lane = node(/** @type {any} */ (`span.two-lane.is-${kind}`), {}, row);
      for (const part of ["pale", "solid", "number"]) node(/** @type {any} */ (`span.bar-${part}`), {}, lane);
    }
  }
  return row;
}

/** @param {HTMLElement} holder @param {Row[]} rows */
function drawRows(holder, rows) {
  const lines = pool(holder, rows.length, makeRow);
  rows.forEach(({ label, chosen, bars }, index) => {
    const [left, name, right] = lines[index].children;
    lines[index].classList.toggle("is-chosen", chosen);
    lines[index].classList.toggle("is-rest", label === null);
    sayToken(name, label ?? words.say("two_models.bars.others"));
    drawBar(/** @type {HTMLElement} */ (left), bars[0], "right");
    drawBar(/** @type {HTMLElement} */ (right), bars[1], "left");
  });
}

/** @param {HTMLElement} lane @param {Bar | null} bar @param {"left" | "right"} from  the edge at which it begins */
function drawBar(lane, bar, from) {
  const [pale, solid, number] = /** @type {HTMLCollectionOf<HTMLElement>} */ (lane.children);
  lane.classList.toggle("is-cut", !bar?.kept);
  lane.classList.toggle("is-sampled", Boolean(bar?.sampled));
  pale.style.transform = `scaleX(${bar?.model ?? 0})`;
  solid.style.transform = `scaleX(${bar?.prob ?? 0})`;
  number.style[from] = `${100 * Math.max(bar?.model ?? 0, bar?.prob ?? 0)}%`;
  say(number, bar ? percent(about(bar.kept ? bar.prob : bar.model, bar.isEstimate)) : "");
}
