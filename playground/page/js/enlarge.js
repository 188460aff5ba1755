// A card that fills the window: by its button, or by the keys 1 to 9. Focus goes in, Escape leaves.

import { node, set } from "./svg.js";
import * as words from "./words.js";

const CAN_FOCUS = "a[href], button:not([disabled]), input:not([disabled]), select, textarea, [tabindex='0']";

/** @type {Element | null} */
let before = null; // what had the focus when a card was enlarged

/** Gives each card its button, also those of tabs that are opened later. @param {Element} tabs */
export function addEnlargeButtons(tabs) {
  let waiting = false;
  const add = () => {
    waiting = false;
    for (const card of tabs.querySelectorAll(".card:not(.lesson):not(:has(> .enlarge))")) addButton(card);
  };
  new MutationObserver(() => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(add);
  }).observe(tabs, { childList: true, subtree: true });
  add();
}

/** @param {Element} card */
function addButton(card) {
  const button = node("button.small-button.enlarge", { type: "button" }, card, "⤢");
  name(button, false);
  button.addEventListener("click", () => enlarge(enlarged() === card ? null : card));
}

/** @param {Element} button @param {boolean} isLarge */
function name(button, isLarge) {
  const title = isLarge ? words.say("page.enlarge.back") : words.say("page.enlarge.enlarge");
  set(button, { title, "aria-label": title, "aria-expanded": String(isLarge) });
}

export function enlarged() {
  return document.querySelector(".card.is-enlarged");
}

/** The cards in sight, in the order of the keys 1 to 9. */
export function cardsInSight() {
  const cards = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".card"));
  return [...cards].filter((card) => card.classList.contains("is-enlarged") || card.offsetParent !== null);
}

/** This card fills the window, any other goes back to its place; null: all are in their places. @param {Element | null} card */
export function enlarge(card) {
  const old = enlarged();
  if (old) putBack(old);
  if (card && card !== old) bringForward(card);
}

/** @param {Element} card */
function bringForward(card) {
  before = document.activeElement;
  card.classList.add("is-enlarged");
  const button = buttonOf(card);
  if (button) name(button, true);
  button?.focus();
  card.addEventListener("keydown", stayInside);
}

/** @param {Element} card */
function putBack(card) {
  card.classList.remove("is-enlarged");
  card.removeEventListener("keydown", stayInside);
  const button = buttonOf(card);
  if (button) name(button, false);
  if (card.contains(document.activeElement) && before instanceof HTMLElement) before.focus();
}

/** @param {Element} card @returns {HTMLElement | null} */
function buttonOf(card) {
  return card.querySelector(":scope > .enlarge");
}

/** Tab goes round inside: what lies behind the card can't be seen. While it is presented the sliders can.
 * @param {any} event */
function stayInside(event) {
  if (event.key !== "Tab" || document.body.classList.contains("is-presenting")) return;
  const stops = [...event.currentTarget.querySelectorAll(CAN_FOCUS)].filter((stop) => stop.getClientRects().length);
  const [leaving, other] = event.shiftKey ? [stops[0], stops.at(-1)] : [stops.at(-1), stops[0]];
  if (document.activeElement !== leaving) return;
  event.preventDefault();
  other?.focus();
}
