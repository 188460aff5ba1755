// Where the nodes of the tree are, what is said of them, and how the view of it moves: nothing is drawn here.

import * as words from "../../page/js/words.js";
import { keyOf, textOf } from "./texts.js";

export const LINE = 38; // pixels a leaf
const LETTER = 10.9; // pixels a letter of the node's font
export const GAP = 140; // between a node and its children: room for the split's words
const LONGEST = 34; // letters shown in a node
const END = 190; // pixels for what is said beside a last node
const MARGIN = 16;

/**
 * @typedef {{ text: string, count: number, rows: number[], split: number, probability: number, stop: string,
 *   children: Item[] }} Item  from tree.py
 * @typedef {{ item: Item, parent: Placed | null, depth: number, left: number, width: number, line: number,
 *   label: string, children: Placed[] }} Placed
 * @typedef {{ nodes: Placed[], width: number, height: number, total: number }} Layout
 * @typedef {{ x: number, y: number, scale: number }} View
 * @typedef {{ width: number, height: number }} Size
 */

/** Columns and lines for every node. @param {Item} tree @returns {Layout} */
export function layOut(tree) {
  /** @type {Placed[]} */
  const nodes = [];
  let line = 0;
  let width = 0;
  /** @param {Item} item @param {Placed | null} parent @param {number} left @param {number} depth */
  function place(item, parent, left, depth) {
    const label = labelOf(item);
    const wide = Math.max(label.length * LETTER + 18, 34);
    /** @type {Placed} */
    const placed = { item, parent, depth, left, width: wide, line: 0, label, children: [] };
    nodes.push(placed);
    const right = left + placed.width;
    placed.children = item.children.map((child) => place(child, placed, right + GAP, depth + 1));
    placed.line = placed.children.length ? placed.children[0].line : line++; // the thickest branch goes straight on
    width = Math.max(width, right + (item.stop ? END : 0));
    return placed;
  }
  place(tree, null, 0, 0);
  return { nodes, width, height: line * LINE, total: tree.count };
}

/** What is written in a node. @param {Item} item */
function labelOf({ text, stop, children }) {
  const shown = text.replace(/\n/g, "⏎");
  if (!shown) return stop ? "■" : children.length ? "●" : textOf("");
  return shown.length <= LONGEST ? shown : `${shown.slice(0, LONGEST - 1)}…`;
}

/** What is said of a node where its text is. @param {Item} item */
function nameOf({ text, stop }) {
  return text.trim() || words.say(stop ? "thirty_answers.tree.end" : "thirty_answers.tree.start");
}

/** Begins with what is written on the node: who speaks to the computer says that. @param {Placed} placed @param {number} total */
export function spoken({ item, label }, total) {
  const { count, split, stop, children } = item;
  const text = item.text.trim() ? label : `${label} ${nameOf(item)}`;
  const facts = { text, count, total, split };
  if (!stop) return words.say("thirty_answers.tree.fork_spoken", { ...facts, branches: children.length });
  const reason = words.say(`thirty_answers.ends.${keyOf(stop)}`);
  return words.say("thirty_answers.tree.end_spoken", { ...facts, reason });
}

/** Its line in the list. @param {Item} item @param {number} depth */
export function listed(item, depth) {
  const text = nameOf(item);
  return depth ? words.say("thirty_answers.tree.line", { text, split: item.split }) : text;
}

/** The height of the frame, and the view: letters stay readable, and what does not fit is dragged into view; the whole
 * tree only when asked. @param {Layout} layout @param {number} width  of the frame */
export function readableScale(layout, width) {
  const scale = Math.min(1.3, Math.max(1, (width - 24) / layout.width));
  return { scale, height: Math.round(Math.min(640, Math.max(220, layout.height * scale + 28))) };
}

/** @param {Layout} layout @param {Size} frame @param {number} scale  at the most @param {boolean} whole @returns {View} */
export function fitted(layout, frame, scale, whole) {
  const fits = Math.min(1.15, (frame.width - 24) / layout.width, (frame.height - 24) / layout.height);
  const chosen = whole ? fits : scale;
  return { scale: chosen, x: 12, y: Math.max(12, (frame.height - layout.height * chosen) / 2) };
}

/** The point (x, y) of the frame stays where it is. @param {View} view @param {number} factor @param {number} x @param {number} y
 * @returns {View} */
export function zoomed(view, factor, x, y) {
  const scale = Math.min(3, Math.max(0.05, view.scale * factor));
  const ratio = scale / view.scale;
  return { scale, x: x - (x - view.x) * ratio, y: y - (y - view.y) * ratio };
}

/** Moved no more than is needed to have a node inside the frame. @param {View} view @param {Placed} placed @param {Size} frame
 * @returns {View} */
export function showing(view, { left, line, width }, frame) {
  const x = left * view.scale + view.x;
  const y = (line + 0.5) * LINE * view.scale + view.y;
  const across = Math.min(width * view.scale, frame.width - 2 * MARGIN);
  const right = Math.max(x, MARGIN) + across - (frame.width - MARGIN);
  return {
    scale: view.scale,
    x: view.x + Math.max(MARGIN - x, 0) - Math.max(right, 0),
    y: view.y + Math.max(30 - y, 0) - Math.max(y - (frame.height - 30), 0),
  };
}

/** The node that a key goes to from `here`, if there is one. @param {Placed[]} nodes @param {Placed} here @param {string} key */
export function nextNode(nodes, here, key) {
  const level = here.parent?.children ?? [here];
  const place = level.indexOf(here);
  /** @type {Record<string, () => Placed | null | undefined>} */
  const next = {
    ArrowRight: () => here.children[0],
    ArrowLeft: () => here.parent,
    ArrowDown: () => level[place + 1] ?? inColumn(nodes, here, 1),
    ArrowUp: () => level[place - 1] ?? inColumn(nodes, here, -1),
    Home: () => nodes[0],
  };
  return next[key]?.();
}

/** The neighbour of the same depth, under a different parent. @param {Placed[]} nodes @param {Placed} here @param {number} step */
function inColumn(nodes, here, step) {
  const column = nodes.filter((other) => other.depth === here.depth);
  return column[column.indexOf(here) + step];
}
