// What is set aside for requests of different lengths, and the part of it that holds tokens.

import * as words from "../../page/js/words.js";
import { barRows } from "./rows.js";

const WAYS = ["context", "padded", "blocks", "filled"];

/** @param {HTMLElement} element @returns {import("../../page/js/types.js").Panel} */
export function mount(element) {
  return {
    /** @param {{ places: Record<string, number>, bytes_a_token: number } | null} given */
    update(given) {
      if (!given?.places) return;
      const { places, bytes_a_token: each } = given;
      const rows = WAYS.map((name) => {
        const facts = { places: places[name], bytes: places[name] * each, share: places.filled / places[name] };
        return {
          label: words.say(`serving.reserved.${name}`),
          text: words.say("serving.reserved.text", facts),
          bars: [
            { kind: /** @type {const} */ ("room"), share: places[name] / places.padded },
            { kind: /** @type {const} */ ("kept"), share: places.filled / places.padded },
          ],
        };
      });
      barRows(element, rows);
    },
  };
}
