// How a job of a card stands, and what it said in the end: { text, lines } beside the job; each may be what Python told.

import { follower, isUnderWay, jobWords } from "./jobs.js";
import { node, pool, say } from "./svg.js";
import * as words from "./words.js";

/** @typedef {string | import("./words.js").Told} Said */

/** @param {HTMLElement} element @param {import("./types.js").PanelApi} api @returns {import("./types.js").Panel} */
export function mount(element, api) {
  const text = node("p.race-status", { role: "status" }, element);
  const list = node("ul.job-lines", {}, element);
  /** @type {{ text: Said, lines: Said[] }} */
  let shown = { text: "", lines: [] };

  /** @param {import("./jobs.js").Job | null} job */
  function show(job) {
    const hasOwn = shown.text && (isUnderWay(job) || job?.state === "stopped");
    say(text, [words.text(shown.text), hasOwn ? "" : jobWords(job)].filter(Boolean).join(" "));
    text.classList.toggle("is-problem", job?.state === "failed");
    const lines = pool(list, shown.lines.length, () => node("li"));
    for (const [place, line] of shown.lines.entries()) say(lines[place], words.text(line));
    list.hidden = !shown.lines.length;
  }

  const jobs = follower({ buttons: api.props.value?.buttons ?? [], tell: () => {} });
  return {
    update(value) {
      if (!jobs.hear(value)) return;
      const job = value?.job ?? null;
      const isNews = value && ("text" in value || "lines" in value);
      if (isNews) shown = { text: value.text ?? "", lines: value.lines ?? [] };
      else if (job?.state === "queued" || job?.state === "failed") shown = { text: "", lines: [] };
      show(job);
    },
  };
}
