// Where the answers diverge: common beginnings merged, branches as thick as the rows that took them. Below it the same as
// a list. Wheel or + and - zoom, dragging or the arrow keys move; each node can be reached with the keyboard.

import { node, pool, say, set, svg } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { keyOf, times } from "./texts.js";
import { GAP, LINE, layOut, listed, nextNode, spoken } from "./tree_layout.js";
import { addTools, listenToPointer, makeView, ZOOM } from "./tree_view.js";

/**
 * @typedef {import("../../page/js/types.js").Store} Store
 * @typedef {import("./tree_layout.js").Item} Item
 * @typedef {import("./tree_layout.js").Placed} Placed
 * @typedef {import("./tree_layout.js").Layout} Layout
 * @typedef {ReturnType<typeof build>} Parts
 * @typedef {import("./tree_view.js").View} View
 */

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  element.classList.add("tree");
  const parts = build(element);
  const view = makeView(parts);
  addTools(parts.tools, view);
  listenToPointer(parts.canvas, view);
  /** What is drawn, of which tree, and its node that the keyboard is at. @type {{ tree: Item | null, layout: Layout | null, current: number }} */
  const shown = { tree: null, layout: null, current: 0 };
  listenToKeys(parts, view, shown);

  return {
    reads: ["answers", "answerRows"],
    draw({ answers, answerRows }) {
      const tree = /** @type {Item | undefined} */ (answers.value?.tree);
      if (!tree) return;
      if (tree !== shown.tree) {
        const layout = layOut(tree);
        shown.tree = tree;
        shown.layout = layout;
        shown.current = Math.min(shown.current, layout.nodes.length - 1);
        drawNodes(parts.chips, layout, shown, api.store);
        drawEnds(parts.ends, layout);
        drawLinks(parts.links, layout);
        drawList(parts.list, layout, api.store);
        view.take(layout);
      }
      view.keepFitting();
      light(parts, /** @type {Layout} */ (shown.layout), answerRows);
    },
  };
}

/** @param {Element} element */
function build(element) {
  const tools = node("div.tree-tools", {}, element);
  const frame = node("div.tree-frame", {}, element);
  const spokenName = words.say("thirty_answers.tree.name");
  const canvas = svg("svg.tree-canvas", { role: "tree", "aria-label": spokenName }, frame);
  const world = svg("g", {}, canvas);
  const links = svg("g", {}, world);
  const ends = svg("g", { "aria-hidden": "true" }, world);
  const chips = svg("g", {}, world);
  const name = words.say("thirty_answers.tree.list");
  const box = node("details.tree-as-list", {}, element);
  node("summary", {}, box, name);
  const list = node("div.tree-list", { tabindex: "0", role: "region", "aria-label": name }, box);
  return { tools, frame, canvas, world, links, ends, chips, list };
}

/** @param {Parts} parts @param {View} view @param {{ layout: Layout | null, current: number }} shown */
function listenToKeys({ canvas, chips }, view, shown) {
  canvas.addEventListener("focusin", ({ target }) => {
    const place = [...chips.children].indexOf(/** @type {Element} */ (target));
    if (place >= 0) shown.current = place;
  });
  canvas.addEventListener("keydown", (event) => {
    if (!shown.layout) return;
    const { nodes } = shown.layout;
    const next = nextNode(nodes, nodes[shown.current], event.key);
    if (event.key === "+" || event.key === "=") view.zoom(ZOOM);
    else if (event.key === "-") view.zoom(1 / ZOOM);
    else if (next) goTo(nodes.indexOf(next));
    else if (!/^Arrow/.test(event.key)) return;
    event.preventDefault();
    event.stopPropagation(); // the page's own arrow keys move the step
  });

  /** @param {number} place */
  function goTo(place) {
    set(chips.children[shown.current], { tabindex: "-1" });
    set(chips.children[place], { tabindex: "0" });
    if (shown.layout) view.bringIn(shown.layout.nodes[place]);
    /** @type {SVGElement} */ (chips.children[place]).focus({ preventScroll: true });
  }
}

/** @param {Element} chips @param {Layout} layout @param {{ current: number }} shown @param {Store} store */
function drawNodes(chips, { nodes, total }, { current }, store) {
  const items = pool(chips, nodes.length, makeChip);
  nodes.forEach((placed, place) => {
    const { item, left, line, width, label, depth } = placed;
    const [title, chip, text] = items[place].children;
    const { count, probability, stop } = item;
    set(items[place], {
      transform: `translate(${left} ${(line + 0.5) * LINE})`,
      tabindex: place === current ? "0" : "-1",
      "aria-level": depth + 1,
      "aria-label": spoken(placed, total),
      "aria-expanded": item.children.length ? "true" : null,
    });
    points(items[place], item.rows, store, ["pointerenter", "focus"], ["pointerleave", "blur"]);
    say(title, words.say("thirty_answers.tree.node", { text: item.text, count, total, probability }));
    set(chip, { width });
    chip.classList.toggle("is-end", stop !== "" && !item.text);
    say(text, label);
  });
}

/** Beside the last token of an answer, what a screen reader hears in that token's name.
 * @param {Element} ends @param {Layout} layout */
function drawEnds(ends, { nodes }) {
  const last = nodes.filter(({ item }) => item.stop);
  const texts = pool(ends, last.length, () => svg("text.tree-end"));
  last.forEach(({ item, left, line, width }, place) => {
    set(texts[place], { x: left + width + 8, y: (line + 0.5) * LINE + 6 });
    say(texts[place], words.say(`thirty_answers.tree.ends.${keyOf(item.stop)}`, { count: item.count }));
  });
}

function makeChip() {
  const chip = svg("g.tree-node", { role: "treeitem" });
  const silent = { "aria-hidden": "true" }; // the chip's own name says all of it
  svg("title", silent, chip);
  svg("rect.tree-chip", { height: 30, y: -15, rx: 5 }, chip);
  svg("text.tree-text", { x: 9, y: 6, ...silent }, chip);
  return chip;
}

/** Where a node or a line is pointed at, its rows are lit in all pictures. @param {Element} target @param {number[]} rows
 * @param {Store} store @param {string[]} begins @param {string[]} ends */
function points(target, rows, store, begins, ends) {
  const handlers = /** @type {Record<string, () => void>} */ (/** @type {unknown} */ (target));
  for (const event of begins) handlers[`on${event}`] = () => store.set({ answerRows: rows });
  for (const event of ends) handlers[`on${event}`] = () => store.set({ answerRows: null });
}

/** @param {Element} links @param {Layout} layout */
function drawLinks(links, { nodes, total }) {
  const lines = pool(links, nodes.length, makeLink);
  nodes.forEach(({ item, left, line, parent }, place) => {
    const [path, split] = lines[place].children;
    if (!parent) {
      set(path, { d: "" });
      say(split, "");
      return;
    }
    const y = (line + 0.5) * LINE;
    const [fromX, fromY] = [parent.left + parent.width, (parent.line + 0.5) * LINE];
    const bend = Math.min(46, GAP / 2);
    set(path, {
      d: `M${fromX} ${fromY}C${fromX + bend} ${fromY} ${fromX + bend * 0.2} ${y} ${fromX + bend} ${y}L${left} ${y}`,
      "stroke-width": 1.5 + (14 * item.count) / total,
    });
    set(split, { x: left - 6, y: y - 4 - (7 * item.count) / total });
    const key = item.children.length ? "thirty_answers.tree.fork" : "thirty_answers.tree.last";
    say(split, words.say(key, { split: item.split, count: item.count }));
  });
}

function makeLink() {
  const link = svg("g");
  svg("path.tree-link", {}, link);
  svg("text.tree-split", { "text-anchor": "end" }, link);
  return link;
}

/** @param {Element} list @param {Layout} layout @param {Store} store */
function drawList(list, { nodes }, store) {
  const lines = pool(list, nodes.length, () => {
    const line = node("div.tree-line");
    node("b", {}, line);
    node("span", {}, line);
    return line;
  });
  nodes.forEach(({ item, depth }, place) => {
    const line = lines[place];
    points(line, item.rows, store, ["pointerenter"], ["pointerleave"]);
    line.style.setProperty("--depth", String(depth));
    say(line.children[0], times(item.count));
    say(line.children[1], listed(item, depth));
  });
}

/** @param {Parts} parts @param {Layout} layout @param {number[] | null} lit */
function light({ chips, links, list }, { nodes }, lit) {
  nodes.forEach(({ item }, place) => {
    const isLit = item.rows.some((row) => lit?.includes(row));
    for (const items of [chips, links, list]) items.children[place].classList.toggle("is-lit", isLit);
  });
}
