// The curve of distinct answers: a Plotly picture, the present slider as a line on it, and its table as CSV.

import { download } from "../../page/js/download.js";
import { statusFollower } from "../../page/js/jobs.js";
import { mount as mountPlot } from "../../page/js/plot.js";
import { node, say } from "../../page/js/svg.js";

/** Where a slider's value stands on the axis; between two marks in proportion, top-k by ratios, 0 (off) at the end. */
export function placeOf(value, { values, places, knob }) {
  if (knob === "top_k" && value <= 0) return places[places.length - 1];
  const scale = knob === "top_k" ? Math.log : (number) => number;
  const last = knob === "top_k" ? values.length - 2 : values.length - 1; // the last mark of top-k is "off"
  if (value >= values[last]) return places[last];
  for (let mark = 0; mark < last; mark++) {
    if (value > values[mark + 1]) continue;
    const part = (scale(value) - scale(values[mark])) / (scale(values[mark + 1]) - scale(values[mark]));
    return places[mark] + Math.max(part, 0) * (places[mark + 1] - places[mark]);
  }
  return places[0];
}

/** Whether the last press of Generate was for another prompt or model than a picture drawn before it. */
export function isOtherRun(run, { runId, prompt, model }) {
  return Boolean(run) && run.id !== runId && (run.prompt !== prompt || run.model !== model);
}

export function mount(element, api) {
  element.classList.add("answers-curve");
  const words = node(
    "p.note",
    { role: "status" },
    element,
    "Press the button: every point is 30 answers, all in one batch.",
  );
  const problem = node("p.answers-problem", { role: "alert" }, element);
  const inner = node("div", {}, element);
  const plot = mountPlot(inner);
  const save = node(
    "button.small-button",
    { type: "button", title: "The points and their bands as CSV" },
    inner.querySelector(".plot-buttons"),
    "CSV",
  );
  let value = null;
  plot.update(null);
  save.addEventListener("click", () => {
    if (value?.views) download(value.views[by()].csv, "distinct_answers.csv");
  });

  const jobs = statusFollower(words, { problem, buttons: ["#answers-draw"], running: "Sampling the answers …" });
  const by = () => api.store.get().compareBy;

  function isStale({ params, run }) {
    return (
      isOtherRun(run, value) ||
      (Boolean(params) &&
        Object.entries(value.params).some(
          ([name, given]) => name !== value.knob && params[name] !== undefined && params[name] !== given,
        ))
    );
  }

  function show(state) {
    const figure = structuredClone(value.views[by()].figure);
    const here = state.params?.[value.knob];
    if (here !== undefined) {
      const x = placeOf(here, value);
      figure.layout.shapes = [
        {
          type: "line",
          x0: x,
          x1: x,
          yref: "paper",
          y0: 0,
          y1: 1,
          line: { color: "var(--accent)", width: 3, dash: "dot" },
        },
      ];
    }
    plot.update(figure);
    const stale = isStale(state);
    element.classList.toggle("is-stale", stale);
    say(words, stale ? "Stale: other settings or another prompt now. Draw it again." : value.words);
  }

  return {
    reads: ["params", "run", "compareBy", "dark"],
    update(given) {
      if (!jobs.hear(given) || !given?.views) return;
      value = { ...given, runId: api.store.get().run?.id };
      this.draw(api.store.get());
    },
    draw(state) {
      if (value && element.clientWidth) show(state);
    },
  };
}
