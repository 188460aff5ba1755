// What came out of a race: equal or not, three ratios, the numbers of both sides, and why time is not work.

import * as comparison from "../../page/js/comparison.js";
import { node, pool, say } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/** @param {HTMLElement} element @returns {import("../../page/js/types.js").Panel} */
export function mount(element) {
  const stage = node("div.race-result", { hidden: "" }, element);
  const head = node("div.race-result-head", {}, stage);
  const verdict = node("p.verdict", {}, head);
  const ratios = node("div.race-ratios", {}, head);
  const table = comparison.comparisonTable(stage, ".race-table");
  const texts = node("div.race-result-words", {}, stage);
  const why = node("p.race-why", {}, texts);
  const noise = node("p.race-noise", { role: "status" }, texts);
  const note = node("p.note", {}, texts);

  return {
    reads: ["race"],
    draw({ race }) {
      const result = race?.revealed ? race.value.result : null;
      stage.hidden = !result;
      if (!result) return;
      const pairs = comparison.keyRatios(result);
      const cells = pool(ratios, pairs.length, () => {
        const cell = node("div");
        node("span.key-number.race-key", {}, cell);
        node("span.race-label", {}, cell);
        return cell;
      });
      for (const [index, pair] of pairs.entries())
        for (const [part, text] of pair.entries()) say(cells[index].children[part], text);
      comparison.drawVerdict(verdict, result);
      table.draw(comparison.rows(result));
      say(why, comparison.whyNotAsFast(result));
      say(noise, comparison.noise(result));
      noise.hidden = !noise.textContent;
      const { repeats, machine } = result;
      const conditions = words.say("cache_on_off.comparison.conditions", { repeats, machine });
      say(note, [comparison.counted(result), conditions, words.say("cache_on_off.race.clocks")].join(" "));
    },
  };
}
