// The chosen step: pale bar what the model said, solid bar what the sliders made of it. Cut tokens stay, and say what cut them.

import { rereadStep } from "./reread.js";
import { node, percent, pool, say, set, svg } from "./svg.js";

const ROWS = 14;
const CUT_WORDS = { "top-k": "cut by top-k", "top-p": "cut by top-p", "min-p": "cut by min-p", temperature: "cut: greedy" };

export function mount(element, api) {
  const head = node("div.card-head", {}, element);
  const title = node("h2", {}, head);
  const note = node("span.note", {}, head);
  const scale = node("button.small-button", { type: "button", "aria-pressed": "false", title: "Logarithmic axis" }, head, "log");
  const empty = node("p.empty-note", {}, element, "Press Generate: the candidates of each step appear here.");
  const table = node("div.bars", { role: "img" }, element);
  const others = node("div.bar-row.others", {}, element);
  const ruler = rulerPicture(node("div.ruler", {}, element));
  fillRow(others);
  let log = false;
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
    const now = rereadStep(run, params, step);
    say(note, `T ${params.temperature} · p ${params.top_p} · k ${params.top_k || "off"}`);
    const places = shownPlaces(now, run.vocabSize);
    const rows = pool(table, places.length, () => fillRow(node("div.bar-row")));
    places.forEach((place, index) => drawRow(rows[index], now, place, run, index));
    drawOthers(now, places, run.vocabSize);
    ruler.draw(now, run);
    set(table, { "aria-label": spoken(now, run) });
  }

  /** The likeliest tokens; the one that was chosen is always among them. */
  function shownPlaces(now, vocabSize) {
    const places = Array.from({ length: Math.min(ROWS, vocabSize) }, (_, place) => place);
    if (now.chosenPlace >= places.length) places[places.length - 1] = now.chosenPlace;
    return places;
  }

  function drawRow(row, now, place, run, index) {
    const id = now.ranking[place];
    const kept = place < now.numCandidates;
    const chosen = place === now.chosenPlace;
    const [label, lane, number] = row.children;
    const [pale, solid] = lane.children;
    row.className = `bar-row${kept ? "" : " is-cut"}${chosen ? " is-chosen" : ""}${place === now.numCandidates - 1 ? " is-last-kept" : ""}`;
    say(label, run.vocabulary[id]);
    set(row, { title: `id ${id}, rank ${place + 1}, model ${percent(now.modelProbs[place])}, after the stages ${percent(now.probs[place])}` });
    pale.style.transform = `scaleX(${length(now.modelProbs[place])})`;
    solid.style.transform = `scaleX(${length(now.probs[place])})`;
    const words = kept ? percent(now.probs[place]) : `${percent(now.modelProbs[place])} ${cutBy(now, place)}`;
    say(number, place > index ? `${words}, rank ${(place + 1).toLocaleString("en")}` : words);
    if (place === now.numCandidates - 1) {
      set(row, { "data-cut": `keeps ${count(now.numCandidates)}, ${percent(keptMass(now))} of the mass` });
    }
  }

  function drawOthers(now, places, vocabSize) {
    let model = 1, after = 1, kept = now.numCandidates;
    for (const place of places) {
      model -= now.modelProbs[place];
      after -= now.probs[place];
      if (place < now.numCandidates) kept -= 1;
    }
    const [label, lane, number] = others.children;
    say(label, `all ${(vocabSize - places.length).toLocaleString("en")} others`);
    lane.children[0].style.transform = `scaleX(${length(Math.max(model, 0))})`;
    lane.children[1].style.transform = `scaleX(${length(kept ? Math.max(after, 0) : 0)})`;
    say(number, kept ? `${percent(Math.max(after, 0))}, ${kept.toLocaleString("en")} kept` : `${percent(Math.max(model, 0))} cut`);
  }

  /** The axis runs from 0 to 1, or with log from 0.0001 to 1. */
  function length(share) {
    if (!log) return share;
    return share <= 1e-4 ? 0 : 1 + Math.log10(share) / 4;
  }

  return { draw };
}

function fillRow(row) {
  node("span.bar-label", {}, row);
  const lane = node("span.bar-lane", {}, row);
  node("span.bar-pale", {}, lane);
  node("span.bar-solid", {}, lane);
  node("span.bar-number", {}, row);
  return row;
}

function cutBy(now, place) {
  const stage = now.stages.find(({ numKept }) => place >= numKept);
  return stage ? CUT_WORDS[stage.name] : "";
}

function keptMass(now) {
  let mass = 0;
  for (let place = 0; place < now.numCandidates; place += 1) mass += now.modelProbs[place];
  return Math.min(mass, 1);
}

function count(tokens) {
  return `${tokens.toLocaleString("en")} token${tokens === 1 ? "" : "s"}`;
}

function spoken(now, run) {
  return `${count(now.numCandidates)} can be chosen; the likeliest is ${run.vocabulary[now.ranking[0]]} with ${percent(now.probs[0])}`;
}

/** The draw: the kept probabilities laid end to end from 0 to 1, and this step's random number as a mark on them. */
function rulerPicture(parent) {
  const picture = svg("svg", { height: 58, role: "img" }, parent);
  const segments = svg("g", {}, picture);
  const mark = svg("path.ruler-mark", {}, picture);
  const words = svg("text.ruler-words", { y: 54 }, picture);
  return {
    draw(now, run) {
      const width = parent.clientWidth;
      set(picture, { width });
      const shown = Math.min(now.numCandidates, 40);
      const rects = pool(segments, shown, () => svg("rect", { y: 14, height: 22 }));
      let start = 0;
      for (let place = 0; place < shown; place += 1) {
        const size = now.probs[place] * width;
        set(rects[place], {
          x: start, width: Math.max(size - 1, 0.5),
          class: place === now.drawnPlace ? "ruler-drawn" : place % 2 ? "ruler-odd" : "ruler-even",
        });
        start += size;
      }
      const x = Math.min(Math.max(now.uniform * width, 6), width - 6);
      set(mark, { d: `M${x},14 l-6,-12 h12 z M${x},14 v22`, });
      const drawn = run.vocabulary[now.ranking[now.drawnPlace]];
      say(words, `random number ${now.uniform.toFixed(4)} falls on ${drawn}`);
      set(words, { x, "text-anchor": x > width * 0.6 ? "end" : "start" });
      set(picture, { "aria-label": words.textContent });
    },
  };
}
