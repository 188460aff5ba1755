// What runs the model is a job: it is asked for with a number, and page/jobs.py tells how it goes, under "job" in the
// value of a panel: { number, state: queued | running | done | stopped | failed, ahead, progress, problem, gave_way }.

import { say, set } from "./svg.js";
import * as words from "./words.js";

// The server speaks every few seconds, also of a job that waits in line: after so long a silence the connection is gone.
const SILENCE_MS = 45_000;

/** What a panel does when the server does not take in its request of that number. @type {Map<number, (problem: string) => void>} */
const refusals = new Map();

/** @typedef {{ number: number, state: string, ahead?: number, progress?: { done: number, of: number }, problem?: string,
 *   gave_way?: boolean }} Job  gave_way: what a picture asked for had to make room for what was asked for later */

/** The page counts its requests; buttons count on in the same way (see jobs.py). */
export function nextNumber() {
  const page = /** @type {Window & { jobNumber?: number }} */ (window);
  page.jobNumber = (page.jobNumber ?? 0) + 1;
  return page.jobNumber;
}

/**
 * Gradio tells nobody but the reader of its toast that a request was refused on its way (too large, too many, no
 * server): the panel would wait for it until the silence is too long.
 */
export function listenForRefusals() {
  const plain = window.fetch.bind(window);
  window.fetch = async (address, options) => {
    if (!String(address).includes("/queue/join")) return plain(address, options);
    try {
      const response = await plain(address, options);
      if (!response.ok) tellRefused(options?.body, await problemIn(response.clone()));
      return response;
    } catch (error) {
      tellRefused(options?.body, words.say("page.job.gone"));
      throw error;
    }
  };
}

/** @param {Response} response */
async function problemIn(response) {
  const told = await response.json().catch(() => null);
  const problem = told?.detail ?? told?.error;
  return typeof problem === "string" && response.status !== 503 ? problem : words.say("page.line.full");
}

/** @param {unknown} body  what was sent, with the number in the question of a panel @param {string} problem */
function tellRefused(body, problem) {
  const { data } = JSON.parse(String(body));
  refusals.get(data?.[0]?.number)?.(problem);
}

export const isUnderWay = (/** @type {Job | null | undefined} */ job) =>
  job?.state === "queued" || job?.state === "running";

/** How a job stands, in words: "" when it is done. @param {Job | null | undefined} job @param {string} running  what it does */
export function jobWords(job, running = words.say("page.job.working")) {
  switch (job?.state) {
    case "queued":
      return words.say("page.job.waiting", { ahead: job.ahead ?? 0 });
    case "running":
      return job.progress
        ? words.say("page.job.progress", { running, done: job.progress.done, of: job.progress.of })
        : running;
    case "stopped":
      return words.say("page.job.stopped");
    case "failed":
      return words.text(job.problem);
    default:
      return "";
  }
}

/**
 * Follows the jobs of a panel that buttons start. hear(value) is called with every value of the panel; it answers
 * whether the value counts: it is of the newest request, or is no job's at all. `tell` is told how that job stands.
 *
 * @param {{ buttons?: string[], tell: (job: Job) => void }} options buttons: selectors, busy while the job goes on
 */
export function follower({ buttons = [], tell }) {
  let newest = 0;
  /** @type {ReturnType<typeof setTimeout>} */
  let silence;

  function show(/** @type {Job} */ job) {
    clearTimeout(silence);
    const busy = isUnderWay(job);
    if (busy)
      silence = setTimeout(
        () => show({ number: newest, state: "failed", problem: words.say("page.job.gone") }),
        SILENCE_MS,
      );
    for (const button of buttons.flatMap((selector) => [...document.querySelectorAll(selector)]))
      set(button, { "aria-busy": busy ? "true" : null });
    tell(job);
  }

  return {
    /** A panel that asks by itself says which request is its newest. */
    expect(/** @type {number} */ number) {
      newest = number;
    },
    hear(value) {
      const job = value?.job;
      if (!job) return true;
      if (job.number < newest) return false;
      newest = job.number;
      show(job);
      return true;
    },
  };
}

/**
 * Follows a job and says how it stands in `status`, which is empty when it is done. What is wrong is said in `problem`.
 *
 * @param {Element} status
 * @param {{ problem?: Element, buttons?: string[], running?: string }} options
 */
export function statusFollower(status, { problem = status, buttons = [], running } = {}) {
  return follower({
    buttons,
    tell: (job) => {
      say(problem, "");
      say(status, "");
      say(job.state === "failed" ? problem : status, jobWords(job, running));
      problem.classList.toggle("is-problem", job.state === "failed");
    },
  });
}

/**
 * For a panel with the event "asked" that asks by itself. ask(question) resolves with the reply and never rejects: what
 * went wrong is in `problem`, and a job that was stopped has `stopped`, and `gaveWay` if not by the visitor. A newer
 * question ends the one before it. A panel that asks when it is seen asks while `asked` is not what it would ask about.
 *
 * @param {(job: Job) => void} tell is told how the newest question stands
 */
export function asker(api, tell = () => {}) {
  let waiting = null;
  /** @type {string | null} */
  let asked = null;

  function settle(reply) {
    const { resolve, number } = waiting;
    if (reply.gaveWay) asked = null; // seen again, the panel asks again
    refusals.delete(number);
    clearTimeout(waiting.silence);
    waiting = null;
    resolve(reply);
  }

  function listen() {
    clearTimeout(waiting.silence);
    waiting.silence = setTimeout(() => settle({ problem: words.say("page.job.gone") }), SILENCE_MS);
  }

  return {
    get busy() {
      return waiting !== null;
    },
    /** What the newest question is about; null where there was none, or it gave way. */
    get asked() {
      return asked;
    },
    ask(question, about = "") {
      if (waiting) settle({ stopped: true });
      asked = about;
      const number = nextNumber();
      return new Promise((resolve) => {
        waiting = { number, resolve };
        refusals.set(number, (problem) => settle({ problem }));
        listen();
        api.setValue({ ...question, number });
        api.trigger("asked");
      });
    },
    /** Call it with every value that the panel is given. */
    take(value) {
      const job = value?.job;
      if (!waiting || job?.number !== waiting.number) return;
      listen();
      tell(job);
      if (isUnderWay(job)) return;
      settle({
        ...value,
        ...(job.state === "done"
          ? {}
          : { problem: jobWords(job), stopped: job.state === "stopped", gaveWay: Boolean(job.gave_way) }),
      });
    },
  };
}

let turns = Promise.resolve();

/** Waits for its turn, then does `act`: what changes the run that all pictures show is done one after the other. */
export async function takeTurn(act) {
  const mine = turns.then(act);
  turns = mine.catch(() => {});
  return mine;
}
