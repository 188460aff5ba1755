// The numbers of a finished race: both sides in a table, how far they can be trusted, and why time is not work.

import * as comparison from "../../page/js/comparison.js";
import { node, say } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/** @param {HTMLElement} element @returns {import("../../page/js/types.js").Panel} */
export function mount(element) {
  const empty = node("p.empty-note", {}, element, words.say("cache_on_off.race.no_numbers"));
  const stage = node("div.race-result", {}, element);
  const table = comparison.comparisonTable(node("div.race-scroll", {}, stage), ".race-table");
  const texts = node("div.race-result-words", {}, stage);
  const why = node("p.race-why", {}, texts);
  const trust = node("p.race-why", {}, texts);
  const note = node("p.note", {}, texts);

  return {
    reads: ["race"],
    draw({ race }) {
      const result = race?.result;
      empty.hidden = Boolean(result);
      stage.hidden = !result;
      if (!result) return;
      table.draw(comparison.rows(result));
      say(why, comparison.whyNotAsFast(result));
      say(trust, [comparison.noise(result), comparison.leadWords(result)].filter(Boolean).join(" "));
      trust.classList.toggle("is-warning", result.noisy || result.repeats < 2);
      const { repeats, machine } = result;
      const conditions = words.say("cache_on_off.comparison.conditions", { repeats, machine });
      say(note, [comparison.counted(result), comparison.gapWords(result), conditions].join(" "));
    },
  };
}
