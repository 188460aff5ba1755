// Branches: a person forces a token, the model goes on from there, and the answers stand one above the other.

import { asker, jobWords, takeTurn } from "../../page/js/jobs.js";
import { orderOf } from "../../page/js/ranking.js";
import { modelProb } from "../../page/js/reread.js";
import { continueRun, show } from "../../page/js/run_data.js";
import { node, pool, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/**
 * @typedef {import("../../page/js/types.js").Run} Run
 * @typedef {import("../../page/js/types.js").Store} Store
 */

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const { store } = api;
  const { status, clear, empty, list } = build(element);
  const question = asker(api, (job) => {
    if (job.state === "queued") say(status, jobWords(job));
  });
  let isWaiting = false; // for a branch
  clear.addEventListener("click", () => store.set({ branches: [] }));
  list.addEventListener("click", ({ target }) => {
    const place = [...list.children].findIndex((row) => row.contains(/** @type {Node} */ (target)));
    if (place >= 0) open(store.get().branches[place]);
  });

  /** @param {Run} run */
  function open(run) {
    show(store, run, lastForced(run) ?? Math.min(store.get().step, run.numSteps - 1));
  }

  /** Goes on from a step of the present run with another token: other pictures call it through the store.
   * @param {number} step @param {number} tokenId */
  function force(step, tokenId) {
    const { run } = store.get();
    if (!run?.logits || isWaiting) return;
    if (tokenId === run.tokenIds[step]) {
      say(status, words.say("one_answer.fork.same", { token: run.labels[step] }));
      return;
    }
    isWaiting = true;
    say(status, words.say("one_answer.fork.going_on", { token: run.vocabulary[tokenId] }));
    takeTurn(async () => say(status, await goOn(store, question, run, step, tokenId))).finally(() => {
      isWaiting = false;
    });
  }

  store.set({ fork: force });
  return {
    update: question.take,
    reads: ["run", "branches"],
    draw({ run, branches }) {
      empty.hidden = branches.length > 0;
      clear.hidden = list.hidden = !branches.length;
      const rows = pool(list, branches.length, makeRow);
      branches.forEach((branch, index) => {
        set(rows[index], { "aria-selected": String(branch.id === run?.id) });
        drawRow(rows[index], branch, index);
      });
    },
  };
}

/** @param {HTMLElement} element */
function build(element) {
  const head = node("div.card-head", {}, element);
  node("h3", {}, head, words.say("one_answer.fork.title"));
  const status = node("span.note", { role: "status", "aria-live": "polite" }, head);
  const clear = node("button.small-button", { type: "button", hidden: "" }, head, words.say("one_answer.fork.clear"));
  const empty = node("p.empty-note", {}, element, words.say("one_answer.fork.empty"));
  const list = node("div.branches", { role: "listbox", "aria-label": words.say("one_answer.fork.list") }, element);
  return { status, clear, empty, list };
}

/**
 * Asks for the branch and shows it. Returns what there is to say about it.
 * @param {Store} store @param {ReturnType<typeof asker>} question
 * @param {Run} clicked  the run as it was when the token was chosen
 * @param {number} step @param {number} tokenId
 */
async function goOn(store, question, clicked, step, tokenId) {
  const { run, params } = store.get();
  if (!run || !hasBeginning(run, clicked, step)) return words.say("one_answer.fork.overtaken");
  const reply = await question.ask({ run: run.id, shared: step, forced_id: tokenId, params });
  if (reply.problem) return reply.problem;
  const { run: present, branches } = store.get();
  if (present?.id !== run.id) return words.say("one_answer.fork.overtaken");
  const branch = continueRun(run, reply);
  store.set({ branches: [...(branches.includes(run) ? branches : [run]), branch] });
  show(store, branch, step);
  const { num_reused: reused, num_computed: fed } = reply;
  return words.say("one_answer.fork.reused", { reused, all: reused + fed, fed });
}

/** Whether a run begins as another one up to a step: the live answer may have been written again from there.
 * @param {Run} run @param {Run} other @param {number} step */
export function hasBeginning(run, other, step) {
  return (
    run.model === other.model &&
    run.prompt === other.prompt &&
    run.logits !== null &&
    step < run.numSteps &&
    other.tokenIds.slice(0, step).every((tokenId, place) => tokenId === run.tokenIds[place])
  );
}

/** @param {Run} run */
function lastForced({ forced }) {
  return forced.size ? Math.max(...forced) : null;
}

function makeRow() {
  const row = node("button.branch", { type: "button", role: "option" });
  const text = node("span.branch-text", {}, row);
  for (const kind of ["shared", "forced", "rest"]) node(`span.branch-${kind}`, {}, text);
  node("span.branch-note.note", {}, row);
  return row;
}

/** @param {HTMLElement} row @param {Run} run @param {number} index  the first is the answer as it was */
function drawRow(row, run, index) {
  const [text, note] = row.children;
  const [shared, forced, rest] = text.children;
  const step = lastForced(run) ?? run.numSteps;
  say(shared, run.pieces.slice(0, step).join(""));
  say(forced, run.labels[step] ?? "");
  say(rest, run.pieces.slice(step + 1).join(""));
  const share = index > 0 ? modelProb(orderOf(run), step, orderOf(run).places[step]) : 0;
  say(note, index > 0 ? words.say("one_answer.fork.forced", { step, share }) : words.say("one_answer.fork.as_written"));
}
