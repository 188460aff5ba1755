// What is in the bar's boxes, for pictures of what the model would answer now. It shows nothing.

/** @param {HTMLElement} _element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(_element, api) {
  return { update: (bar) => bar && api.store.set({ bar }) };
}
