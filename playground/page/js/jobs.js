// What runs the model is a job: it is asked for with a number, and page/jobs.py tells how it goes, under "job" in the
// value of a panel: { number, state: queued | running | done | stopped | failed, ahead, progress, problem }.

import { say, set } from "./svg.js";

// The server speaks every few seconds, also of a job that waits in line: after so long a silence the connection is gone.
const SILENCE_MS = 45_000;
const GONE = "The connection to the server was lost. Try again when it is back.";

/** @typedef {{ number: number, state: string, ahead?: number, progress?: { done: number, of: number }, problem?: string }} Job */

/** The page counts its requests; buttons count on in the same way (see jobs.py). */
export function nextNumber() {
  window.jobNumber = (window.jobNumber ?? 0) + 1;
  return window.jobNumber;
}

export const isUnderWay = (/** @type {Job | null | undefined} */ job) =>
  job?.state === "queued" || job?.state === "running";

/** How a job stands, in words: "" when it is done. `running`: what this job does. @param {Job | null | undefined} job */
export function jobWords(job, running = "Working …") {
  switch (job?.state) {
    case "queued":
      return job.ahead
        ? `Waiting for the model: ${job.ahead.toLocaleString("en")} in front of you.`
        : "Waiting for the model: you are next.";
    case "running":
      return job.progress
        ? `${running} ${job.progress.done.toLocaleString("en")} of ${job.progress.of.toLocaleString("en")}`
        : running;
    case "stopped":
      return "Stopped.";
    case "failed":
      return job.problem ?? "";
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
  let silence;

  function show(/** @type {Job} */ job) {
    clearTimeout(silence);
    const busy = isUnderWay(job);
    if (busy) silence = setTimeout(() => show({ number: newest, state: "failed", problem: GONE }), SILENCE_MS);
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
 * Follows a job and says how it stands in `words`, which is empty when it is done. What is wrong is said in `problem`.
 *
 * @param {Element} words
 * @param {{ problem?: Element, buttons?: string[], running?: string }} options
 */
export function statusFollower(words, { problem = words, buttons = [], running = "Working …" } = {}) {
  return follower({
    buttons,
    tell: (job) => {
      say(problem, "");
      say(words, "");
      say(job.state === "failed" ? problem : words, jobWords(job, running));
      problem.classList.toggle("is-problem", job.state === "failed");
    },
  });
}

/**
 * For a panel with the event "asked" that asks by itself. ask(question) resolves with the reply and never rejects: what
 * went wrong is in `problem`, and a job that was stopped has `stopped`. A newer question ends the one before it.
 *
 * @param {(job: Job) => void} tell is told how the newest question stands
 */
export function asker(api, tell = () => {}) {
  let waiting = null;

  function settle(reply) {
    const { resolve } = waiting;
    clearTimeout(waiting.silence);
    waiting = null;
    resolve(reply);
  }

  function listen() {
    clearTimeout(waiting.silence);
    waiting.silence = setTimeout(() => settle({ problem: GONE }), SILENCE_MS);
  }

  return {
    get busy() {
      return waiting !== null;
    },
    ask(question) {
      if (waiting) settle({ stopped: true });
      const number = nextNumber();
      return new Promise((resolve) => {
        waiting = { number, resolve };
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
        ...(job.state === "done" ? {} : { problem: jobWords(job), stopped: job.state === "stopped" }),
      });
    },
  };
}

let turns = Promise.resolve();
let inTurn = false;

/** Waits for its turn, then does `act`: what changes the run that all pictures show is done one after the other. */
export async function takeTurn(act) {
  const mine = turns.then(async () => {
    inTurn = true;
    try {
      await act();
    } finally {
      inTurn = false;
    }
  });
  turns = mine.catch(() => {});
  return mine;
}

/** Whether somebody's turn is under way. */
export function isTurnTaken() {
  return inTurn;
}
