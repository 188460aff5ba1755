// A Plotly curve of the race that is shown. value: { figure: its name }

import { mount as mountPlot } from "../../page/js/plot.js";

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const plot = mountPlot(element);
  const { figure } = api.props.value;
  /** @param {import("../../page/js/types.js").State} state */
  const take = ({ race }) => plot.update(race?.figures?.[figure] ?? null);
  api.store.on(["race"], take); // hidden too: without a picture its card has no width, and nothing is drawn
  take(api.store.get());
  return { reads: ["dark"], draw: () => plot.draw() };
}
