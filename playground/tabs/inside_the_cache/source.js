// Tells Python which answer to look into, and where. It speaks when it is seen: a tab that nobody looks at costs nothing.
// Its first value names what its pictures depend on besides the answer: { looks_at: ["layer", "position"] }.

import { asker, isUnderWay, jobWords } from "../../page/js/jobs.js";
import { node, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/** @typedef {("layer" | "position")[]} Places */

const FEW = 4; // tokens; with less some pictures have nothing to show

/** What Python is asked, null while there is no complete answer. @param {import("../../page/js/types.js").State} state
 * @param {Places} looksAt */
export function requestOf({ run, ...state }, looksAt) {
  if (!run?.logits) return null;
  const places = Object.fromEntries(looksAt.map((key) => [key, state[key]]));
  return { model: run.model, prompt_ids: run.promptIds, token_ids: run.tokenIds, ...places };
}

/** How many tokens the cache of an answer holds. @param {{ promptLength: number, numSteps: number }} run
 * @returns {import("../../page/js/words.js").Told} */
export function described({ promptLength, numSteps }) {
  const facts = { stored: promptLength + numSteps - 1, prompt: promptLength, fed: numSteps - 1, written: numSteps };
  const holds = { key: "inside_the_cache.source.holds", facts };
  return facts.stored < FEW ? { key: "inside_the_cache.source.short", facts: { holds } } : holds;
}

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  /** @type {Places} */
  const looksAt = api.props.value.looks_at;
  const section = element.closest(".cache-section") ?? element;
  const note = node("p.note", { role: "status" }, element);
  const stands = node("p.note", { role: "status" }, element);
  const question = asker(api, (job) => {
    say(stands, jobWords(job));
    set(section, { "aria-busy": isUnderWay(job) ? "true" : null });
  });
  let asked = ""; // run, layer, position: what Python was last asked about

  /** @param {import("../../page/js/types.js").State} state */
  async function draw(state) {
    const request = requestOf(state, looksAt);
    section.classList.toggle("has-run", Boolean(request || asked));
    if (!asked) say(note, words.say("inside_the_cache.source.invite"));
    if (!request || !state.run) return;
    const about = JSON.stringify([state.run.id, ...looksAt.map((key) => state[key])]);
    if (about === asked) return;
    asked = about;
    say(note, words.say(described(state.run)));
    const { problem, stopped } = await question.ask(request);
    if (problem && !stopped) say(stands, problem);
  }

  return { reads: ["run", ...looksAt], update: question.take, draw };
}
