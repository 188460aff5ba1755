// One token through one layer, a click at a time: rows from the cache in blue, rows computed now in the accent colour.

import { layerChips } from "../../page/js/chips.js";
import { node, pool, say, set } from "../../page/js/svg.js";

const USES = { score: "QK", mix: "V" }; // what a stage reads without writing it down as rows
const LETTER = { key: "K", value: "V", query: "Q", vector: "x", scores: "scores", weights: "weights", read: "read" };

export function mount(element, api) {
  const head = node("div.stepper-head", {}, element);
  const title = node("h3", {}, head);
  const layers = layerChips(head, api.store);
  const board = node("div.stepper-board", {}, element);
  const left = node("div", {}, board);
  const stack = node("div.stepper-stack", { "aria-hidden": true }, left);
  const legend = node("p.stepper-legend", {}, left);
  node("b.is-kept", {}, legend, "Blue: from the cache. ");
  node("b.is-accent", {}, legend, "Orange: this token's own.");
  const side = node(
    "div.stepper-side",
    { tabindex: 0, role: "group", "aria-label": "Steps of the walk: arrow keys" },
    board,
  );
  const heading = node("h4", { "aria-live": "polite" }, side);
  const words = node("p", {}, side);
  const rows = node("div.stepper-rows", {}, side);
  const buttons = node("div.stepper-buttons", {}, side);
  const back = node("button.small-button", { type: "button" }, buttons, "← Back");
  const forth = node("button.small-button", { type: "button" }, buttons, "Next →");
  const count = node("span.note", {}, buttons);
  let value = null;

  const last = () => value.stages.length - 1;
  const go = (by) => api.store.set({ stage: Math.max(0, Math.min(last(), api.store.get().stage + by)) });
  back.addEventListener("click", () => go(-1));
  forth.addEventListener("click", () => go(1));
  side.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by || !value) return;
    event.preventDefault();
    event.stopPropagation(); // the page's own arrow keys move the step
    go(by);
  });

  function draw(state) {
    element.classList.toggle("is-empty", !value);
    if (!value) return;
    const { position, labels, layer } = value;
    say(title, `Token ${position + 1}, “${labels[position]}”, through layer ${layer + 1}`);
    layers.draw(value.num_layers, layer);
    const stage = Math.min(state.stage, last());
    const now = value.stages[stage];
    say(heading, `${stage + 1}. ${now.title}`);
    say(words, now.text);
    drawRows(rows, now.rows, labels);
    drawStack(stack, value, stage);
    say(count, `${stage + 1} of ${value.stages.length}`);
    back.disabled = stage === 0;
    forth.disabled = stage === last();
  }

  return {
    reads: ["stage"],
    update(next) {
      value = next?.stages ? next : null;
      draw(api.store.get());
    },
    draw,
  };
}

function drawRows(holder, rows, labels) {
  const lines = pool(holder, rows.length, () => {
    const line = node("div.number-line");
    node("span.number-name", {}, line);
    node("span.number-list", {}, line);
    node("span.number-source", {}, line);
    return line;
  });
  rows.forEach(({ what, position, source, numbers, length }, index) => {
    const [name, list, from] = lines[index].children;
    set(lines[index], { "data-source": source });
    const perToken = what === "scores" || what === "weights";
    say(name, `${LETTER[what]}${perToken ? "" : ` of “${labels[position]}”`}`);
    const shown = numbers
      .slice(0, 6)
      .map((number) => number.toFixed(2).replace("-", "−"))
      .join("  ");
    say(list, shown + (length > 6 ? "  …" : ""));
    say(from, `${length} number${length === 1 ? "" : "s"}, ${source === "cache" ? "from the cache" : "computed now"}`);
  });
}

// Each token of the text a column: K and V of this layer; the new token also has its vector and its query.
function drawStack(holder, value, stage) {
  const first = Math.max(0, value.position - 4);
  const columns = pool(holder, value.position - first + 1, () => {
    const column = node("div.stack-column");
    for (const what of ["label", "x", "Q", "K", "V"])
      node(`div.stack-${what === "label" ? "label" : "box"}`, {}, column);
    return column;
  });
  const touched = new Map(value.stages[stage].rows.map((row) => [`${LETTER[row.what]}${row.position}`, row.source]));
  const known = new Set(
    value.stages.slice(0, stage + 1).flatMap(({ rows }) => rows.map((row) => `${LETTER[row.what]}${row.position}`)),
  );
  const { name } = value.stages[stage],
    uses = USES[name] ?? "";
  for (let place = 0; place < columns.length; place += 1) {
    const position = first + place,
      isNew = position === value.position;
    const [label, ...boxes] = columns[place].children;
    say(label, value.labels[position]);
    ["x", "Q", "K", "V"].forEach((letter, index) => {
      const key = `${letter}${position}`;
      const isStored = !isNew && (letter === "K" || letter === "V");
      const isGone = (letter === "x" || letter === "Q") && (!isNew || name === "keep"); // not kept, not needed
      const isUsed = uses.includes(letter) && !isGone;
      say(boxes[index], isGone ? "·" : letter);
      set(boxes[index], {
        "data-state":
          touched.get(key) ??
          (isUsed ? (isNew ? "computed" : "cache") : isGone ? "gone" : isStored || known.has(key) ? "there" : "later"),
        title: isGone ? `${letter} of an earlier token: not kept, not needed` : null,
      });
    });
  }
}
