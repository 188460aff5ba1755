// Stated against observed: a Plotly picture, the sentence that sums it up, and the numbers as CSV.

import { download } from "../../page/js/download.js";
import { statusFollower } from "../../page/js/jobs.js";
import { mount as mountPlot } from "../../page/js/plot.js";
import { node, pool, say } from "../../page/js/svg.js";
import { isOtherRun } from "./curve.js";

const NARROW = 560; // pixels

export function mount(element, api) {
  element.classList.add("answers-agreement");
  const words = node(
    "p.note",
    { role: "status" },
    element,
    "Press the button: each answer's share of the draws beside its probability under these settings.",
  );
  const problem = node("p.answers-problem", { role: "alert" }, element);
  const inner = node("div", {}, element);
  const plot = mountPlot(inner);
  const save = node(
    "button.small-button",
    { type: "button", title: "Stated and observed as CSV" },
    inner.querySelector(".plot-buttons"),
    "CSV",
  );
  const names = node("ol.answers-names", {}, element); // where the window is too narrow for labels on the axis
  let value = null;
  save.addEventListener("click", () => {
    if (value) download(value.csv, "stated_and_observed.csv");
  });
  plot.update(null);
  const jobs = statusFollower(words, { problem, buttons: ["#answers-many"], running: "Sampling the answers …" });

  return {
    reads: ["params", "run", "dark"],
    update(given) {
      if (!jobs.hear(given) || !given?.figure) return;
      value = { ...given, runId: api.store.get().run?.id };
      this.draw(api.store.get());
    },
    draw(state) {
      if (!value || !element.clientWidth) return;
      const stale =
        isOtherRun(state.run, value) ||
        (Boolean(state.params) &&
          Object.entries(value.params).some(
            ([name, before]) => state.params[name] !== undefined && state.params[name] !== before,
          ));
      element.classList.toggle("is-stale", stale);
      say(words, stale ? "Stale: sampled with other settings. Draw again." : value.words);
      const narrow = element.clientWidth < NARROW;
      const figure = structuredClone(value.figure);
      if (narrow) {
        figure.layout.xaxis = {
          ...figure.layout.xaxis,
          ticktext: ["0", "0.1 %", "1 %", "10 %", ""],
          tickangle: 0,
          title: { text: "share (logarithmic)" },
        };
        figure.layout.yaxis.ticktext = value.answers.map((_text, place) => String(place + 1));
      }
      names.hidden = !narrow;
      const lines = pool(names, value.answers.length, () => node("li"));
      value.answers.forEach((text, place) => say(lines[place], text || "(empty)"));
      plot.update(figure);
    },
  };
}
