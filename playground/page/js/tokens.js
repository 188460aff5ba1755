// The answer as tokens, coloured by the probability each had. Choosing one shows its step in all pictures.

import { jobWords } from "./jobs.js";
import { percent } from "./numbers.js";
import { node, pool, say, set } from "./svg.js";

const EMPTY = "The answer appears here, one box for each token.";

/** @param {HTMLElement} element @param {import("./types.js").PanelApi} api @returns {import("./types.js").Panel} */
export function mount(element, api) {
  const head = node("div.card-head", {}, element);
  node("h2", {}, head, "The answer, token by token");
  const status = node("span.note", { role: "status", "aria-live": "polite" }, head);
  const prompt = node("span.token-prompt", {}, head);
  const strip = node("div.token-strip", { role: "listbox", "aria-label": "Tokens of the answer" }, element);
  const empty = node("p.empty-note", {}, element, EMPTY);
  const note = node("p.token-note", {}, element);
  let shownStep = 0;
  strip.addEventListener("click", (event) => {
    const box = /** @type {Element} */ (event.target).closest(".token");
    if (box) api.store.set({ step: Number(box.getAttribute("data-step")) });
  });

  /** @type {import("./types.js").Listener} */
  function draw({ run, reread, step, job }) {
    empty.hidden = Boolean(run);
    prompt.hidden = note.hidden = !run;
    const waits = job?.state === "queued" ? jobWords(job) : "";
    say(empty, waits || EMPTY);
    say(status, waits || (run ? summary(run) : ""));
    if (!run) {
      pool(strip, 0);
      return;
    }
    say(prompt, run.prompt);
    set(prompt, { title: run.prompt });
    const boxes = pool(strip, run.numSteps, () =>
      node("button.token", { type: "button", role: "option", tabindex: -1 }),
    );
    for (let index = 0; index < run.numSteps; index += 1) drawToken(boxes[index], index, { run, reread, step });
    say(note, difference(reread));
    if (step !== shownStep) reveal(strip, boxes[step]);
    shownStep = step;
  }

  return { reads: ["run", "reread", "step", "job"], draw };
}

/**
 * @typedef {import("./types.js").Run} Run
 * @typedef {import("./types.js").Reread} Reread
 */

/** @param {HTMLElement} box @param {number} index @param {{ run: Run, reread: Reread | null, step: number }} shown */
function drawToken(box, index, { run, reread, step }) {
  const share = reread ? reread.chosenProb[index] : 0;
  const impossible = Boolean(reread) && share === 0;
  const differs = reread?.firstDifference === index;
  box.dataset.step = String(index);
  say(box, run.labels[index]);
  box.classList.toggle("is-chosen", index === step);
  box.classList.toggle("is-impossible", impossible);
  box.classList.toggle("is-fork", differs);
  box.classList.toggle("is-forced", run.forced.has(index));
  box.style.setProperty("--share", reread ? (0.12 + 0.6 * share).toFixed(3) : "0.12");
  set(box, {
    "aria-selected": String(index === step),
    tabindex: index === step ? 0 : -1,
    title: reread
      ? `step ${index}: ${percent(share)} now, ${percent(reread.chosenModelProb[index])} by the model`
      : null,
  });
}

/** @param {Reread | null} reread */
function difference(reread) {
  if (!reread || reread.firstDifference === null) return "";
  return `From step ${reread.firstDifference} on the answer would be another one: the same random number now picks a different token there.`;
}

/** In a long answer the strip scrolls to the step looked at; the page itself stays where it is.
 * @param {HTMLElement} strip @param {HTMLElement | undefined} box */
function reveal(strip, box) {
  if (!box || strip.scrollHeight <= strip.clientHeight) return;
  const top = box.offsetTop - strip.offsetTop;
  if (top < strip.scrollTop) strip.scrollTop = top;
  else if (top + box.offsetHeight > strip.scrollTop + strip.clientHeight)
    strip.scrollTop = top + box.offsetHeight - strip.clientHeight;
}

/** @param {Run} run */
function summary(run) {
  const tokens = `${run.numSteps} token${run.numSteps === 1 ? "" : "s"}`;
  if (!run.logits) return `Writing … ${tokens}`;
  const seconds = run.seconds.reduce((sum, one) => sum + one, 0);
  /** @type {Record<string, string>} */
  const ends = {
    "stop token": "ended by the model",
    length: "cut at the length asked for",
    "context full": "context full",
  };
  const untrained =
    run.promptLength + run.numSteps > run.trainedLength
      ? `; beyond ${run.trainedLength} tokens the model was not trained`
      : "";
  return `${tokens} in ${(1000 * seconds).toFixed(0)} ms, ${ends[run.stopReason] ?? run.stopReason}${untrained}`;
}
