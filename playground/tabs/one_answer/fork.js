// Branches: a person forces a token, the model goes on from there, and the answers stand one above the other.

import { asker, jobWords, takeTurn } from "../../page/js/jobs.js";
import { percent } from "../../page/js/numbers.js";
import { continueRun, show } from "../../page/js/run_data.js";
import { node, pool, say, set } from "../../page/js/svg.js";

const OVERTAKEN = "Another answer was written meanwhile. Click again to go on from this one.";

export function mount(element, api) {
  const question = asker(api, (job) => {
    if (job.state === "queued") say(status, jobWords(job));
  });
  const head = node("div.card-head", {}, element);
  node("h2", {}, head, "What if it had said …");
  const status = node("span.note", { role: "status", "aria-live": "polite" }, head);
  const clear = node("button.small-button", { type: "button", hidden: "" }, head, "Clear");
  const empty = node(
    "p.empty-note",
    {},
    element,
    "Click a candidate in the picture of the next token: the answer goes on from it, and both stand here.",
  );
  const list = node("div.branches", { role: "listbox", "aria-label": "Branches of the answer" }, element);
  let waiting = false; // for a branch
  let runs = []; // the answer as it was, then its branches

  clear.addEventListener("click", () => {
    runs = [];
    draw(api.store.get());
  });
  list.addEventListener("click", (event) => {
    const row = event.target.closest(".branch");
    if (row) open(runs[Number(row.dataset.index)]);
  });

  function open(run) {
    const from = Math.min(api.store.get().step, run.numSteps - 1);
    show(api.store, run, lastForced(run) ?? from);
  }

  /** Goes on from `step` of the present run with token `id`: other pictures call it through the store. */
  function force(step, id) {
    const clicked = api.store.get().run;
    if (!clicked?.logits || waiting) return;
    if (id === clicked.tokenIds[step]) {
      say(status, `${clicked.labels[step]} is what stands there already.`);
      return;
    }
    waiting = true;
    say(status, `Going on with ${clicked.vocabulary[id]} …`);
    takeTurn(() => goOn(clicked, step, id)).finally(() => {
      waiting = false;
      api.store.set({}); // the live answer waited
    });
  }

  async function goOn(clicked, step, id) {
    const { run, params } = api.store.get();
    // The live answer may have been written again while this waited for its turn: the same up to the step is enough.
    const same =
      run.model === clicked.model &&
      run.prompt === clicked.prompt &&
      clicked.tokenIds.slice(0, step).every((before, place) => before === run.tokenIds[place]);
    if (!same || !run.logits || step >= run.numSteps) {
      say(status, OVERTAKEN);
      return;
    }
    run.live = false; // it is shown here from now on
    const reply = await question.ask({ run: run.id, shared: step, forced_id: id, params });
    if (reply.problem) {
      say(status, reply.problem);
      return;
    }
    if (api.store.get().run.id !== run.id) {
      say(status, OVERTAKEN);
      return;
    }
    if (!runs.some((kept) => kept.id === run.id)) runs = [run];
    const branch = continueRun(run, reply);
    runs.push(branch);
    say(
      status,
      `${reply.num_reused} of ${reply.num_reused + reply.num_fed} tokens came from the kept cache, ${reply.num_fed} were fed.`,
    );
    show(api.store, branch, step);
  }

  function draw({ run }) {
    empty.hidden = runs.length > 0;
    clear.hidden = list.hidden = !runs.length;
    const rows = pool(list, runs.length, makeRow);
    runs.forEach((each, index) => drawRow(rows[index], each, index, run));
  }

  function makeRow() {
    const row = node("button.branch", { type: "button", role: "option" });
    const text = node("span.branch-text", {}, row);
    for (const kind of ["shared", "forced", "rest"]) node(`span.branch-${kind}`, {}, text);
    node("span.branch-note.note", {}, row);
    return row;
  }

  function drawRow(row, run, index, present) {
    row.dataset.index = index;
    set(row, { "aria-selected": String(run.id === present?.id) });
    const [text, note] = row.children;
    const place = lastForced(run) ?? run.numSteps;
    const said = (from, to) => run.pieces.slice(from, to).join("");
    say(text.children[0], said(0, place));
    say(text.children[1], place < run.numSteps ? run.labels[place] : "");
    say(text.children[2], said(place + 1));
    say(note, index === 0 ? "as written" : `step ${place}, the model gave it ${percent(modelShare(run, place))}`);
  }

  api.store.set({ fork: force });
  return { reads: ["run"], update: question.take, draw };
}

function lastForced(run) {
  return run.forced.size ? Math.max(...run.forced) : null;
}

/** The model's own probability of the token at a step; worked out once. */
function modelShare(run, step) {
  run.forcedShare ??= new Map();
  if (!run.forcedShare.has(step)) {
    const logits = run.logits.subarray(step * run.vocabSize, (step + 1) * run.vocabSize);
    const top = logits.reduce((most, logit) => Math.max(most, logit), -Infinity);
    const sum = logits.reduce((total, logit) => total + Math.exp(logit - top), 0);
    run.forcedShare.set(step, Math.exp(logits[run.tokenIds[step]] - top) / sum);
  }
  return run.forcedShare.get(step);
}
