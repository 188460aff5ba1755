// The chosen step: pale bar what the model said, solid bar what the sliders made of it. Cut tokens stay, and say what cut them.
// With { full: true } as value: the sum of the probabilities as a curve, and a click on a token forces it.

import { barLength, keptMass, othersOf, rowsShown } from "./candidates.js";
import { percent } from "./numbers.js";
import { cutterOf, isKept, rereadStep } from "./reread.js";
import { rulerPicture } from "./ruler.js";
import { sumCurve } from "./sum_curve.js";
import { node, pool, say, set } from "./svg.js";
import { tipCard } from "./token_tip.js";
import * as words from "./words.js";

/**
 * @typedef {import("./types.js").StepReread} StepReread
 * @typedef {import("./types.js").Run} Run
 * @typedef {{ now: StepReread, run: Run, log: boolean }} Drawn  the step as it is drawn
 */

const ROWS = 14,
  ROWS_WITH_FORMULA = 11;

/** @param {HTMLElement} element @param {import("./types.js").PanelApi} api @returns {import("./types.js").Panel} */
export function mount(element, api) {
  const full = Boolean(api.props.value?.full);
  const head = headOf(element, api.store);
  const empty = node("p.empty-note", {}, element, words.say("page.distribution.empty"));
  const table = node("div.bars", full ? { role: "group" } : { role: "img" }, element);
  const curve = full ? sumCurve(table) : null;
  const holder = node("div.bar-rows", {}, table);
  const canForce = () => full && api.store.get().fork !== null;
  const tip = tipCard(element, () => (canForce() ? words.say("page.distribution.force") : ""));
  const others = fillRow(node("div.bar-row.others", {}, element));
  const ruler = rulerPicture(node("div.ruler", {}, element));
  const attributes = full ? { role: "button", tabindex: 0 } : {};
  /** @type {{ now: StepReread | null, places: number[] }} */
  const shown = { now: null, places: [] };

  /** @type {import("./types.js").Listener} */
  function draw(state) {
    const { run, params, step, log } = state;
    const ready = Boolean(run?.logits && params);
    element.classList.toggle("is-empty", !ready);
    empty.hidden = ready;
    head.draw(state);
    if (!run?.logits || !params) return;
    const now = rereadStep(run, params, step);
    const places = rowsShown(now, run.vocabSize, full ? ROWS_WITH_FORMULA : ROWS);
    Object.assign(shown, { now, places });
    const rows = pool(holder, places.length, () => fillRow(node("div.bar-row", attributes)));
    for (const [index, place] of places.entries()) drawRow(rows[index], place, index, { now, run, log });
    curve?.draw(now, places, state, rows);
    tip.redraw(now, run);
    drawOthers(others, places, { now, run, log });
    ruler.draw(now, run, api.width);
    set(table, { "aria-label": spoken(now, run) });
  }

  // A token under the pointer explains itself, here and in the formula.
  followRows(holder, full, {
    look(row) {
      const { run } = api.store.get();
      const place = row ? shown.places[[...holder.children].indexOf(row)] : undefined;
      if (row && run && shown.now && place !== undefined) {
        tip.show(row, place, shown.now, run);
        api.store.set({ hover: shown.now.ranking[place] });
      } else {
        tip.hide();
        api.store.set({ hover: null });
      }
    },
    choose(row) {
      const { fork, step } = api.store.get();
      if (!shown.now || !fork) return;
      this.look(null);
      fork(step, shown.now.ranking[shown.places[[...holder.children].indexOf(row)]]);
    },
  });

  return { reads: ["run", "params", "step", "log", "fork"], draw };
}

/** The title, the settings, and the switch to a logarithmic axis. @param {Element} element @param {import("./types.js").Store} store */
function headOf(element, store) {
  const head = node("div.card-head", {}, element);
  const title = node("h2", {}, head);
  const note = node("span.note", {}, head);
  const scale = node(
    "button.small-button",
    { type: "button", title: words.say("page.distribution.log_title") },
    head,
    words.say("page.distribution.log"),
  );
  scale.addEventListener("click", () => store.set({ log: !store.get().log }));
  return {
    /** @type {import("./types.js").Listener} */
    draw({ run, params, step, log }) {
      say(title, run ? words.say("page.distribution.title_at", { step }) : words.say("page.distribution.title"));
      set(scale, { "aria-pressed": String(log) });
      if (!run?.logits || !params) return;
      const { temperature, top_p, top_k } = params;
      say(note, words.say("page.distribution.settings", { temperature, top_p, top_k }));
    },
  };
}

/**
 * Pointer, focus, click and Enter on the rows.
 * @param {HTMLElement} holder
 * @param {boolean} full  whether a token can be chosen
 * @param {{ look: (row: HTMLElement | null) => void, choose: (row: HTMLElement) => void }} on
 */
function followRows(holder, full, on) {
  /** @param {Event} event @returns {HTMLElement | null} */
  const rowOf = (event) => /** @type {Element} */ (event.target).closest(".bar-row");
  /** @param {Event} event */
  const choose = (event) => {
    const row = rowOf(event);
    if (row) on.choose(row);
  };
  holder.addEventListener("pointerover", (event) => {
    const row = rowOf(event);
    if (row) on.look(row);
  });
  holder.addEventListener("pointerleave", () => on.look(null));
  if (!full) return;
  holder.addEventListener("click", choose);
  holder.addEventListener("focusin", (event) => on.look(rowOf(event)));
  holder.addEventListener("focusout", () => on.look(null));
  holder.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    choose(event);
  });
}

/** @param {HTMLElement} row */
function fillRow(row) {
  node("span.bar-label", {}, row);
  const lane = node("span.bar-lane", {}, row);
  node("span.bar-pale", {}, lane);
  node("span.bar-solid", {}, lane);
  node("span.bar-number", {}, row);
  return row;
}

/** @param {HTMLElement} row @param {string} label @param {[number, number]} lengths @param {string} beside */
function writeRow(row, label, lengths, beside) {
  const [name, lane, number] = row.children;
  say(name, label);
  lengths.forEach((length, which) => {
    /** @type {HTMLElement} */ (lane.children[which]).style.transform = `scaleX(${length})`;
  });
  say(number, beside);
}

/** @param {HTMLElement} row @param {number} place @param {number} index @param {Drawn} drawn */
function drawRow(row, place, index, { now, run, log }) {
  const isLast = place === now.stop - 1;
  row.classList.toggle("is-cut", !isKept(now, place));
  row.classList.toggle("is-chosen", place === now.chosenPlace);
  row.classList.toggle("is-last-kept", isLast);
  row.classList.toggle("is-first-kept", place === now.start && place > 0);
  const lengths = [now.modelProbs[place], now.probs[place]].map((share) => barLength(share, log));
  writeRow(row, run.vocabulary[now.ranking[place]], [lengths[0], lengths[1]], numberWords(now, place, index));
  if (!isLast) return;
  const facts = { count: now.numCandidates, mass: keptMass(now) };
  set(row, { "data-cut": words.say("page.distribution.keeps", facts) });
}

/** @param {HTMLElement} row @param {number[]} places @param {Drawn} drawn */
function drawOthers(row, places, { now, run, log }) {
  const { model, after, kept } = othersOf(now, places);
  writeRow(
    row,
    words.say("page.distribution.others", { count: run.vocabSize - places.length }),
    [barLength(model, log), barLength(after, log)],
    kept
      ? words.say("page.distribution.others_kept", { share: after, kept })
      : words.say("page.distribution.others_cut", { share: model }),
  );
}

/** The probability, and what cut the token; for one that stands out of its order the rank.
 * @param {StepReread} now @param {number} place @param {number} index */
function numberWords(now, place, index) {
  const [kept, share, rank] = [isKept(now, place), now.probs[place], place + 1];
  if (place === index && kept) return percent(share);
  if (place === index) {
    const facts = { share: now.modelProbs[place], cut: cutWords(now, place) };
    return words.say("page.distribution.cut_row", facts);
  }
  if (kept) return words.say("page.distribution.kept_rank", { share, rank });
  return words.say("page.distribution.cut_rank", { cut: cutWords(now, place), rank });
}

/** @param {StepReread} now @param {number} place */
function cutWords(now, place) {
  const cutter = cutterOf(now, place);
  if (!cutter || cutter === now.uncut) return words.say("page.cut.impossible");
  return words.say(
    cutter.name === "temperature" && cutter.numKept === 1 ? "page.cut.greedy" : `page.cut.${cutter.name}`,
  );
}

/** @param {StepReread} now @param {Run} run */
function spoken(now, run) {
  const token = run.vocabulary[now.ranking[now.start]];
  return words.say("page.distribution.spoken", { count: now.numCandidates, token, share: now.probs[now.start] });
}
