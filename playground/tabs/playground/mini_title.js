// The title of a small picture; it opens the tab that has the large one.

import { node } from "../../page/js/svg.js";
import { openTab } from "../../page/js/tabs.js";

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, { props }) {
  const { text, tab } = props.value;
  const title = node("h2.mini-title", {}, element);
  const button = node("button", { type: "button" }, title, text);
  button.addEventListener("click", () => openTab([tab]));
  return {};
}
