// Tells Python which answer to look into, and where. It speaks when it is seen: a tab that nobody looks at costs nothing.
// Its first value names what its pictures depend on besides the answer: { looks_at: ["layer", "position"] }.

import { asker, isUnderWay, jobWords } from "../../page/js/jobs.js";
import { node, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/** @typedef {("layer" | "position" | "num_tokens")[]} Places */
/** @typedef {import("../../page/js/types.js").State} State */
/** @typedef {import("../../page/js/types.js").Run} Run */

const FEW = 4; // tokens; with less some pictures have nothing to show

/** What Python is asked, null while there is no complete answer. @param {State} state @param {Places} looksAt */
export function requestOf({ run, ...state }, looksAt) {
  if (!run?.logits) return null;
  const places = Object.fromEntries(looksAt.map((key) => [key, state[key]]));
  return { model: run.model, prompt_ids: run.promptIds, token_ids: run.tokenIds, ...places };
}

/** Whose cache it is, and how many tokens it holds.
 * @param {Pick<Run, "model" | "prompt" | "params" | "promptLength" | "numSteps">} run
 * @returns {import("../../page/js/words.js").Told} */
export function described({ model, prompt, params, promptLength, numSteps }) {
  const { temperature, top_p, top_k, seed } = params;
  const facts = { model, prompt, temperature, top_p, top_k, seed, stored: promptLength + numSteps - 1 };
  const holds = {
    key: "inside_the_cache.source.holds",
    facts: { ...facts, prompt_length: promptLength, fed: numSteps - 1, written: numSteps },
  };
  return facts.stored < FEW ? { key: "inside_the_cache.source.short", facts: { holds } } : holds;
}

/** Whether prompt, model or sliders have changed since the answer was written.
 * @param {Pick<State, "bar" | "params"> & { run: Pick<Run, "model" | "prompt" | "params"> | null }} state */
export function isStale({ run, bar, params }) {
  if (!run) return false;
  if (bar && (bar.model !== run.model || bar.prompt !== run.prompt)) return true;
  return Object.entries(run.params).some(([name, value]) => params && name in params && params[name] !== value);
}

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  /** @type {Places} */
  const looksAt = api.props.value.looks_at;
  const section = element.closest(".cache-section") ?? element;
  const note = node("p.note", { role: "status" }, element);
  const stale = node("p.note.source-stale", { role: "status" }, element);
  const stands = node("p.note", { role: "status" }, element);
  const question = asker(api, (job) => {
    say(stands, jobWords(job));
    set(section, { "aria-busy": isUnderWay(job) ? "true" : null });
  });

  /** @param {State} state */
  async function draw(state) {
    const request = requestOf(state, looksAt);
    section.classList.toggle("has-run", Boolean(request || question.asked));
    if (!question.asked) say(note, words.say("inside_the_cache.source.invite"));
    if (!request || !state.run) return;
    const isOld = isStale(state);
    say(stale, isOld ? words.say("inside_the_cache.source.stale") : "");
    const about = JSON.stringify([state.run.id, ...looksAt.map((key) => state[key])]); // run, layer, position
    if (about === question.asked) return;
    say(note, words.say(described(state.run)));
    const { problem, stopped } = await question.ask(request, about);
    if (problem && !stopped) say(stands, problem);
  }

  return { reads: ["run", "bar", "params", ...looksAt], update: question.take, draw };
}
