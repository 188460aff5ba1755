// The keyboard of a lecturer: one key for each thing done in front of a class. Nothing happens while somebody types.

import { store } from "./store.js";
import { node } from "./svg.js";

const KEYS = [
  ["G", "generate"],
  ["C", "compare cache on and off"],
  ["← →", "one step back, one step on"],
  ["T  P  K", "to the slider temperature, top-p, top-k"],
  ["1 … 9", "enlarge a picture; again or Esc: back"],
  ["D", "dark or light"],
  ["?", "this help"],
];

export function listen() {
  const help = helpDialog();
  addButtons(help);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open || isTyping(event.target)) return;
    const action = actionOf(event, help);
    if (!action) return;
    event.preventDefault();
    action();
  });
}

function isTyping(target) {
  return target.matches?.("textarea, select, input:not([type=range]):not([type=checkbox]), [contenteditable]") ?? false;
}

function actionOf(event, help) {
  const { key, target } = event;
  const onRange = target.matches?.("input[type=range], [role=slider], [role=tab]");
  if ((key === "ArrowLeft" || key === "ArrowRight") && !onRange) return () => go(key === "ArrowRight" ? 1 : -1);
  if (key >= "1" && key <= "9") return () => enlarge(Number(key) - 1);
  const click = (selector) => () => document.querySelector(selector)?.click();
  const focus = (name) => () => document.querySelector(`#slider-${name}`)?.focus();
  return {
    g: click("#generate"),
    c: click("#compare"),
    t: focus("temperature"),
    p: focus("top_p"),
    k: focus("top_k"),
    d: toggleDark,
    "?": () => help.showModal(),
    escape: () => enlarge(null),
  }[key.toLowerCase()];
}

function go(by) {
  const { run, step } = store.get();
  if (run) store.set({ step: Math.max(0, Math.min(run.numSteps - 1, step + by)) });
}

/** The card at this place among those in sight fills the window; the same key, or Esc, puts it back. */
function enlarge(place) {
  const large = document.querySelector(".card.is-enlarged");
  const cards = [...document.querySelectorAll(".card")].filter((card) => card === large || card.offsetParent !== null);
  large?.classList.remove("is-enlarged");
  const card = place === null ? null : cards[place];
  if (card && card !== large) card.classList.add("is-enlarged");
}

function toggleDark() {
  document.body.classList.toggle("dark");
}

function helpDialog() {
  const dialog = node(
    "dialog.help",
    { "aria-label": "Keys" },
    document.querySelector(".gradio-container") ?? document.body,
  );
  node("h2", {}, dialog, "Keys");
  const list = node("dl", {}, dialog);
  for (const [key, what] of KEYS) {
    node("dt", {}, list, key);
    node("dd", {}, list, what);
  }
  const close = node("button.small-button", { type: "button" }, dialog, "Close");
  close.addEventListener("click", () => dialog.close());
  return dialog;
}

function addButtons(help) {
  const corner = node("div.corner", {}, document.querySelector("#bar") ?? document.body);
  const dark = node(
    "button.small-button",
    { type: "button", title: "Dark or light (D)", "aria-label": "Dark or light" },
    corner,
    "◐",
  );
  const keys = node("button.small-button", { type: "button", title: "Keys (?)", "aria-label": "Keys" }, corner, "?");
  dark.addEventListener("click", toggleDark);
  keys.addEventListener("click", () => help.showModal());
}
