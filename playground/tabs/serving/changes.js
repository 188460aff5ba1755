// The cache of one user, with one thing changed at a time.

import * as words from "../../page/js/words.js";
import { follow } from "./asked_setup.js";
import { changes, plan } from "./memory.js";
import { barRows } from "./rows.js";

/** @param {HTMLElement} element @returns {import("../../page/js/types.js").Panel} */
export function mount(element) {
  follow(({ shape, setup }) => {
    const made = changes(shape, setup).map(([name, ...change]) => ({ name, change, plan: plan(...change) }));
    const now = made[0].plan.perUser;
    const most = Math.max(...made.map((each) => each.plan.perUser));
    const rows = made.map(({ name, change: [changed], plan: { perUser, users } }, place) => {
      const facts = { kv_heads: changed.kvHeads, heads: shape.heads, window: changed.window ?? 0 };
      const size = { bytes: perUser, users, factor: perUser / now };
      return {
        label: words.say(`serving.change.${name}`, facts),
        text: words.say(place ? "serving.changes.beside" : "serving.changes.now", size),
        bars: [{ kind: /** @type {"kept" | "ghost"} */ (place ? "ghost" : "kept"), share: perUser / most }],
      };
    });
    barRows(element, rows);
  });
  return {};
}
