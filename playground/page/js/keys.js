// The keyboard of a lecturer: one key for each thing done in front of a class. Nothing happens while somebody types.

import { cornerButton } from "./corner.js";
import { addEnlargeButtons, cardsInSight, enlarge } from "./enlarge.js";
import { addGlossary } from "./glossary.js";
import { addStrip, togglePresenting, turn } from "./lecture.js";
import { isPresenting, leave, presentCard } from "./presenting.js";
import { speakOfSliders } from "./spoken.js";
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
  ["F", "present.keys.present"],
  ["PgDn PgUp", "present.keys.pages"],
  ["D", "page.keys.dark"],
  ["?", "page.keys.help"],
];
const REMEMBERED = "decoding-playground.keys"; // in the browser's storage
// What has arrow keys of its own, or takes letters.
const OWN_ARROWS =
  "input, select, [role=slider], [role=tab], [role=radio], [role=tree], [role=treeitem], [role=option]";
const WRITING = "textarea, [contenteditable]"; // the keys of a clicker are keys of the text there
const TYPING = "textarea, select, input:not([type=range]):not([type=checkbox]):not([type=radio]), [contenteditable]";

let areOn = localStorage.getItem(REMEMBERED) !== "off";

export function listen() {
  const help = helpDialog();
  addButtons(help);
  const tabs = document.querySelector("#tabs");
  if (tabs) addEnlargeButtons(tabs);
  addStrip();
  speakOfSliders();
  keepSlidersInSight();
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || help.open) return;
    if (event.key === "Escape") return isPresenting() ? leave() : enlarge(null);
    const target = event.target instanceof Element ? event.target : document.body;
    const action = pageOf(event, target) ?? (areOn && !target.matches(TYPING) ? actionOf(event, target, help) : null);
    if (!action) return;
    event.preventDefault();
    action();
  });
}

/** A step of the lecture, while something is presented: elsewhere the page scrolls.
 * @param {KeyboardEvent} event @param {Element} target @returns {(() => void) | null} */
function pageOf({ key }, target) {
  if (!isPresenting() || target.matches(WRITING) || !/^Page(Up|Down)$/.test(key)) return null;
  return () => turn(key === "PageDown" ? 1 : -1);
}

/** By the place of a key: the letter on it may be of another alphabet.
 * @param {KeyboardEvent} event @param {Element} target @param {HTMLDialogElement} help @returns {(() => void) | null} */
function actionOf({ code, key }, target, help) {
  if (key === "ArrowLeft" || key === "ArrowRight")
    return keepsArrows(target) ? null : () => go(key === "ArrowRight" ? 1 : -1);
  const digit = /^(?:Digit|Numpad)([1-9])$/.exec(code);
  if (digit) return () => show(cardsInSight()[Number(digit[1]) - 1] ?? null);
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
    KeyF: togglePresenting,
  };
  return actions[code] ?? null;
}

/** @param {Element | null} card */
function show(card) {
  if (!isPresenting()) enlarge(card);
  else if (card) presentCard(card);
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
  addGlossary(dialog);
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
  const buttons = {
    present: cornerButton("present.button", { id: "present", title: words.say("present.title") }),
    dark: cornerButton("page.keys.dark_sign", {
      title: words.say("page.keys.dark_title"),
      "aria-label": words.say("page.keys.dark_name"),
    }),
    keys: cornerButton("page.keys.help_sign", {
      title: words.say("page.keys.help_title"),
      "aria-label": words.say("page.keys.help_name"),
    }),
  };
  buttons.present.addEventListener("click", togglePresenting);
  buttons.dark.addEventListener("click", toggleDark);
  buttons.keys.addEventListener("click", () => help.showModal());
}
