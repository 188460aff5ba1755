// The answer as text, and the switch: with it on, the model writes again from the first token that the sliders change.

import { asker, isTurnTaken, jobWords, takeTurn } from "../../page/js/jobs.js";
import { continueRun } from "../../page/js/run_data.js";
import { node, say, set } from "../../page/js/svg.js";

export function mount(element, api) {
  const question = asker(api, (job) => {
    if (job.state === "queued") say(status, jobWords(job));
  });
  const head = node("div.card-head", {}, element);
  node("h2", {}, head, "The answer");
  const label = node("label.switch", {}, head);
  const live = node("input", { type: "checkbox", role: "switch", id: "live" }, label);
  node("span", {}, label, "Live");
  const status = node("span.note", { role: "status", "aria-live": "polite" }, head);
  const text = node("p.answer-text", {}, element);
  const same = node("span", {}, text);
  const changed = node("span.answer-changed", {}, text);
  live.checked = true;
  let answered = null; // the settings of the last question: the same are not asked again
  let from = null; // the step from which the present text was written again
  let problem = false;
  let writing = false; // the model is asked
  live.addEventListener("change", () => {
    from = null;
    answered = null;
    draw(api.store.get());
  });

  function draw(state) {
    const { run, params } = state;
    text.hidden = !run;
    if (!run) {
      say(status, "Press Generate: then the text follows the sliders.");
      return;
    }
    if (!run.live) from = null;
    const cut = from ?? run.numSteps;
    say(same, run.pieces.slice(0, cut).join(""));
    say(changed, run.pieces.slice(cut).join(""));
    const place = run.logits && params ? firstChange(state) : null;
    const isBehind = live.checked && (writing || (place !== null && answered !== params));
    set(text, { "aria-busy": String(isBehind) });
    if (!live.checked) say(status, frozen(run, params, place));
    else if (isTurnTaken())
      return; // when it is over, this is drawn again
    else if (place === null && !problem) say(status, words(run));
    else if (place !== null && answered !== params)
      takeTurn(() => writeAgain(state, place)).then(() => api.store.set({}));
  }

  /** Another seed means other random numbers at every step; with T = 0 they change nothing. */
  function firstChange({ run, params, reread }) {
    if (isReseeded(run, params)) return 0;
    return reread?.firstDifference ?? null;
  }

  async function writeAgain({ run, params }, place) {
    answered = params;
    writing = true;
    const reply = await question.ask({
      run: run.id,
      shared: place,
      forced_id: null,
      params,
      replace: Boolean(run.live),
    });
    writing = false;
    problem = Boolean(reply.problem);
    if (problem) {
      say(status, reply.problem);
      return;
    }
    if (api.store.get().run.id !== run.id) return;
    const next = continueRun(run, reply);
    next.live = true;
    from = place;
    api.store.set({ run: next });
  }

  function words(run) {
    if (from === null) return "The text follows the sliders; only what they change is written again.";
    return `The same up to step ${from}; from there ${run.numSteps - from} tokens written again.`;
  }

  return { update: question.take, draw };
}

function isReseeded(run, params) {
  return params.seed !== run.params.seed && params.temperature !== 0;
}

function frozen(run, params, place) {
  if (place === null) return "Frozen. The sliders would write the same.";
  if (isReseeded(run, params)) return "Frozen. Another seed gives other random numbers: press Generate.";
  return `Frozen. It would differ from step ${place}.`;
}
