// The keyboard of a lecturer: one key for each thing done in front of a class. Nothing happens while somebody types.

import { addEnlargeButtons, cardsInSight, enlarge } from "./enlarge.js";
import { store } from "./store.js";
import { node } from "./svg.js";
import * as words from "./words.js";

/** The keys, and the text that says what each does. */
const KEYS = [
  ["G", "page.keys.generate"],
  ["C", "page.keys.compare"],
  ["← →", "page.keys.step"],
  ["T  P  K", "page.keys.sliders"],
  ["1 … 9", "page.keys.enlarge"],
  ["D", "page.keys.dark"],
  ["?", "page.keys.help"],
];
const REMEMBERED = "decoding-playground.keys"; // in the browser's storage
// What has arrow keys of its own, or takes letters.
const OWN_ARROWS =
  "input, select, [role=slider], [role=tab], [role=radio], [role=tree], [role=treeitem], [role=option]";
const TYPING = "textarea, select, input:not([type=range]):not([type=checkbox]):not([type=radio]), [contenteditable]";

let areOn = localStorage.getItem(REMEMBERED) !== "off";

export function listen() {
  const help = helpDialog();
  addButtons(help);
  const tabs = document.querySelector("#tabs");
  if (tabs) addEnlargeButtons(tabs);
  keepSlidersInSight();
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || help.open) return;
    if (event.key === "Escape") return enlarge(null);
    const target = event.target instanceof Element ? event.target : document.body;
    if (!areOn || target.matches(TYPING)) return;
    const action = actionOf(event, target, help);
    if (!action) return;
    event.preventDefault();
    action();
  });
}

/** By the place of a key: the letter on it may be of another alphabet.
 * @param {KeyboardEvent} event @param {Element} target @param {HTMLDialogElement} help @returns {(() => void) | null} */
function actionOf({ code, key }, target, help) {
  if (key === "ArrowLeft" || key === "ArrowRight")
    return keepsArrows(target) ? null : () => go(key === "ArrowRight" ? 1 : -1);
  const digit = /^(?:Digit|Numpad)([1-9])$/.exec(code);
  if (digit) return () => enlarge(cardsInSight()[Number(digit[1]) - 1] ?? null);
  if (key === "?") return () => help.showModal();
  /** @param {string} selector @returns {HTMLElement | null} */
  const find = (selector) => document.querySelector(selector);
  /** @param {string} selector */
  const click = (selector) => () => find(selector)?.click();
  /** @param {string} name */
  const focus = (name) => () => find(`#slider-${name}`)?.focus();
  /** @type {Record<string, () => void>} */
  const actions = {
    KeyG: click("#generate"),
    KeyC: click("#compare"),
    KeyT: focus("temperature"),
    KeyP: focus("top_p"),
    KeyK: focus("top_k"),
    KeyD: toggleDark,
  };
  return actions[code] ?? null;
}

/** On a phone the bar scrolls away as far as its last sliders; page.css makes it stick there. */
function keepSlidersInSight() {
  const bar = document.querySelector("#bar");
  if (!(bar instanceof HTMLElement)) return;
  new ResizeObserver(() => {
    const first = bar.querySelector(".controls-main .control:not(.numbers)");
    const above = first ? first.getBoundingClientRect().top - bar.getBoundingClientRect().top : 0;
    bar.style.setProperty("--bar-top", `${-above}px`);
  }).observe(bar);
}

/** The tokens of the answer are a list whose arrows move the step: that is what the key does anyway.
 * @param {Element} target */
function keepsArrows(target) {
  return target.matches(OWN_ARROWS) && !target.closest("[data-arrows=step]");
}

/** @param {number} by */
function go(by) {
  const { run, step } = store.get();
  if (run) store.set({ step: Math.max(0, Math.min(run.numSteps - 1, step + by)) });
}

function toggleDark() {
  document.body.classList.toggle("dark");
}

function helpDialog() {
  const dialog = node(
    "dialog.help",
    { "aria-label": words.say("page.keys.title") },
    document.querySelector(".gradio-container") ?? document.body,
  );
  node("h2", {}, dialog, words.say("page.keys.title"));
  const list = node("dl", {}, dialog);
  for (const [key, text] of KEYS) {
    node("dt", {}, list, key);
    node("dd", {}, list, words.say(text));
  }
  addSwitch(dialog);
  const close = node("button.small-button", { type: "button" }, dialog, words.say("page.keys.close"));
  close.addEventListener("click", () => dialog.close());
  return dialog;
}

/** Someone who speaks to the computer, or uses such keys for something else, turns them off. @param {Element} parent */
function addSwitch(parent) {
  const line = node("label.check", {}, parent);
  const box = node("input", { type: "checkbox" }, line);
  node("span", {}, line, words.say("page.keys.are_on"));
  box.checked = areOn;
  box.addEventListener("change", () => {
    areOn = box.checked;
    localStorage.setItem(REMEMBERED, areOn ? "on" : "off");
  });
}

/** @param {HTMLDialogElement} help */
function addButtons(help) {
  const corner = node("div.corner", {}, document.querySelector("#bar") ?? document.body);
  const dark = node(
    "button.small-button",
    { type: "button", title: words.say("page.keys.dark_title"), "aria-label": words.say("page.keys.dark_name") },
    corner,
    "◐",
  );
  const keys = node(
    "button.small-button",
    { type: "button", title: words.say("page.keys.help_title"), "aria-label": words.say("page.keys.help_name") },
    corner,
    "?",
  );
  dark.addEventListener("click", toggleDark);
  keys.addEventListener("click", () => help.showModal());
}
