// What a server elsewhere can show of what this page shows, and why not the rest, which is grey.

import { node } from "../../page/js/svg.js";
import { cellOf } from "../../page/js/table.js";
import * as words from "../../page/js/words.js";

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  /** @type {{ most: number, can: Record<string, "yes" | "told" | "no"> }} */
  const { most, can } = api.props.value;
  const table = node("table.fact-table", {}, element);
  const head = node("tr", {}, table);
  for (const name of ["what", "here", "why"])
    node("th", { scope: "col" }, head, words.say(`serving.remote.column.${name}`));
  for (const [name, answer] of Object.entries(can)) {
    const line = node("tr", {}, table);
    line.classList.toggle("is-same", answer === "no");
    const cells = [
      words.say(`serving.remote.can.${name}.what`),
      words.say(`serving.remote.here.${answer}`),
      words.say(`serving.remote.can.${name}.why`, { most }),
    ];
    for (const [place, text] of cells.entries()) line.appendChild(cellOf(place)).textContent = text;
  }
  return {};
}
