// The greedy answer alone, and as one row of a batch: how far its logits move, and whether the text stays.

import { decimals, small } from "../../page/js/numbers.js";
import { node, pool, say } from "../../page/js/svg.js";
import { cellOf, fill } from "../../page/js/table.js";
import * as words from "../../page/js/words.js";
import { asksItself } from "./asks_itself.js";

const COLUMNS = ["rows", "change", "lead", "same"];

/** @typedef {{ rows: number, change: number, lead: number, flip: number | null }} Row  of among_values */

/** The cells of a row, in words. @param {Row} row @returns {(string | number)[]} */
export function cellsOf({ rows, change, lead, flip }) {
  const same =
    flip === null ? words.say("thirty_answers.among.same") : words.say("thirty_answers.among.differs", { step: flip });
  return [rows, small(change), decimals(lead, 4), same];
}

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const asking = asksItself(element, api);
  const table = node("table.fact-table", { id: "among" }, element);
  const heads = COLUMNS.map((name) => words.say(`thirty_answers.among.column.${name}`));
  fill(node("tr", {}, node("thead", {}, table)), heads, () => node("th", { scope: "col" }));
  const body = node("tbody", {}, table);
  const about = node("p.note", {}, element);

  /** @type {import("../../page/js/types.js").Listener} */
  function draw({ bar, params }) {
    if (!bar || !params) return;
    const isFresh = asking.want({ ...bar, system: params.system });
    table.classList.toggle("is-stale", !isFresh);
    if (!isFresh && about.textContent) say(asking.status, words.say("thirty_answers.stale"));
  }

  return {
    reads: ["bar", "params"],
    update(given) {
      if (!asking.hear(given)) return;
      const lines = pool(body, given.rows.length, () => node("tr"));
      given.rows.forEach((/** @type {Row} */ row, /** @type {number} */ place) => {
        fill(lines[place], cellsOf(row), cellOf);
      });
      say(about, words.say("thirty_answers.among.about", { model: given.model, prompt: given.prompt }));
      draw(api.store.get());
    },
    draw,
  };
}
