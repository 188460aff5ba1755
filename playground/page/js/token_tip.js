// The card beside a token under the pointer: id, bytes, logit, and the probability after each stage.

import { about, decimals, numberIn, small } from "./numbers.js";
import { isEstimate, logitOf } from "./reread.js";
import { node, pool, say } from "./svg.js";
import * as words from "./words.js";

/**
 * @typedef {import("./types.js").StepReread} StepReread
 * @typedef {import("./types.js").Run} Run
 */

/** @param {Element} element @param {() => string} invite  what a click would do, or nothing */
export function tipCard(element, invite) {
  const box = node("div.tip", { hidden: "", role: "status" }, element);
  const head = node("div.tip-head", {}, box);
  const name = node("b", {}, head);
  const facts = node("span.note", {}, head);
  const table = node("table", {}, box);
  const foot = node("p.note", {}, box);
  /** @type {number | null} */
  let shown = null; // token id

  /** @param {number} place @param {StepReread} now @param {Run} run */
  function fill(place, now, run) {
    const id = now.ranking[place];
    say(name, run.vocabulary[id]);
    const logit = logitOf(run, now.step, id);
    say(facts, words.say("page.tip.facts", { id, bytes: run.tokenBytes[id], logit, rank: place + 1 }));
    fillStages(table, place, now);
    say(foot, invite());
  }

  return {
    /** @param {HTMLElement} row @param {number} place @param {StepReread} now @param {Run} run */
    show(row, place, now, run) {
      box.hidden = false;
      shown = now.ranking[place];
      fill(place, now, run);
      const top = topIn(row, box.offsetParent);
      const below = top + row.offsetHeight + 6;
      const fits = row.getBoundingClientRect().bottom + box.offsetHeight + 12 < innerHeight;
      box.style.top = `${fits ? below : Math.max(top - box.offsetHeight - 6, 0)}px`;
    },
    hide() {
      box.hidden = true;
      shown = null;
    },
    /** @param {StepReread} now @param {Run} run */
    redraw(now, run) {
      if (shown === null) return;
      const place = now.ranking.indexOf(shown);
      if (place >= 0) fill(place, now, run);
    },
  };
}

/** How far below the upper edge of something around it. @param {HTMLElement} row @param {Element | null} outer */
function topIn(row, outer) {
  let top = 0;
  /** @type {Element | null} */
  let at = row;
  while (at instanceof HTMLElement && at !== outer) {
    top += at.offsetTop;
    at = at.offsetParent;
  }
  return top;
}

/** @param {Element} table @param {number} place @param {StepReread} now */
function fillStages(table, place, now) {
  /** @type {[string, number, boolean][]} */
  const rows = [[words.say("page.tip.model"), now.modelProbs[place], now.estimated.modelProbs]];
  for (const { name, probs, error } of now.stages) {
    const after = words.say("page.tip.after", { stage: words.say(`page.stage.${name}`) });
    rows.push([after, probs[place], isEstimate(error)]);
  }
  const lines = pool(table, rows.length, () => {
    const row = node("tr");
    node("th", { scope: "row" }, row);
    node("td", {}, row);
    return row;
  });
  rows.forEach(([stage, share, estimated], index) => {
    say(lines[index].children[0], stage);
    say(lines[index].children[1], share === 0 ? words.say("page.tip.cut") : exact(about(share, estimated)));
  });
}

/** A probability with enough digits to check a sum by hand. @param {import("./numbers.js").Told} share */
function exact(share) {
  return numberIn(share) >= 0.0001 ? decimals(share, 5) : small(share);
}
