// Grouped heads: the key/value heads that the cache stores, and how each is repeated for the query heads that read it.

import { layerChips } from "../../page/js/chips.js";
import { node, pool, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/** Shapes of keys as repeat_value makes them: batch, heads, tokens, head size.
 * @typedef {{ layer: number, num_layers: number, stored: number[], repeated: number[], note: import("../../page/js/words.js").Told }} Repeat */

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const layers = layerChips(element, api.store);
  const picture = node("div.repeat", { role: "img" }, element);
  const titles = ["stored", "copies", "queries"].map((name) =>
    node("div.repeat-title", {}, picture, words.say(`inside_the_cache.repeat.${name}`)),
  );
  const shapes = titles.map(() => node("div.repeat-shape", {}, picture));
  const heads = node("div.repeat-heads", {}, picture);
  const note = node("p.note", {}, element);

  return {
    /** @param {Repeat | null} value */
    update(value) {
      element.classList.toggle("is-empty", !value);
      if (!value) return;
      const { layer, num_layers, stored, repeated } = value;
      layers.draw(num_layers, layer);
      const facts = { stored: stored[1], queries: repeated[1], times: repeated[1] / stored[1] };
      set(picture, { "aria-label": words.say("inside_the_cache.repeat.picture", facts) });
      const [, , , size] = repeated;
      const texts = [stored, repeated, [1, repeated[1], 1, size]];
      texts.forEach((shape, index) => {
        say(shapes[index], shape.join(" × "));
      });
      drawHeads(heads, stored[1], repeated[1]);
      say(note, words.say(value.note));
    },
  };
}

/** The key/value head that each query head reads: query heads stand in groups. @param {number} stored @param {number} queries */
export function groupsOf(stored, queries) {
  return Array.from({ length: queries }, (_, head) => Math.floor((head * stored) / queries));
}

/** @param {Element} holder @param {number} stored @param {number} queries */
function drawHeads(holder, stored, queries) {
  const groups = groupsOf(stored, queries);
  const cells = [...pool(holder, stored + 2 * queries, () => node("div.repeat-head"))];
  const [owners, copies, readers] = [cells.slice(0, stored), cells.slice(stored, -queries), cells.slice(-queries)];
  owners.forEach((cell, head) => {
    place(cell, "stored", head, groups.indexOf(head), queries / stored);
  });
  copies.forEach((cell, head) => {
    place(cell, "copy", groups[head], head, 1);
  });
  readers.forEach((cell, head) => {
    place(cell, "query", head, head, 1);
  });
}

/** @param {HTMLElement} cell @param {"stored" | "copy" | "query"} kind @param {number} head @param {number} line @param {number} lines */
function place(cell, kind, head, line, lines) {
  const letters = kind === "query" ? ["Q"] : ["K", "V"];
  set(cell, { "data-kind": kind });
  cell.style.setProperty("--line", String(line + 1));
  cell.style.setProperty("--lines", String(lines));
  const boxes = pool(cell, letters.length, () => node("span"));
  letters.forEach((letter, index) => {
    say(boxes[index], `${letter}${head + 1}`);
    set(boxes[index], { "data-letter": letter });
  });
}
