// Which part of the tree the frame shows: buttons and the wheel zoom, dragging moves.

import { node, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { fitted, readableScale, showing, zoomed } from "./tree_layout.js";

/**
 * @typedef {import("./tree_layout.js").Placed} Placed
 * @typedef {import("./tree_layout.js").Layout} Layout
 * @typedef {ReturnType<typeof makeView>} View
 */

export const ZOOM = 1.25;

/** @param {{ frame: HTMLElement, world: Element }} parts */
export function makeView({ frame, world }) {
  /** @type {Layout | null} */
  let layout = null;
  let view = { x: 0, y: 0, scale: 1 };
  let touched = false; // by hand: then a new tree does not move the view back
  const size = () => ({ width: frame.clientWidth, height: frame.clientHeight });

  /** @param {typeof view} now */
  function apply(now) {
    view = now;
    set(world, { transform: `translate(${view.x} ${view.y}) scale(${view.scale})` });
  }

  /** @param {boolean} whole */
  function fit(whole) {
    if (!layout || !frame.clientWidth) return;
    const { scale, height } = readableScale(layout, frame.clientWidth);
    frame.style.setProperty("--tree-height", `${height}px`);
    touched = false;
    apply(fitted(layout, size(), scale, whole));
  }

  return {
    fit,
    get at() {
      return view;
    },
    /** @param {Layout} given */
    take(given) {
      layout = given;
    },
    /** After a new tree or width, as long as no hand has moved the view. */
    keepFitting() {
      if (!touched) fit(false);
    },
    /** @param {number} factor */
    zoom(factor, x = frame.clientWidth / 2, y = frame.clientHeight / 2) {
      touched = true;
      apply(zoomed(view, factor, x, y));
    },
    /** @param {number} x @param {number} y */
    moveTo(x, y) {
      touched = true;
      apply({ ...view, x, y });
    },
    /** @param {Placed} placed */
    bringIn(placed) {
      apply(showing(view, placed, size()));
    },
  };
}

/** @param {Element} tools @param {View} view */
export function addTools(tools, view) {
  const tool = (/** @type {string} */ label, /** @type {string} */ title, /** @type {() => void} */ act) => {
    const button = node("button.small-button", { type: "button", title }, tools, label);
    if (!/\w/.test(label)) set(button, { "aria-label": title }); // where a word is written, that is its name
    button.addEventListener("click", act);
  };
  tool("−", words.say("thirty_answers.tree.zoom_out"), () => view.zoom(1 / ZOOM));
  tool("+", words.say("thirty_answers.tree.zoom_in"), () => view.zoom(ZOOM));
  tool(words.say("thirty_answers.tree.fit"), words.say("thirty_answers.tree.fit_hint"), () => view.fit(true));
  node("span.note.tree-hint", {}, tools, words.say("thirty_answers.tree.hint"));
}

/** @param {SVGElement} canvas @param {View} view */
export function listenToPointer(canvas, view) {
  canvas.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // a plain wheel scrolls the page
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      view.zoom(Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top);
    },
    { passive: false },
  );
  /** @type {{ x: number, y: number } | null} */
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX - view.at.x, y: event.clientY - view.at.y };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag) view.moveTo(event.clientX - drag.x, event.clientY - drag.y);
  });
  for (const end of ["pointerup", "pointercancel"])
    canvas.addEventListener(end, () => {
      drag = null;
    });
}
