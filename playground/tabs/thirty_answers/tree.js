// Where the answers part: common beginnings merged, branches as thick as the rows that took them. Beside it the same as a list.
// Wheel or + and - zoom, dragging or the arrow keys move; each node can be reached with the keyboard.

import { percent } from "../../page/js/numbers.js";
import { node, pool, say, set, svg } from "../../page/js/svg.js";

const LINE = 34; // pixels a leaf
const LETTER = 9.7; // pixels a letter of the node's font
const GAP = 118; // between a node and its children: room for the split's words
const LONGEST = 34; // letters shown in a node

/** Columns and lines for every node. */
export function layOut(tree) {
  const nodes = [];
  let line = 0;
  let width = 0;
  function place(item, parent, left, depth) {
    const label = shortened(item);
    const placed = { item, parent, depth, left, width: Math.max(label.length * LETTER + 18, 34), label, children: [] };
    nodes.push(placed);
    const right = left + placed.width;
    placed.children = item.children.map((child) => place(child, placed, right + GAP, depth + 1));
    placed.line = placed.children.length ? placed.children[0].line : line++; // the thickest branch goes straight on
    width = Math.max(width, right + (item.stop ? 150 : 0));
    return placed;
  }
  place(tree, null, 0, 0);
  return { nodes, width, height: line * LINE };
}

function shortened({ text, stop, children }) {
  const shown = text.replace(/\n/g, "⏎");
  if (!shown) return stop ? "■" : children.length ? "●" : "(empty)";
  return shown.length <= LONGEST ? shown : `${shown.slice(0, LONGEST - 1)}…`;
}

function spoken(item, total) {
  const text = item.text.trim() || (item.stop ? "ends here" : "start");
  const end = item.stop ? `, ends by ${item.stop}` : `, parts into ${item.children.length}`;
  return `${text}: ${item.count} of ${total}, ${percent(item.split)} at this split${end}`;
}

export function mount(element, api) {
  element.classList.add("tree");
  const tools = node("div.tree-tools", {}, element);
  const tool = (label, title, act) => {
    const button = node("button.small-button", { type: "button", title, "aria-label": title }, tools, label);
    button.addEventListener("click", act);
  };
  tool("−", "Zoom out", () => zoom(1 / 1.25));
  tool("+", "Zoom in", () => zoom(1.25));
  tool("Fit", "Show the whole tree", () => fit(true));
  const hint = node(
    "span.note.tree-hint",
    {},
    tools,
    "Ctrl + wheel zooms, dragging moves, arrow keys walk from node to node.",
  );
  const both = node("div.tree-both", {}, element);
  const frame = node("div.tree-frame", {}, both);
  const canvas = svg("svg.tree-canvas", { role: "tree", "aria-label": "Answers by their common beginnings" }, frame);
  const world = svg("g", {}, canvas);
  const links = svg("g", {}, world);
  const chips = svg("g", {}, world);
  const list = node("div.tree-list", { tabindex: "0", role: "region", "aria-label": "The tree as a list" }, both);

  let laid = null;
  let total = 0;
  let view = { x: 0, y: 0, scale: 1 };
  let touched = false; // by hand: then a new tree does not move the view back
  let current = 0;

  function apply() {
    set(world, { transform: `translate(${view.x} ${view.y}) scale(${view.scale})` });
  }

  function fit(whole) {
    if (!laid || !frame.clientWidth) return;
    const wide = frame.clientWidth;
    const across = (wide - 24) / laid.width;
    // Letters stay readable, and what does not fit is dragged into view; the whole tree only when asked.
    const readable = Math.min(1.3, Math.max(0.9, across));
    both.style.setProperty(
      "--tree-height",
      `${Math.round(Math.min(640, Math.max(220, laid.height * readable + 28)))}px`,
    );
    const high = frame.clientHeight;
    const scale = whole ? Math.min(1.15, across, (high - 24) / laid.height) : readable;
    view = { scale, x: 12, y: Math.max(12, (high - laid.height * scale) / 2) };
    touched = false;
    apply();
  }

  function zoom(factor, x = frame.clientWidth / 2, y = frame.clientHeight / 2) {
    const scale = Math.min(3, Math.max(0.05, view.scale * factor));
    const ratio = scale / view.scale;
    view = { scale, x: x - (x - view.x) * ratio, y: y - (y - view.y) * ratio };
    touched = true;
    apply();
  }

  canvas.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // a plain wheel scrolls the page
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      zoom(Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top);
    },
    { passive: false },
  );

  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX - view.x, y: event.clientY - view.y };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return;
    view = { ...view, x: event.clientX - drag.x, y: event.clientY - drag.y };
    touched = true;
    apply();
  });
  for (const end of ["pointerup", "pointercancel"])
    canvas.addEventListener(end, () => {
      drag = null;
    });

  /** Moves the view so that a node is inside the frame. */
  function bringIntoView({ left, line, width }) {
    const margin = 16;
    const x = left * view.scale + view.x;
    const y = (line + 0.5) * LINE * view.scale + view.y;
    const across = Math.min(width * view.scale, frame.clientWidth - 2 * margin);
    if (x < margin) view.x += margin - x;
    if (x + across > frame.clientWidth - margin) view.x -= x + across - frame.clientWidth + margin;
    if (y < 30) view.y += 30 - y;
    if (y > frame.clientHeight - 30) view.y -= y - frame.clientHeight + 30;
    apply();
  }

  canvas.addEventListener("keydown", (event) => {
    if (!laid) return;
    const here = laid.nodes[current];
    const level = here.parent?.children ?? [here];
    const place = level.indexOf(here);
    const next = {
      ArrowRight: here.children[0],
      ArrowLeft: here.parent,
      ArrowDown: level[place + 1] ?? nextInColumn(here, 1),
      ArrowUp: level[place - 1] ?? nextInColumn(here, -1),
      Home: laid.nodes[0],
    }[event.key];
    if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(1 / 1.25);
    else if (next) focus(laid.nodes.indexOf(next));
    else if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    event.stopPropagation(); // the page's own arrow keys move the step
  });

  /** The neighbour in the same depth, under another parent. */
  function nextInColumn(here, step) {
    const column = laid.nodes.filter((other) => other.depth === here.depth);
    return column[column.indexOf(here) + step];
  }

  function focus(place) {
    set(chips.children[current], { tabindex: "-1" });
    current = place;
    set(chips.children[place], { tabindex: "0" });
    bringIntoView(laid.nodes[place]);
    chips.children[place].focus({ preventScroll: true });
  }

  function makeChip() {
    const chip = svg("g.tree-node", { role: "treeitem" });
    svg("title", {}, chip);
    svg("rect.tree-chip", { height: 26, y: -13, rx: 5 }, chip);
    svg("text.tree-text", { x: 9, y: 5.5 }, chip);
    svg("text.tree-end", { y: 5.5 }, chip);
    chip.addEventListener("pointerenter", () => api.store.set({ answerRows: chip.rows }));
    chip.addEventListener("pointerleave", () => api.store.set({ answerRows: null }));
    chip.addEventListener("focus", () => {
      current = [...chips.children].indexOf(chip);
      api.store.set({ answerRows: chip.rows });
    });
    chip.addEventListener("blur", () => api.store.set({ answerRows: null }));
    return chip;
  }

  function makeLink() {
    const link = svg("g");
    svg("path.tree-link", {}, link);
    svg("text.tree-split", { "text-anchor": "end" }, link);
    return link;
  }

  function drawTree() {
    const items = pool(chips, laid.nodes.length, makeChip);
    const lines = pool(links, laid.nodes.length, makeLink);
    laid.nodes.forEach((placed, place) => {
      const { item, left, line, width, label, parent, depth } = placed;
      const y = (line + 0.5) * LINE;
      const [title, chip, text, end] = items[place].children;
      items[place].rows = item.rows;
      set(items[place], {
        transform: `translate(${left} ${y})`,
        tabindex: place === current ? "0" : "-1",
        "aria-level": depth + 1,
        "aria-label": spoken(item, total),
        "aria-expanded": item.children.length ? "true" : null,
      });
      say(title, `${item.text}\n${item.count} of ${total} rows; whole probability ${percent(item.probability)}`);
      set(chip, { width, class: item.stop && !item.text ? "tree-chip is-end" : "tree-chip" });
      say(text, label);
      set(end, { x: width + 8 });
      say(end, item.stop ? `${item.count} × · ${item.stop === "stop token" ? "ends" : item.stop}` : "");
      const [path, split] = lines[place].children;
      if (!parent) {
        set(path, { d: "" });
        say(split, "");
        return;
      }
      const [fromX, fromY] = [parent.left + parent.width, (parent.line + 0.5) * LINE];
      const bend = Math.min(46, GAP / 2);
      set(path, {
        d: `M${fromX} ${fromY}C${fromX + bend} ${fromY} ${fromX + bend * 0.2} ${y} ${fromX + bend} ${y}L${left} ${y}`,
        "stroke-width": 1.5 + (14 * item.count) / total,
      });
      set(split, { x: left - 6, y: y - 4 - (7 * item.count) / total });
      say(split, `${percent(item.split)} ${item.children.length ? `${item.count} ×` : ""}`.trim());
    });
  }

  function drawList(tree) {
    const lines = [];
    (function walk(item, depth) {
      lines.push([item, depth]);
      for (const child of item.children) walk(child, depth + 1);
    })(tree, 0);
    pool(list, lines.length, () => {
      const line = node("div.tree-line");
      node("b", {}, line);
      node("span", {}, line);
      line.addEventListener("pointerenter", () => api.store.set({ answerRows: line.rows }));
      line.addEventListener("pointerleave", () => api.store.set({ answerRows: null }));
      return line;
    });
    lines.forEach(([item, depth], place) => {
      const line = list.children[place];
      line.rows = item.rows;
      line.style.setProperty("--depth", depth);
      say(line.children[0], `${item.count} ×`);
      const text = item.text.trim() || (item.stop ? "ends here" : "start");
      say(line.children[1], depth ? `${text} (${percent(item.split)})` : text);
    });
  }

  return {
    reads: ["answerRows"],
    update(value) {
      if (!value) return;
      total = value.count;
      laid = layOut(value);
      current = Math.min(current, laid.nodes.length - 1);
      drawTree();
      drawList(value);
      set(hint, { hidden: null });
      if (!touched) fit(false);
    },
    draw(state) {
      if (!laid) return;
      if (!touched) fit(false);
      const lit = state.answerRows;
      [...chips.children, ...list.children].forEach((item) => {
        item.classList.toggle("is-lit", Boolean(lit && item.rows?.some((row) => lit.includes(row))));
      });
      laid.nodes.forEach((placed, place) => {
        links.children[place].classList.toggle(
          "is-lit",
          Boolean(lit && placed.item.rows.some((row) => lit.includes(row))),
        );
      });
    },
  };
}
