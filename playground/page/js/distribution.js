// The chosen step: pale bar what the model said, solid bar what the sliders made of it. Cut tokens stay, and say what cut them.
// With { full: true } as value: the sum of the probabilities as a curve, and a click on a token forces it.

import { percent } from "./numbers.js";
import { cutterOf, isKept, rereadStep } from "./reread.js";
import { isOn } from "./stage_table.js";
import { node, pool, say, set, svg } from "./svg.js";

const ROWS = 14,
  ROWS_WITH_FORMULA = 11;
const SHORT = { "top-n-sigma": "top-nσ" };
const CUT_ABOVE = 4; // rows left for what typical-p cut, where the kept tokens begin further down
const ROOM_AT_CUT = 26; // pixels that page.css leaves below the last kept row, its border included

export function mount(element, api) {
  const full = Boolean(api.props.value?.full);
  const head = node("div.card-head", {}, element);
  const title = node("h2", {}, head);
  const note = node("span.note", {}, head);
  const scale = node(
    "button.small-button",
    { type: "button", "aria-pressed": "false", title: "Logarithmic axis" },
    head,
    "log",
  );
  const empty = node("p.empty-note", {}, element, "Press Generate: the candidates of each step appear here.");
  const table = node("div.bars", full ? { role: "group" } : { role: "img" }, element);
  const curve = full ? sumCurve(table) : null;
  const rowsHolder = node("div.bar-rows", {}, table);
  const tip = tipCard(element, api.store);
  const others = node("div.bar-row.others", {}, element);
  const ruler = rulerPicture(node("div.ruler", {}, element));
  fillRow(others);
  let log = false;
  let now = null; // the step as it is drawn
  let places = [];
  scale.addEventListener("click", () => {
    log = !log;
    set(scale, { "aria-pressed": String(log) });
    draw(api.store.get());
  });

  function draw({ run, params, step }) {
    const ready = Boolean(run?.logits && params);
    element.classList.toggle("is-empty", !ready);
    empty.hidden = ready;
    say(title, run ? `Next token at step ${step}` : "Next token");
    if (!ready) return;
    now = rereadStep(run, params, step);
    say(note, `T ${params.temperature} · p ${params.top_p} · k ${params.top_k || "off"}`);
    places = shownPlaces(now, run.vocabSize, full ? ROWS_WITH_FORMULA : ROWS);
    const rows = pool(rowsHolder, places.length, () =>
      fillRow(node("div.bar-row", full ? { role: "button", tabindex: 0 } : {})),
    );
    places.forEach((place, index) => drawRow(rows[index], now, place, run, index));
    curve?.draw(now, places, params, length, rows);
    tip.redraw(now, run, params);
    drawOthers(now, places, run.vocabSize);
    ruler.draw(now, run, api.width);
    set(table, { "aria-label": spoken(now, run) });
  }

  function drawRow(row, now, place, run, index) {
    const id = now.ranking[place];
    const kept = isKept(now, place);
    const isLast = place === now.stop - 1;
    const classes = {
      "is-cut": !kept,
      "is-chosen": place === now.chosenPlace,
      "is-last-kept": isLast,
      "is-first-kept": place === now.start && place > 0,
    };
    const [label, lane, number] = row.children;
    const [pale, solid] = lane.children;
    row.className = ["bar-row", ...Object.keys(classes).filter((name) => classes[name])].join(" ");
    say(label, run.vocabulary[id]);
    pale.style.transform = `scaleX(${length(now.modelProbs[place])})`;
    solid.style.transform = `scaleX(${length(now.probs[place])})`;
    say(number, numberWords(now, place, index));
    if (isLast)
      set(row, { "data-cut": `keeps ${count(now.numCandidates)}, ${percent(keptMass(now))} of the model's mass` });
  }

  function drawOthers(now, places, vocabSize) {
    let model = 1,
      after = 1,
      kept = now.numCandidates;
    for (const place of places) {
      model -= now.modelProbs[place];
      after -= now.probs[place];
      if (isKept(now, place)) kept -= 1;
    }
    const [label, lane, number] = others.children;
    say(label, `all ${(vocabSize - places.length).toLocaleString("en")} others`);
    lane.children[0].style.transform = `scaleX(${length(Math.max(model, 0))})`;
    lane.children[1].style.transform = `scaleX(${length(kept ? Math.max(after, 0) : 0)})`;
    say(
      number,
      kept ? `${percent(Math.max(after, 0))}, ${kept.toLocaleString("en")} kept` : `${percent(Math.max(model, 0))} cut`,
    );
  }

  /** The axis runs from 0 to 1, or with log from 0.0001 to 1. */
  function length(share) {
    if (!log) return share;
    return share <= 1e-4 ? 0 : 1 + Math.log10(share) / 4;
  }

  // A token under the pointer explains itself, here and in the formula.
  const rowOf = (event) => event.target.closest(".bar-row");
  const placeOf = (row) => places[[...rowsHolder.children].indexOf(row)];
  rowsHolder.addEventListener("pointerover", (event) => {
    const row = rowOf(event);
    if (row && now) look(row, placeOf(row));
  });
  rowsHolder.addEventListener("pointerleave", () => look(null, null));
  if (full) {
    rowsHolder.addEventListener("click", onForce);
    rowsHolder.addEventListener("focusin", (event) => look(rowOf(event), placeOf(rowOf(event))));
    rowsHolder.addEventListener("focusout", () => look(null, null));
    rowsHolder.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      onForce(event);
    });
  }

  function look(row, place) {
    const { run, params } = api.store.get();
    tip.show(row, place, now, run, params);
    api.store.set({ hover: place === null || place === undefined ? null : now.ranking[place] });
  }

  function onForce(event) {
    const row = rowOf(event);
    if (!row || !now || !api.store.get().fork) return;
    look(null, null);
    api.store.get().fork(api.store.get().step, now.ranking[placeOf(row)]);
  }

  return { draw };
}

/** The most likely tokens, or further down those that are kept; the one that was chosen is always among them. */
function shownPlaces(now, vocabSize, rows) {
  const from = now.start + CUT_ABOVE < rows ? 0 : Math.min(now.start - CUT_ABOVE, Math.max(vocabSize - rows, 0));
  const places = Array.from({ length: Math.min(rows, vocabSize) }, (_, index) => from + index);
  if (now.chosenPlace < from) places[0] = now.chosenPlace;
  else if (now.chosenPlace >= from + places.length) places[places.length - 1] = now.chosenPlace;
  return places;
}

/** The sum of the probabilities from the most likely down, as top-p sees them, over the bars; and p as a line. */
function sumCurve(table) {
  const view = svg("svg.sum-curve", { "aria-hidden": "true" }, table);
  const line = svg("polyline.sum-line", {}, view);
  const dots = svg("path.sum-dots", {}, view);
  const limit = svg("path.sum-limit", {}, view);
  const words = svg("text.sum-words", {}, view);
  let lane = null; // where the bars stand, measured once for each width
  new ResizeObserver(() => {
    lane = null;
  }).observe(table);
  return {
    draw(now, places, params, length, rows) {
      lane ??= {
        left: rows[0].children[1].offsetLeft,
        width: rows[0].children[1].offsetWidth,
        row: rows[0].offsetHeight,
      };
      const { left, width, row } = lane;
      const lastKept = places.indexOf(now.stop - 1);
      const gap = lastKept >= 0 && lastKept < rows.length - 1 ? ROOM_AT_CUT : 0; // below the last kept row
      const top = (index) => index * row + (index > lastKept ? gap : 0);
      const at = (sum) => left + length(Math.min(sum, 1)) * width;
      const sums = sumsBeforeTopP(now, places);
      const points = sums.map(([index, sum]) => [at(sum).toFixed(1), top(index) + row / 2]);
      const [x, y] = points.at(-1);
      const bottom = top(rows.length - 1) + row;
      set(line, { points: points.join(" ") });
      set(dots, { d: points.map((point) => `M${point.join(" ")}h0`).join("") });
      const on = isOn("top-p", params);
      set(limit, { d: on ? `M${at(params.top_p)} -4V${bottom}` : null });
      say(words, on ? `p = ${params.top_p}` : "sum so far");
      set(words, { x: (on ? at(params.top_p) : Number(x)) - 8, y: on ? bottom - 6 : y + 5, "text-anchor": "end" });
    },
  };
}

/** [index of the row, sum so far] for the rows that follow each other in rank. */
function sumsBeforeTopP(now, places) {
  const before = now.stages.findIndex(({ name }) => name === "top-p") - 1;
  const { probs } = before < 0 ? { probs: now.modelProbs } : now.stages[before];
  const from = places.length > 1 ? places[1] - 1 : places[0]; // the token chosen may stand out of its order above
  let sum = 0;
  for (let place = 0; place < from; place += 1) sum += probs[place];
  const sums = [];
  places.forEach((place, index) => {
    if (index > 0 && place !== from + index) return;
    sum += probs[from + index];
    if (place === from + index) sums.push([index, sum]);
  });
  return sums;
}

/** Id, bytes, logit and the probability after each stage of the token under the pointer. */
function tipCard(element, store) {
  const box = node("div.tip", { hidden: "", role: "status" }, element);
  const head = node("div.tip-head", {}, box);
  const name = node("b", {}, head);
  const facts = node("span.note", {}, head);
  const table = node("table", {}, box);
  const foot = node("p.note", {}, box);
  let shown = null; // token id

  function fill(place, now, run, params) {
    const id = now.ranking[place];
    say(name, run.vocabulary[id]);
    const logit = run.logits[now.step * run.vocabSize + id];
    say(
      facts,
      `id ${id} · bytes ${run.tokenBytes[id]} · logit ${logit.toFixed(3)} · rank ${(place + 1).toLocaleString("en")}`,
    );
    const rows = [["model", now.modelProbs[place]], ...now.stages.map((stage) => [stage.name, stage.probs[place]])];
    const lines = pool(table, rows.length, () => {
      const row = node("tr");
      node("th", { scope: "row" }, row);
      node("td", {}, row);
      return row;
    });
    rows.forEach(([stage, share], index) => {
      say(lines[index].children[0], index ? `after ${stage}` : "the model");
      say(lines[index].children[1], share === 0 ? "0, cut" : exact(share));
    });
    say(
      foot,
      store.get().fork && element.querySelector(".sum-curve") ? "Click: force this token and go on from here." : "",
    );
  }

  return {
    show(row, place, now, run, params) {
      box.hidden = !row;
      shown = row ? now.ranking[place] : null;
      if (!row) return;
      fill(place, now, run, params);
      const below = row.offsetTop + row.offsetHeight + 6;
      const fits = row.getBoundingClientRect().bottom + box.offsetHeight + 12 < innerHeight;
      box.style.top = `${fits ? below : Math.max(row.offsetTop - box.offsetHeight - 6, 0)}px`;
    },
    redraw(now, run, params) {
      if (shown === null) return;
      const place = now.ranking.indexOf(shown);
      if (place >= 0) fill(place, now, run, params);
    },
  };
}

/** A probability with enough digits to check a sum by hand. */
function exact(share) {
  return share >= 0.0001 ? share.toFixed(5) : share.toExponential(2);
}

function fillRow(row) {
  node("span.bar-label", {}, row);
  const lane = node("span.bar-lane", {}, row);
  node("span.bar-pale", {}, lane);
  node("span.bar-solid", {}, lane);
  node("span.bar-number", {}, row);
  return row;
}

/** The probability, and what cut the token; for one that stands out of its order the rank. */
function numberWords(now, place, index) {
  const kept = isKept(now, place);
  if (place === index)
    return kept ? percent(now.probs[place]) : `${percent(now.modelProbs[place])} ${cutWords(now, place)}`;
  return `${kept ? percent(now.probs[place]) : cutWords(now, place)}, rank ${(place + 1).toLocaleString("en")}`;
}

function cutWords(now, place) {
  const cutter = cutterOf(now, place);
  if (cutter === now.uncut) return "impossible";
  if (cutter.name !== "temperature") return `cut by ${SHORT[cutter.name] ?? cutter.name}`;
  return cutter.numKept === 1 ? "cut: greedy" : "cut: 0 at this T";
}

function keptMass(now) {
  let mass = 0;
  for (let place = now.start; place < now.stop; place += 1) mass += now.modelProbs[place];
  return Math.min(mass, 1);
}

function count(tokens) {
  return `${tokens.toLocaleString("en")} token${tokens === 1 ? "" : "s"}`;
}

function spoken(now, run) {
  const first = run.vocabulary[now.ranking[now.start]];
  return `${count(now.numCandidates)} can be chosen; the most likely of them is ${first} with ${percent(now.probs[now.start])}`;
}

/** The sampling: the kept probabilities laid end to end from 0 to 1, and this step's random number as a mark on them. */
function rulerPicture(parent) {
  const picture = svg("svg", { height: 58, role: "img" }, parent);
  const rest = svg("rect.ruler-rest", { y: 14, height: 22 }, picture); // the tokens after the 40th, in one piece
  const segments = svg("g", {}, picture);
  const sampledFar = svg("rect.ruler-drawn", { y: 14, height: 22 }, picture); // one of them
  const mark = svg("path.ruler-mark", {}, picture);
  const words = svg("text.ruler-words", { y: 54 }, picture);

  function drawFar(now, from, start, width) {
    if (now.sampledPlace < from) {
      set(sampledFar, { width: 0 });
      return;
    }
    let before = start;
    for (let place = from; place < now.sampledPlace; place += 1) before += now.probs[place] * width;
    set(sampledFar, { x: before, width: Math.max(now.probs[now.sampledPlace] * width, 0.5) });
  }

  return {
    draw(now, run, width) {
      set(picture, { width });
      const shown = Math.min(now.numCandidates, 40);
      const rects = pool(segments, shown, () => svg("rect", { y: 14, height: 22 }));
      let start = 0;
      for (let index = 0; index < shown; index += 1) {
        const place = now.start + index;
        const size = now.probs[place] * width;
        set(rects[index], {
          x: start,
          width: Math.max(size - 1, 0.5),
          class: place === now.sampledPlace ? "ruler-drawn" : index % 2 ? "ruler-odd" : "ruler-even",
        });
        start += size;
      }
      set(rest, { x: start, width: now.numCandidates > shown ? Math.max(width - start, 0) : 0 });
      drawFar(now, now.start + shown, start, width);
      const x = Math.min(Math.max(now.uniform * width, 6), width - 6);
      set(mark, { d: `M${x},14 l-6,-12 h12 z M${x},14 v22` });
      const sampled = run.vocabulary[now.ranking[now.sampledPlace]];
      say(words, `random number ${now.uniform.toFixed(4)} falls on ${sampled}`);
      set(words, { x, "text-anchor": x > width * 0.6 ? "end" : "start" });
      set(picture, { "aria-label": words.textContent });
    },
  };
}
