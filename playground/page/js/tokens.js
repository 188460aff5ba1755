// The answer as tokens, each underlined by how many could have stood there. Choosing one shows its step in all pictures.

import { announce } from "./announce.js";
import { jobWords } from "./jobs.js";
import { told } from "./reread.js";
import { node, pool, say, sayToken, set } from "./svg.js";
import * as words from "./words.js";

/** Of the reasons why an answer ended. @type {Record<string, string>} */
const STOP_REASONS = {
  "stop token": "page.stop_reason.stop_token",
  length: "page.stop_reason.length",
  "context full": "page.stop_reason.context_full",
  "stopped by hand": "page.stop_reason.by_hand",
};

/** The run whose end was told to screen readers. @type {string | null} */
let announced = null;

/** @param {HTMLElement} element @param {import("./types.js").PanelApi} api @returns {import("./types.js").Panel} */
export function mount(element, api) {
  const strip = node(
    "div.token-strip",
    { role: "listbox", "aria-label": words.say("page.tokens.list"), "data-arrows": "step", translate: "no" },
    element,
  );
  const empty = node("p.empty-note", {}, element, words.say("page.tokens.empty"));
  const foot = node("div.token-foot", {}, element);
  const note = node("span.token-note", {}, foot);
  const status = node("span.note", {}, foot);
  const prompt = node("span.token-prompt", { translate: "no", "data-name": words.say("page.tokens.prompt") }, foot);
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
    say(empty, waits || words.say("page.tokens.empty"));
    say(status, waits || (run ? summary(run) : ""));
    if (!run) {
      pool(strip, 0);
      return;
    }
    tell(run);
    say(prompt, shownPrompt(run));
    set(prompt, { title: run.prompt });
    const boxes = pool(strip, run.numSteps, () =>
      node("button.token", { type: "button", role: "option", tabindex: -1 }),
    );
    for (let index = 0; index < run.numSteps; index += 1) drawToken(boxes[index], index, { run, reread, step });
    say(note, [spaceAtTheEnd(run), difference(reread)].filter(Boolean).join(" "));
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
  sayToken(box, run.labels[index]);
  box.classList.toggle("is-joined", index > 0 && /^[^␣\s.,;:!?"<]/.test(run.labels[index]));
  box.classList.toggle("is-chosen", index === step);
  box.classList.toggle("is-impossible", impossible);
  box.classList.toggle("is-fork", differs);
  box.classList.toggle("is-forced", run.forced.has(index));
  // How many tokens could have stood here, between one (0) and the whole vocabulary (1).
  const many = reread ? Math.log(reread.numCandidates[index]) / Math.log(run.vocabSize) : 0;
  box.style.setProperty("--many", many.toFixed(3));
  set(box, {
    "aria-selected": String(index === step),
    tabindex: index === step ? 0 : -1,
    title: reread
      ? words.say("page.tokens.box", {
          step: index,
          now: told(reread, "chosenProb", index),
          model: told(reread, "chosenModelProb", index),
          count: told(reread, "numCandidates", index),
        })
      : null,
  });
}

/** @param {Reread | null} reread */
function difference(reread) {
  if (!reread || reread.firstDifference === null) return "";
  return words.say("page.tokens.differs", { step: reread.firstDifference });
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

/** A screen reader hears the end of a run once, however often it is drawn and by whichever tab. */
function tell(run) {
  if (!run.logits || announced === run.id) return;
  announced = run.id;
  announce(words.say("page.tokens.announced", { summary: summary(run), answer: run.pieces.join("") }));
}

/** The prompt, its last spaces made visible where the model reads them as the end of the text. */
function shownPrompt(run) {
  if (!endsWithSpace(run)) return run.prompt;
  return run.prompt.replace(/ +$/, (spaces) => "␣".repeat(spaces.length));
}

/** After a chat model's prompt its template goes on; for a base model the space is the last thing it reads. */
function endsWithSpace(run) {
  return run.prompt.endsWith(" ") && (run.promptLabels.at(-1) ?? "").endsWith("␣");
}

function spaceAtTheEnd(run) {
  return endsWithSpace(run) ? words.say("page.tokens.space_at_the_end") : "";
}

/** @param {Run} run */
function summary(run) {
  const [count, end] = [run.numSteps, stopWords(run.stopReason)];
  if (!run.logits) return words.say("page.tokens.writing", { count });
  const seconds = run.seconds.reduce((sum, one) => sum + one, 0);
  const said = run.seconds.length
    ? words.say("page.tokens.summary", { count, seconds, end })
    : words.say("page.tokens.not_timed", { count, end });
  if (run.promptLength + count <= run.trainedLength) return said;
  return words.say("page.tokens.untrained", { summary: said, most: run.trainedLength });
}

/** Why an answer ended, in words; a reason that came in a file as it stands there. @param {string} reason */
export function stopWords(reason) {
  return Object.hasOwn(STOP_REASONS, reason) ? words.say(STOP_REASONS[reason]) : reason;
}
