// Whole sets of settings by one press: every setting that a preset does not name is turned off.

import { setControls } from "../../page/js/controls.js";
import { node, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/**
 * @typedef {import("../../page/js/types.js").Params} Params
 * @typedef {{ key: string, settings: Partial<Params> }} Preset
 */

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  /** @type {Preset[]} */
  const presets = api.props.value ?? [];
  node("h2", {}, element, words.say("one_answer.preset.title"));
  const list = node("div.presets", {}, element);
  const buttons = presets.map(({ key, settings }) => {
    const title = words.say(`one_answer.preset.${key}.text`);
    const name = words.say(`one_answer.preset.${key}.name`);
    const button = node("button.small-button", { type: "button", title }, list, name);
    button.addEventListener("click", () => setControls(settings));
    return button;
  });
  const note = node("p.note", { role: "status" }, element);
  return {
    reads: ["params"],
    draw({ params }) {
      if (!params) return;
      const chosen = presets.findIndex((preset) => isSet(preset, params));
      for (const [place, button] of buttons.entries()) set(button, { "aria-pressed": String(place === chosen) });
      say(note, chosen < 0 ? "" : words.say(`one_answer.preset.${presets[chosen].key}.text`));
    },
  };
}

/** @param {Preset} preset @param {Params} params */
function isSet({ settings }, params) {
  return Object.entries(settings).every(([field, value]) => params[field] === value);
}
