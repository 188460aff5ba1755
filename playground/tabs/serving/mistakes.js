// What usual mistakes give for the cache of one user, and by how much they are off.

import { bytes, decimals, percent } from "../../page/js/numbers.js";
import { node, pool } from "../../page/js/svg.js";
import { cellOf, fill } from "../../page/js/table.js";
import * as words from "../../page/js/words.js";
import { follow } from "./asked_setup.js";
import { plan, wrongFormulas } from "./memory.js";

/** @param {HTMLElement} element @returns {import("../../page/js/types.js").Panel} */
export function mount(element) {
  const table = node("table.fact-table", {}, element);
  follow(({ shape, setup }) => {
    const found = Object.entries(wrongFormulas(shape));
    const right = plan(shape, setup).perUser;
    const lines = pool(table, found.length + 1, () => node("tr"));
    const heads = ["mistake", "gives", "off"].map((name) => words.say(`serving.wrong.column.${name}`));
    fill(lines[0], heads, () => node("th", { scope: "col" }));
    found.forEach(([name, factor], place) => {
      const cells = [words.say(`serving.wrong.name.${name}`), bytes(factor * right), offBy(factor)];
      fill(lines[place + 1], cells, cellOf);
      lines[place + 1].classList.toggle("is-same", factor === 1);
    });
  });
  return {};
}

/** @param {number} factor */
function offBy(factor) {
  if (factor === 1) return words.say("serving.wrong.same");
  return factor < 0.1 ? percent(factor) : `${decimals(factor, 2)} ×`;
}
