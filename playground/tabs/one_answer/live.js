// The answer as text, and the switch: with it on, the model writes again from the first token that the sliders change.

import { asker, jobWords, takeTurn } from "../../page/js/jobs.js";
import { continueRun } from "../../page/js/run_data.js";
import { node, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/**
 * @typedef {import("../../page/js/types.js").State} State
 * @typedef {import("../../page/js/types.js").Run} Run
 * @typedef {import("../../page/js/types.js").Params} Params
 */

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const { status, toggle, text, same, changed } = build(element);
  const question = asker(api, (job) => {
    if (job.state === "queued") say(status, jobWords(job));
  });
  /** The settings of the last question: the same are not asked again. @type {Params | null} */
  let answered = null;
  let failed = { run: "", problem: "" }; // what came of it instead of a text
  let isWaiting = false; // for its turn, or for the model
  toggle.addEventListener("change", () => {
    answered = null;
    api.store.set({ live: toggle.checked });
  });

  /** @type {import("../../page/js/types.js").Listener} */
  function draw(state) {
    const { run, params, live } = state;
    toggle.checked = live;
    text.hidden = !run;
    if (!run) {
      say(status, words.say("one_answer.live.empty"));
      return;
    }
    const cut = (live ? run.rewrittenFrom : null) ?? run.numSteps;
    say(same, run.pieces.slice(0, cut).join(""));
    say(changed, run.pieces.slice(cut).join(""));
    const isBehind = live && (isWaiting || mustAsk(state));
    set(text, { "aria-busy": String(isBehind) });
    if (!live) say(status, frozenWords(run, params, firstChange(state)));
    else if (!isBehind) say(status, failed.run === run.id && answered === params ? failed.problem : liveWords(run));
    else if (!isWaiting) waitForTurn();
  }

  /** @param {State} state */
  function mustAsk(state) {
    return firstChange(state) !== null && answered !== state.params;
  }

  /** A branch may be on its way: what is to be asked is seen when it is over. */
  function waitForTurn() {
    isWaiting = true;
    takeTurn(writeAgain).finally(() => {
      isWaiting = false;
      if (api.width > 0) draw(api.store.get());
    });
  }

  async function writeAgain() {
    const state = api.store.get();
    const { run, params, live, branches } = state;
    const place = firstChange(state);
    if (!run || !live || place === null || answered === params) return;
    answered = params;
    // One that was written for the moving slider and is no branch can't be asked for any more.
    const replace = run.rewrittenFrom !== undefined && !branches.includes(run);
    const reply = await question.ask({ run: run.id, shared: place, forced_id: null, params, replace });
    if (reply.problem) failed = { run: run.id, problem: reply.problem };
    if (reply.problem || api.store.get().run?.id !== run.id) return;
    api.store.set({ run: { ...continueRun(run, reply), rewrittenFrom: place } });
  }

  return { update: question.take, reads: ["run", "params", "reread", "live"], draw };
}

/** @param {HTMLElement} element */
function build(element) {
  const head = node("div.card-head", {}, element);
  node("h2", {}, head, words.say("one_answer.live.title"));
  const label = node("label.switch", {}, head);
  const toggle = node("input", { type: "checkbox", role: "switch", id: "live" }, label);
  node("span", {}, label, words.say("one_answer.live.switch"));
  const status = node("span.note", { role: "status", "aria-live": "polite" }, head);
  const text = node("p.answer-text", {}, element);
  return { status, toggle, text, same: node("span", {}, text), changed: node("span.answer-changed", {}, text) };
}

/** The first step that the sliders change; null: none. Another seed means other random numbers at every step.
 * @param {Pick<State, "run" | "params" | "reread">} state @returns {number | null} */
export function firstChange({ run, params, reread }) {
  if (!run?.logits || !params) return null;
  return isReseeded(run, params) ? 0 : (reread?.firstDifference ?? null);
}

/** With T = 0 the random numbers change nothing. @param {Run} run @param {Params} params */
function isReseeded(run, params) {
  return params.seed !== run.params.seed && params.temperature !== 0;
}

/** @param {Run} run */
function liveWords({ rewrittenFrom, numSteps }) {
  if (rewrittenFrom === undefined) return words.say("one_answer.live.follows");
  return words.say("one_answer.live.rewritten", { step: rewrittenFrom, count: numSteps - rewrittenFrom });
}

/** @param {Run} run @param {Params | null} params @param {number | null} place */
function frozenWords(run, params, place) {
  if (place === null) return words.say("one_answer.live.off_same");
  if (params && isReseeded(run, params)) return words.say("one_answer.live.off_seed");
  return words.say("one_answer.live.off_differs", { step: place });
}
