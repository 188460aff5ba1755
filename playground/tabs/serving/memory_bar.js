// The memory of the machine as one bar: the weights, one block for each user's cache, and what is left.

import { node, pool, say, set, svg } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

const HEIGHT = 64;
const MOST_BLOCKS = 240; // narrower ones could not be told apart
const PARTS = ["weights", "caches", "left", "reserved"];

/** Where the parts end, as shares of the memory. @param {import("./memory.js").Plan} made @param {import("./memory.js").Setup} setup */
export function barOf({ weights, users, perUser }, { memory, usable }) {
  const end = Math.min(1, weights / memory);
  const caches = Math.min(1, end + (users * perUser) / memory);
  return { weights: end, caches, left: Math.max(caches, usable), isTooLarge: weights > memory * usable };
}

/** @param {Element} parent */
export function memoryBar(parent) {
  const figure = node("figure.serving-memory", {}, parent);
  const picture = svg("svg", { role: "img", height: HEIGHT, width: "100%", preserveAspectRatio: "none" }, figure);
  set(picture, { viewBox: `0 0 1000 ${HEIGHT}` });
  const frame = svg("rect.serving-frame", { x: 0, y: 0, width: 1000, height: HEIGHT }, picture);
  const weights = svg("rect.serving-weights", { x: 0, y: 0, height: HEIGHT }, picture);
  const blocks = svg("g", {}, picture);
  const reserved = svg("rect.serving-reserved", { y: 0, height: HEIGHT }, picture);
  const legend = node("figcaption.serving-legend", {}, figure);

  return {
    /** @param {import("./memory.js").Plan} made @param {import("./memory.js").Setup} setup */
    draw(made, setup) {
      const ends = barOf(made, setup);
      set(frame, { "data-too-large": ends.isTooLarge ? "" : null });
      set(weights, { width: 1000 * ends.weights });
      set(reserved, { x: 1000 * ends.left, width: 1000 * (1 - ends.left) });
      const shown = Math.min(made.users, MOST_BLOCKS);
      const each = (1000 * (ends.caches - ends.weights)) / Math.max(1, shown);
      const gap = shown === made.users ? Math.min(3, each / 4) : 0;
      const rects = pool(blocks, shown, () => svg("rect.serving-user", { y: 0, height: HEIGHT }));
      for (let place = 0; place < shown; place++)
        set(rects[place], { x: 1000 * ends.weights + place * each + gap / 2, width: Math.max(0.5, each - gap) });
      const caches = made.users * made.perUser;
      const reserve = setup.memory * (1 - setup.usable);
      const facts = {
        weights: made.weights,
        caches,
        users: made.users,
        left: Math.max(0, made.room - caches),
        reserved: reserve,
      };
      const entries = pool(legend, PARTS.length, () => {
        const entry = node("span.serving-entry");
        node("span.serving-key", {}, entry);
        node("span", {}, entry);
        return entry;
      });
      PARTS.forEach((name, place) => {
        set(entries[place].firstElementChild ?? entries[place], { "data-part": name });
        say(entries[place].lastElementChild ?? entries[place], words.say(`serving.bar.${name}`, facts));
      });
      const told = ends.isTooLarge ? "serving.bar.too_large" : "serving.bar.spoken";
      set(picture, { "aria-label": words.say(told, facts) });
    },
  };
}
