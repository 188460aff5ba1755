// Tells Python which answer to look into, and where. It speaks when it is seen: a tab that nobody looks at costs nothing.
// Its first value names what its pictures depend on besides the answer: { looks_at: ["layer", "position"] }.

import { asker, jobWords } from "../../page/js/jobs.js";
import { node, say, set } from "../../page/js/svg.js";

/** What Python is asked, null while there is no complete answer. */
export function requestOf({ run, ...state }, looksAt) {
  if (!run?.logits) return null;
  const places = Object.fromEntries(looksAt.map((key) => [key, state[key]]));
  return { model: run.model, prompt_ids: run.promptIds, token_ids: run.tokenIds, ...places };
}

export function mount(element, api) {
  const looksAt = api.props.value.looks_at;
  const section = element.closest(".cache-section") ?? element;
  const words = node("p.note", { role: "status" }, element);
  const stands = node("p.note", { role: "status" }, element);
  const question = asker(api, (job) => {
    say(stands, jobWords(job));
    set(section, { "aria-busy": job.state === "queued" || job.state === "running" ? "true" : null });
  });
  let asked = null; // run, layer, position: what Python was last asked about

  function ask(request) {
    question.ask(request).then((reply) => {
      if (reply.problem && !reply.stopped) say(stands, reply.problem);
    });
  }

  function draw(state) {
    const request = requestOf(state, looksAt);
    section.classList.toggle("has-run", Boolean(request || asked));
    if (!request) {
      if (!asked) say(words, "Press Generate: this tab then looks into the cache of that answer.");
      return;
    }
    const about = JSON.stringify([state.run.id, ...looksAt.map((key) => state[key])]);
    if (about === asked) return;
    asked = about;
    say(words, described(state.run));
    ask(request);
  }

  return { reads: ["run", ...looksAt], update: question.take, draw };
}

function described({ promptLength, numSteps }) {
  const stored = promptLength + numSteps - 1;
  return (
    `The cache of this answer: ${promptLength} tokens of the prompt and ${numSteps - 1} of ` +
    `${numSteps} written ones = ${stored}. The last token was chosen and not fed.` +
    (stored < 4 ? " Too short for some pictures: four tokens show all." : "")
  );
}
