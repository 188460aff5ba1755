// The shared picture of the cache, at the step of this tab.

import { mount as mountGrowth } from "../../page/js/cache_growth.js";
import { stepOf } from "./steps.js";

/** @typedef {import("../../page/js/types.js").State} State */

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const at = (/** @type {State} */ state) => ({ ...state, step: stepOf(state) });
  const store = {
    ...api.store,
    get: () => at(api.store.get()),
    set: (/** @type {Partial<State>} */ patch) =>
      api.store.set(patch.step === undefined ? patch : { ...patch, cacheStep: patch.step }),
  };
  // Inherits the width, which changes.
  const panel = mountGrowth(element, Object.create(api, { store: { value: store } }));
  return { ...panel, reads: [...(panel.reads ?? []), "cacheStep"], draw: (state) => panel.draw?.(at(state)) };
}
