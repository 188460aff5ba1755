// How a job of a card stands, and what it said in the end: { text, lines } beside the job.

import { follower, isUnderWay, jobWords } from "./jobs.js";
import { node, pool, say } from "./svg.js";

export function mount(element, api) {
  const text = node("p.race-status", { role: "status" }, element);
  const list = node("ul.job-lines", {}, element);
  let shown = { text: "", lines: [] };

  function show(job) {
    const words = isUnderWay(job) && shown.text ? "" : jobWords(job);
    say(text, [shown.text, words].filter(Boolean).join(" "));
    text.classList.toggle("is-problem", job?.state === "failed");
    const lines = pool(list, shown.lines.length, () => node("li"));
    shown.lines.forEach((line, place) => say(lines[place], line));
    list.hidden = !shown.lines.length;
  }

  const jobs = follower({ buttons: api.props.value?.buttons ?? [], tell: () => {} });
  return {
    update(value) {
      if (!jobs.hear(value)) return;
      const job = value?.job ?? null;
      const said = value && ("text" in value || "lines" in value);
      if (said) shown = { text: value.text ?? "", lines: value.lines ?? [] };
      else if (job?.state === "queued" || job?.state === "failed") shown = { text: "", lines: [] };
      show(job);
    },
  };
}
