// A numbered dot for each answer: equal numbers are equal answers, and the frequent ones are the darkest.

import { node, pool, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/** @param {HTMLElement} dot @param {number} place  of its answer among the distinct ones */
export function drawDot(dot, place) {
  say(dot, String(place + 1));
  dot.style.setProperty("--shade", String(Math.max(1 - place * 0.06, 0.3)));
}

/**
 * @param {Element} grid
 * @param {{ groups: number[], rows: any[] }} view  for each answer its place among the distinct ones, and these
 * @param {(row: number, place: number) => string} titleOf
 */
export function drawDots(grid, { groups, rows }, titleOf) {
  const dots = pool(grid, groups.length, () => node("span.dot"));
  groups.forEach((place, row) => {
    drawDot(dots[row], place);
    set(dots[row], { title: titleOf(row, place) });
  });
  set(grid, {
    role: "img",
    "aria-label": words.say("thirty_answers.spoken.dots", { distinct: rows.length, count: groups.length }),
  });
}
