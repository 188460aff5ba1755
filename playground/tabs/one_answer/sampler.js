// You are the sampler: the answer up to the step looked at, the bars of what may come next, and a press on one of them
// writes that token and no more. Any other token of the vocabulary is forced by typing it.

import { mount as mountBars } from "../../page/js/distribution.js";
import { asker, jobWords, takeTurn } from "../../page/js/jobs.js";
import { about, decimals, numberIn, percent, small } from "../../page/js/numbers.js";
import { modelProbTold, rereadStep } from "../../page/js/reread.js";
import { continueRun, show } from "../../page/js/run_data.js";
import { node, pool, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { hasBeginning } from "./fork.js";

/**
 * @typedef {import("../../page/js/types.js").Run} Run
 * @typedef {import("../../page/js/types.js").State} State
 * @typedef {import("../../page/js/types.js").StepReread} StepReread
 * @typedef {import("../../page/js/types.js").PanelApi} PanelApi
 * @typedef {{ id: number, place: number, exact: boolean }} Suggestion
 */

const SUGGESTIONS = 6;
const SCORES = ["model", "settings", "perplexity"];

/** How likely the first tokens of an answer are together, and the perplexity of the model on them; null without any.
 * @param {Pick<import("../../page/js/types.js").Reread, "chosenModelProb" | "chosenProb" | "estimated">} reread @param {number} count */
export function scoreOf({ chosenModelProb, chosenProb, estimated }, count) {
  if (!count) return null;
  const sum = (/** @type {Float64Array} */ probs) =>
    probs.subarray(0, count).reduce((total, prob) => total + Math.log(prob), 0);
  const model = sum(chosenModelProb);
  /** @param {"chosenModelProb" | "chosenProb"} name @param {number} value */
  const told = (name, value) => about(value, Boolean(estimated?.[name].subarray(0, count).includes(1)));
  return {
    model: told("chosenModelProb", Math.exp(model)),
    settings: told("chosenProb", Math.exp(sum(chosenProb))),
    perplexity: told("chosenModelProb", Math.exp(-model / count)),
  };
}

/** Tokens that begin as what is typed, with a space before it or without; the token itself first, then the most likely.
 * @param {Pick<StepReread, "ranking">} now @param {string[]} vocabulary @param {string} typed @param {number} most
 * @returns {Suggestion[]} */
export function suggestions({ ranking }, vocabulary, typed, most) {
  if (!typed) return [];
  const plain = typed.replaceAll(" ", "␣").replaceAll("\n", "⏎");
  const spaced = `␣${plain}`;
  /** @type {Suggestion[]} */
  const found = [];
  const places = new Map(Array.from(ranking, (id, place) => [id, place]));
  for (let id = 0; id < ranking.length; id += 1) {
    const label = vocabulary[id];
    if (label.startsWith(plain) || label.startsWith(spaced))
      found.push({ id, place: places.get(id) ?? Infinity, exact: label === plain || label === spaced });
  }
  return found
    .sort(
      (one, other) =>
        Number(other.exact) - Number(one.exact) || (one.place === other.place ? 0 : one.place - other.place),
    )
    .slice(0, most);
}

/** @param {HTMLElement} element @param {PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const { store } = api;
  const parts = build(element);
  const question = asker(api, (job) => say(parts.status, job.state === "done" ? "" : jobWords(job)));
  let isWaiting = false;
  const bars = mountBars(parts.bars, {
    ...api,
    props: { value: { full: true } },
    store: { ...store, get: () => ({ ...store.get(), fork: press }) },
    get width() {
      return parts.bars.clientWidth;
    },
  });

  /** The token at a step is this one. @param {number} step @param {number} tokenId */
  function press(step, tokenId) {
    const { run } = store.get();
    if (!run?.logits || isWaiting) return;
    parts.input.value = "";
    const isThere = run.tokenIds[step] === tokenId;
    if (isThere && step + 1 < run.numSteps) store.set({ step: step + 1 });
    else goOn(run, isThere ? step + 1 : step, isThere ? null : tokenId, true);
  }

  /** @param {Run} clicked @param {number} shared @param {number | null} forcedId @param {boolean} onlyNext */
  function goOn(clicked, shared, forcedId, onlyNext) {
    isWaiting = true;
    takeTurn(async () => {
      const { run, params } = store.get();
      if (!run || (run.id !== clicked.id && !hasBeginning(run, clicked, shared))) return;
      const asked = { run: run.id, shared, forced_id: forcedId, params, only_next: onlyNext };
      const reply = await question.ask(asked);
      say(parts.status, reply.problem ?? "");
      if (reply.problem || reply.stopped || store.get().run?.id !== run.id) return;
      const next = continueRun(run, reply);
      show(store, next, Math.min(shared + (forcedId === null ? 0 : 1), next.numSteps - 1));
    }).finally(() => {
      isWaiting = false;
    });
  }

  listen(parts, store, press, (run, step) => goOn(run, step, null, false));

  /** @type {import("../../page/js/types.js").Listener} */
  function draw(state) {
    const { run, params, reread, step } = state;
    const ready = Boolean(run?.logits && params && reread);
    parts.side.hidden = !ready;
    parts.empty.hidden = ready;
    bars.draw?.({ ...state, fork: press });
    if (!run?.logits || !params || !reread) return;
    drawText(parts, run, step);
    drawScore(parts, scoreOf(reread, step));
    drawSuggestions(parts, run, rereadStep(run, params, step));
    set(parts.back, { disabled: step === 0 ? "" : null });
    set(parts.restart, { disabled: step === 0 ? "" : null });
  }

  return { reads: ["run", "params", "reread", "step", "log"], update: question.take, draw };
}

/** @param {HTMLElement} element */
function build(element) {
  const head = node("div.card-head", {}, element);
  node("h2", {}, head, words.say("one_answer.sampler.title"));
  const status = node("span.note", { role: "status" }, head);
  node("p.note", {}, element, words.say("one_answer.sampler.how"));
  const board = node("div.sampler-board", {}, element);
  const left = node("div", {}, board);
  const empty = node("p.empty-note", {}, left, words.say("one_answer.sampler.empty"));
  const side = node("div.sampler-side", {}, left);
  const text = node("p.sampler-text", { translate: "no" }, side);
  const pieces = ["prompt", "chosen", "next", "rest"].map((name) => node(`span.sampler-${name}`, {}, text));
  const buttons = node("div.exports", {}, side);
  const [back, restart, finish] = ["back", "restart", "finish"].map((name) =>
    node("button.small-button", { type: "button" }, buttons, words.say(`one_answer.sampler.${name}`)),
  );
  const scores = node("dl.sampler-scores", { "aria-live": "polite" }, side);
  const numbers = SCORES.map((name) => {
    const block = node("div", {}, scores);
    const number = node("dd", {}, block);
    node("dt.note", {}, block, words.say(`one_answer.sampler.score.${name}`));
    return number;
  });
  const label = node("label.sampler-force", {}, side);
  node("span", {}, label, words.say("one_answer.sampler.force"));
  const input = node("input", { type: "text", id: "sampler-token", autocomplete: "off", translate: "no" }, label);
  const list = node(
    "div.sampler-suggestions",
    { role: "group", "aria-label": words.say("one_answer.sampler.list") },
    side,
  );
  const none = node("p.note", { role: "status" }, side);
  const bars = node("div.sampler-bars", {}, board);
  return { status, empty, side, pieces, back, restart, finish, numbers, input, list, none, bars };
}

/**
 * @param {ReturnType<typeof build>} parts @param {import("../../page/js/types.js").Store} store
 * @param {(step: number, tokenId: number) => void} press @param {(run: Run, step: number) => void} finish
 */
function listen({ back, restart, finish: end, input, list, none }, store, press, finish) {
  back.addEventListener("click", () => store.set({ step: Math.max(0, store.get().step - 1) }));
  restart.addEventListener("click", () => store.set({ step: 0 }));
  end.addEventListener("click", () => {
    const { run, step } = store.get();
    if (run?.logits) finish(run, step);
  });
  const suggest = () => {
    const { run, params, step } = store.get();
    if (run?.logits && params) drawSuggestions({ input, list, none }, run, rereadStep(run, params, step));
  };
  input.addEventListener("input", suggest);
  const choose = (/** @type {Element | null} */ button) => {
    if (button) press(store.get().step, Number(button.getAttribute("data-id")));
  };
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") choose(list.firstElementChild);
  });
  list.addEventListener("click", ({ target }) => choose(/** @type {Element} */ (target).closest("button")));
}

/** @param {ReturnType<typeof build>} parts @param {Run} run @param {number} step */
function drawText({ pieces: [prompt, chosen, next, rest] }, run, step) {
  say(prompt, `${run.prompt} `);
  say(chosen, run.pieces.slice(0, step).join(""));
  say(next, "▮");
  say(rest, run.pieces.slice(step).join(""));
}

/** @param {ReturnType<typeof build>} parts @param {ReturnType<typeof scoreOf>} score */
function drawScore({ numbers }, score) {
  const [model, settings, perplexity] = numbers;
  say(model, score ? percentOrSmall(score.model) : "–");
  say(settings, score ? percentOrSmall(score.settings) : "–");
  say(perplexity, score ? decimals(score.perplexity, 2) : "–");
}

/** The probability of a long answer is too small for a percentage. @param {import("../../page/js/numbers.js").Told} told */
function percentOrSmall(told) {
  const share = numberIn(told);
  return share >= 0.0001 || share === 0 ? percent(told) : small(told);
}

/** @param {Pick<ReturnType<typeof build>, "input" | "list" | "none">} parts @param {Run} run @param {StepReread} now */
function drawSuggestions({ input, list, none }, { vocabulary }, now) {
  const found = suggestions(now, vocabulary, input.value, SUGGESTIONS);
  const buttons = pool(list, found.length, () => node("button.small-button", { type: "button" }));
  found.forEach(({ id, place }, index) => {
    const share = modelProbTold(now, now.modelProbs[place]);
    const facts = { token: vocabulary[id], share, rank: place + 1 };
    const key = place === Infinity ? "suggestion_in_tail" : "suggestion"; // one of a large vocabulary, see binned.js
    say(buttons[index], words.say(`one_answer.sampler.${key}`, facts));
    set(buttons[index], { "data-id": id });
  });
  const isUnknown = input.value !== "" && !found.length;
  say(none, isUnknown ? words.say("one_answer.sampler.unknown", { typed: input.value, all: now.ranking.length }) : "");
}
