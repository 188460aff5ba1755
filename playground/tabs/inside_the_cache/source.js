// Tells Python which answer to look into. It speaks when it is seen: a tab that nobody looks at costs nothing.
// A panel nearby that wants another layer or token sends a "look" event; see page/js/look.js.

import { asker, jobWords } from "../../page/js/jobs.js";
import { node, say, set } from "../../page/js/svg.js";

export function mount(element, api) {
  const section = element.closest(".cache-section") ?? element;
  const words = node("p.note", { role: "status" }, element);
  const stands = node("p.note", { role: "status" }, element);
  const question = asker(api, (job) => {
    say(stands, jobWords(job));
    set(section, { "aria-busy": job.state === "queued" || job.state === "running" ? "true" : null });
  });
  let asked = null; // the run that Python was last asked about
  let request = {};

  function ask() {
    question.ask(request).then((reply) => {
      if (reply.problem && !reply.stopped) say(stands, reply.problem);
    });
  }

  section.addEventListener("look", (event) => {
    if (!asked) return;
    request = { ...request, ...event.detail };
    ask();
  });

  function draw({ run }) {
    const ready = Boolean(run?.logits);
    section.classList.toggle("has-run", ready || Boolean(asked));
    if (!ready) {
      if (!asked) say(words, "Press Generate: this tab then looks into the cache of that answer.");
      return;
    }
    if (asked === run.id) return;
    asked = run.id;
    const stored = run.promptLength + run.numSteps - 1;
    say(
      words,
      `The cache of this answer: ${run.promptLength} tokens of the prompt and ${run.numSteps - 1} of ` +
        `${run.numSteps} written ones = ${stored}. The last token was chosen and not fed.` +
        (stored < 4 ? " Too short for some pictures: four tokens show all." : ""),
    );
    const { layer } = request.model === run.model ? request : {};
    request = { model: run.model, prompt_ids: run.promptIds, token_ids: run.tokenIds, layer };
    ask();
  }

  return { draw, update: question.take };
}
