// The chosen step as bars: pale what the model said, solid what the sliders made of it. What a stage cut stands grey
// below a line that names the stage. With { full: true } as value: the sum of the probabilities as a curve, and a click on
// a token forces it.

import { barLength, cutters, keptMass, rowsOf } from "./candidates.js";
import { about, percent } from "./numbers.js";
import { countTold, isKept, probTold, rereadStep } from "./reread.js";
import { rulerPicture } from "./ruler.js";
import { sumCurve } from "./sum_curve.js";
import { node, pool, say, sayToken, set } from "./svg.js";
import { tipCard } from "./token_tip.js";
import * as words from "./words.js";

/**
 * @typedef {import("./types.js").StepReread} StepReread
 * @typedef {import("./types.js").Run} Run
 * @typedef {import("./candidates.js").Row} Row
 * @typedef {{ now: StepReread, run: Run, log: boolean }} Drawn  the step as it is drawn
 */

const ROWS = 8; // tokens with a row of their own
const MARKS = [0, 0.25, 0.5, 0.75, 1]; // of the axis
const LOG_MARKS = [1e-4, 1e-3, 1e-2, 0.1, 1]; // at the same places
const CONTEXT = 28; // letters of the text so far in the title

/** @param {HTMLElement} element @param {import("./types.js").PanelApi} api @returns {import("./types.js").Panel} */
export function mount(element, api) {
  const full = Boolean(api.props.value?.full);
  const head = headOf(element, api.store);
  const empty = node("p.empty-note", {}, element, words.say("page.distribution.empty"));
  const table = node("div.bars", full ? { role: "group" } : { role: "img" }, element);
  const axis = axisOf(table);
  const curve = full ? sumCurve(table) : null;
  const holder = node("div.bar-rows", {}, table);
  const cut = node("div.bar-cut", {}, table);
  const canForce = () => full && api.store.get().fork !== null;
  const tip = tipCard(element, () => (canForce() ? words.say("page.distribution.force") : ""));
  const ruler = rulerPicture(node("div.ruler", {}, element));
  /** @type {{ run: import("./types.js").Run | null, now: StepReread | null, rows: Row[] }} */
  const shown = { run: null, now: null, rows: [] };

  /** @type {import("./types.js").Listener} */
  function draw(state) {
    const { run, params, step, log } = state;
    const ready = Boolean(run?.logits && params);
    element.classList.toggle("is-empty", !ready && !shown.now);
    element.classList.toggle("is-stale", !ready && Boolean(shown.now)); // a run is being written
    empty.hidden = ready || Boolean(shown.now);
    if (!run?.logits || !params) return;
    head.draw(state);
    const now = rereadStep(run, params, step);
    Object.assign(shown, { run, now, rows: rowsOf(now, ROWS, log || full) }); // any token can be forced
    axis(log);
    const lines = drawRows(holder, cut, shown.rows, { now, run, log });
    for (const line of full ? lines : [])
      set(line, line.classList.contains("is-rest") ? { role: null, tabindex: null } : { role: "button", tabindex: 0 });
    curve?.draw(now, shown.rows, state, lines);
    tip.redraw(now, run);
    ruler.draw(now, run, api.width);
    set(table, { "aria-label": spoken(now, run) });
  }

  // A token under the pointer explains itself, here and in the formula.
  followRows(holder, full, {
    look(row) {
      const { run, now } = shown; // what is drawn: the page may be writing the next answer
      const place = row ? placeOf(row) : null;
      if (row && run && now && place !== null) {
        tip.show(row, place, now, run);
        api.store.set({ hover: now.ranking[place] });
      } else {
        tip.hide();
        api.store.set({ hover: null });
      }
    },
    choose(row) {
      const { fork, step } = api.store.get();
      const place = placeOf(row);
      if (!shown.now || !fork || place === null) return;
      this.look(null);
      fork(step, shown.now.ranking[place]);
    },
  });

  /** Of the token in a row; null in the rows of all others. @param {HTMLElement} row */
  function placeOf(row) {
    const entry = shown.rows[[...holder.children].indexOf(row)];
    return entry?.kind === "token" ? entry.place : null;
  }

  return { reads: ["run", "params", "step", "log", "fork"], draw };
}

/** The title, the place in the answer, and the switch to a logarithmic axis.
 * @param {Element} element @param {import("./types.js").Store} store */
function headOf(element, store) {
  const head = node("div.card-head", {}, element);
  const title = node("h2", {}, head);
  const note = node("span.note", {}, head);
  const attributes = { type: "button", title: words.say("page.distribution.log_title") };
  const scale = node("button.small-button", attributes, head, words.say("page.distribution.log"));
  scale.addEventListener("click", () => store.set({ log: !store.get().log }));
  say(title, words.say("page.distribution.title"));
  return {
    /** @type {import("./types.js").Listener} */
    draw({ run, step, log }) {
      set(scale, { "aria-pressed": String(log) });
      if (!run) return;
      const text = step ? words.say("page.distribution.title_after", { text: context(run, step) }) : "";
      say(title, text || words.say("page.distribution.title_first"));
      say(note, words.say("page.distribution.place", { number: step + 1, of: run.numSteps }));
    },
  };
}

/** The end of the text so far, from the beginning of a word. @param {Run} run @param {number} step */
function context({ pieces }, step) {
  const text = pieces.slice(0, step).join("").trim();
  if (text.length <= CONTEXT) return text;
  const end = text.slice(-CONTEXT);
  return `… ${end.slice(end.indexOf(" ") + 1)}`;
}

/** @param {Element} table @returns {(log: boolean) => void} */
function axisOf(table) {
  const axis = node("div.bar-axis", { "aria-hidden": "true" }, table);
  const marks = MARKS.map((at) => {
    const mark = node("span", {}, axis);
    mark.style.left = `${100 * at}%`;
    return mark;
  });
  return (log) => {
    for (const [index, mark] of marks.entries()) say(mark, percentMark((log ? LOG_MARKS : MARKS)[index]));
  };
}

/** 25 %, 0.01 %: no more digits than it has. @param {number} share */
const percentMark = (share) => words.say("page.distribution.mark", { percent: 100 * share });

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

function makeRow() {
  const row = node("div.bar-row");
  node("span.bar-label", {}, row);
  const lane = node("span.bar-lane", {}, row);
  for (const part of ["pale", "solid", "number"]) node(/** @type {any} */ (`span.bar-${part}`), {}, lane);
  return row;
}

/** @param {HTMLElement} holder @param {HTMLElement} cut @param {Row[]} rows @param {Drawn} drawn @returns {HTMLElement[]} */
function drawRows(holder, cut, rows, drawn) {
  const lines = [...pool(holder, rows.length, makeRow)];
  const { now, log } = drawn;
  let lastKept = 0;
  for (const [index, row] of rows.entries()) {
    const isToken = row.kind === "token";
    const kept = isToken ? isKept(now, row.place) : row.kind === "more";
    if (kept) lastKept = index;
    const [model, after] = isToken ? [now.modelProbs[row.place], now.probs[row.place]] : [row.model, row.after];
    const line = lines[index];
    line.classList.toggle("is-cut", !kept);
    line.classList.toggle("is-rest", !isToken);
    line.classList.toggle("is-chosen", isToken && row.place === now.chosenPlace);
    line.classList.toggle("is-sampled", isToken && row.place === now.sampledPlace && row.place !== now.chosenPlace);
    line.classList.toggle("is-first-kept", isToken && row.place === now.start && index > 0);
    writeRow(
      line,
      labelOf(row, drawn),
      [barLength(model, log), barLength(after, log)],
      percent(shareTold(now, kept, isToken, kept ? after : model)),
    );
  }
  // The line below the last kept row is no row: it takes its place by CSS, so that rows can be counted.
  for (const [index, line] of lines.entries()) line.style.order = String(index <= lastKept ? 1 : 3);
  say(cut, cutWords(now));
  return lines;
}

/** Of a row of many tokens, how many they are counts too. @param {StepReread} now @param {boolean} kept
 * @param {boolean} isToken @param {number} share  after all stages, or by the model */
function shareTold({ estimated }, kept, isToken, share) {
  const isEstimate = kept ? estimated.probs : estimated.modelProbs;
  return about(share, isEstimate || (!isToken && estimated.numCandidates));
}

/** @param {HTMLElement} row @param {string} label @param {[number, number]} lengths @param {string} beside */
function writeRow(row, label, lengths, beside) {
  const [name, lane] = row.children;
  const [pale, solid, number] = /** @type {HTMLCollectionOf<HTMLElement>} */ (lane.children);
  sayToken(name, label);
  pale.style.transform = `scaleX(${lengths[0]})`;
  solid.style.transform = `scaleX(${lengths[1]})`;
  number.style.left = `${100 * Math.max(...lengths)}%`;
  say(number, beside);
}

/** @param {Row} row @param {Drawn} drawn */
function labelOf(row, { now, run }) {
  if (row.kind === "token") return run.vocabulary[now.ranking[row.place]];
  return words.say(`page.distribution.${row.kind}`, { count: about(row.count, now.estimated.numCandidates) });
}

/** How many tokens are kept, and what cut the others. @param {StepReread} now */
function cutWords(now) {
  const stages = cutters(now).map((name) => words.say(`page.stage.${name}`));
  const facts = { kept: countTold(now), of: now.ranking.length };
  if (!stages.length) return words.say("page.distribution.all_kept", facts);
  if (now.stages.some(({ name, numKept, cuts }) => name === "temperature" && cuts && numKept === 1))
    return words.say("page.distribution.greedy");
  const { modelProbs, numCandidates } = now.estimated; // which tokens are cut may be an estimate too
  const mass = about(1 - keptMass(now), modelProbs || numCandidates);
  return words.say("page.distribution.kept", { ...facts, stages: stages.join(", "), mass });
}

/** @param {StepReread} now @param {Run} run */
function spoken(now, run) {
  const token = run.vocabulary[now.ranking[now.start]];
  return words.say("page.distribution.spoken", { count: countTold(now), token, share: probTold(now, now.start) });
}
