// One prompt, two models: asks for both answers, and shows them token above token.

import { announce } from "../../page/js/announce.js";
import { asker, isUnderWay, jobWords } from "../../page/js/jobs.js";
import { decode } from "../../page/js/run_data.js";
import { node, say } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { answersPicture } from "./answers.js";
import { choiceLine } from "./choices.js";
import { firstStep, klFacts, verdict } from "./pair.js";

/**
 * @typedef {import("../../page/js/types.js").Pair} Pair
 * @typedef {import("../../page/js/types.js").PanelApi} PanelApi
 * @typedef {import("../../page/js/run_data.js").Vocabulary} Vocabulary
 */

/** @param {HTMLElement} element @param {PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const choice = choiceLine(element, api.props.value, { ask, renew });
  const status = node("p.note", { role: "status" }, element);
  const head = node("p.two-verdict", {}, element);
  const picture = answersPicture(element, api.store);
  const question = asker(api, (job) => {
    say(status, jobWords(job));
    element.classList.toggle("is-stale", isUnderWay(job));
  });

  /** @param {string | null} [prompt]  null: that of the bar */
  async function ask(prompt = null) {
    const onThePage = api.store.get().run?.prompt ?? "";
    const reply = await question.ask({ ...choice.now(), prompt }, onThePage);
    if (reply.stopped) return;
    element.classList.remove("is-stale");
    const pair = reply.problem ? reply : await pairOf(reply, api);
    say(status, pair.problem ?? "");
    if (pair.problem) return;
    api.store.set({ pair, pairStep: firstStep(pair) });
    announce(verdictWords(pair));
  }

  /** Models may have come or gone while the page was open. */
  async function renew() {
    const choices = await api.server.choices_now().catch(() => null);
    if (choices?.sides) choice.fill(choices);
  }

  return {
    update: question.take,
    reads: ["pair", "pairStep", "params", "run"],
    draw(state) {
      const { pair, run, params } = state;
      element.classList.toggle("is-empty", !pair);
      if (pair) {
        say(head, verdictWords(pair));
        picture.draw(state);
      }
      if (!params) return; // the sliders have not come
      // Generate has been pressed with another prompt since.
      const isOther = run?.logits && run.prompt !== question.asked && run.prompt !== pair?.prompt;
      if (question.asked === null || (isOther && !question.busy)) ask();
    },
  };
}

/** Of each model by its name. @type {Map<string, Vocabulary>} */
const vocabularies = new Map();

/** What Python sent, its runs unpacked; or a problem. @param {any} reply @param {PanelApi} api @returns {Promise<any>} */
async function pairOf(reply, api) {
  const { left, reading, ...facts } = reply;
  const runs = [];
  for (const value of [left, reading]) {
    const known = vocabularies.get(value.model) ?? (await api.server.vocabulary_of(value.model));
    if (known.problem) return known;
    vocabularies.set(value.model, known);
    runs.push(decode(value, known));
  }
  return { ...facts, left: runs[0], reading: runs[1] };
}

/** @param {Pair} pair */
function verdictWords(pair) {
  const { kl, bits_per_byte: bits } = pair;
  const distance = kl
    ? words.say("two_models.verdict.kl", klFacts(kl))
    : bits
      ? words.say("two_models.verdict.bits", { left: bits[0] ?? Infinity, right: bits[1] ?? Infinity })
      : "";
  return `${words.say(verdict(pair))} ${distance}`.trim();
}
