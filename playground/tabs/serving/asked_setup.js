// What the calculator is set to, for the pictures in the cards below it.

/** @typedef {{ shape: import("./memory.js").Shape, setup: import("./memory.js").Setup }} Asked */

/** @type {Set<(asked: Asked) => void>} */
const listeners = new Set();
/** @type {Asked | null} */
let latest = null;

/** @param {Asked} asked */
export function publish(asked) {
  latest = asked;
  for (const listener of listeners) listener(asked);
}

/** Hears of what is set now, and of each change. @param {(asked: Asked) => void} listener */
export function follow(listener) {
  listeners.add(listener);
  if (latest) listener(latest);
}
