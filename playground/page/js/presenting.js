// One figure as large as the window, its height included, the sliders below it, and nothing else: for a lecture room.
// lecture.js walks through the steps of a lecture; this module only shows the figure.

import { cardsInSight, enlarge, enlarged } from "./enlarge.js";
import { eventually, nextFrame } from "./eventually.js";
import { set } from "./svg.js";

const LEAST_ZOOM = 1.34; // the smallest letters, 18 pixels, become 24
const MOST_ZOOM = 4;
const PATIENCE_MS = 300; // of a figure that grows
const NARROWEST = 430; // pixels that a figure needs, as on a phone
const HERO = ".panel-distribution"; // presented where nothing else is pointed at
const SIZES = ["--present-zoom", "--present-top", "--present-height"]; // of a card, for presenting.css
const NO_NAMES = /^panel-(body|job_status)$/;

/** What is presented, as an address says it. @type {{ figure: string | null, lecture: { name: string, step: number } | null }} */
let shown = { figure: null, lecture: null };
let fitting = 0; // a newer one ends the one before it
let fitted = 0; // how high the content was then
/** What an experiment brings makes a figure higher. */
const growth = new MutationObserver(() => {
  clearTimeout(waiting);
  waiting = window.setTimeout(() => {
    if (Math.abs((enlarged()?.scrollHeight ?? fitted) - fitted) > 12) refit();
  }, PATIENCE_MS);
});
let waiting = 0;
/** What had the focus before. @type {Element | null} */
let before = null;

export const presented = () => shown;
export const isPresenting = () => document.body.classList.contains("is-presenting");

/** Presents the figure of this name, in a lecture without one the figure at hand; neither: ends it.
 * @param {string | null} figure @param {typeof shown["lecture"]} [lecture] */
export async function present(figure, lecture = null) {
  if (!figure && !lecture) return leave();
  const card = await eventually(() => (figure ? cardOf(figure) : pointedAt()));
  if (!card) return leave();
  if (!isPresenting()) before = document.activeElement;
  shown = { figure: figure ?? nameOf(card), lecture };
  const isSame = isPresenting() && enlarged() === card;
  markPage(true);
  if (enlarged() !== card) enlarge(card);
  tell();
  await fit(card, isSame);
}

/** Presents this card, or the one that is pointed at. @param {Element | null} [card] */
export async function presentCard(card = pointedAt()) {
  if (card) await present(nameOf(card), shown.lecture);
}

export function leave() {
  if (!isPresenting()) return;
  markPage(false);
  const card = enlarged();
  card?.classList.remove("is-fitting");
  if (card instanceof HTMLElement) for (const name of SIZES) card.style.removeProperty(name);
  enlarge(null);
  fitting += 1;
  growth.disconnect();
  shown = { figure: null, lecture: null };
  if (before instanceof HTMLElement) before.focus();
  tell();
}

/** Gradio repeats each style under .contain, where it would win over one that knows only the body.
 * @param {boolean} isOn */
function markPage(isOn) {
  for (const element of [document.body, ...document.querySelectorAll(".contain > *")])
    element.classList.toggle("is-presenting", isOn);
}

/** Whoever shows or remembers what is presented hears of it. */
function tell() {
  set(document.body, { "data-presented": null });
  document.dispatchEvent(new Event("presenting"));
}

function pointedAt() {
  const cards = cardsInSight();
  const isAt = (/** @type {string} */ selector) => cards.find((card) => card.querySelector(`:scope ${selector}`));
  return (
    enlarged() ??
    cards.find((card) => card.matches(":hover") || card.contains(document.activeElement)) ??
    isAt(HERO) ??
    cards[0] ??
    null
  );
}

/** A figure is called as its picture or as the element that holds it; ".2": the second one of that name.
 * @param {string} name */
function cardOf(name) {
  const [kind, which] = name.split(".");
  const pictures = [...document.querySelectorAll(`#tabs .panel-${kind}, #tabs #${kind}`)];
  const cards = pictures.map((picture) => picture.closest(".card")).filter((card) => card && isInSight(card));
  return [...new Set(cards)][Number(which ?? 1) - 1] ?? null;
}

/** @param {Element} card */
function nameOf(card) {
  const picture = [...card.querySelectorAll(".panel")].find((panel) => kindOf(panel));
  const kind = picture && kindOf(picture);
  if (!kind) return null;
  for (let which = 1; which < 100; which += 1) {
    const name = which === 1 ? kind : `${kind}.${which}`;
    const found = cardOf(name);
    if (found === card) return name;
    if (!found) return null;
  }
  return null;
}

/** @param {Element} panel */
function kindOf(panel) {
  const kind = [...panel.classList].find((each) => each.startsWith("panel-") && !NO_NAMES.test(each));
  return kind?.slice("panel-".length) ?? null;
}

/** @param {Element} element */
const isInSight = (element) => element.getClientRects().length > 0;

/** The card fills what is left of the window, at the largest zoom with which all of it is seen: pictures are laid out
 * narrower then, and grow in height. @param {Element} card @param {boolean} isSame  it was there before */
async function fit(card, isSame, tries = 2) {
  if (!(card instanceof HTMLElement)) return;
  const turn = ++fitting;
  const isOver = () => turn !== fitting || !isPresenting();
  /** @param {number} zoom */
  const fitsAt = async (zoom) => {
    card.style.setProperty("--present-zoom", zoom.toFixed(3));
    await nextFrame(); // the pictures hear of their new width
    await nextFrame(); // and have drawn
    return card.scrollHeight <= card.clientHeight + 1;
  };
  if (!isSame) card.classList.add("is-fitting");
  await nextFrame(); // the words above and the sliders below have their height
  const { top, height } = roomFor();
  card.style.setProperty("--present-top", `${top}px`);
  card.style.setProperty("--present-height", `${height}px`);
  let [low, high] = [LEAST_ZOOM, Math.max(LEAST_ZOOM, Math.min(MOST_ZOOM, innerWidth / NARROWEST))];
  while (high - low > 0.06 && !isOver()) {
    const middle = (low + high) / 2;
    if (await fitsAt(middle)) low = middle;
    else high = middle;
  }
  const isRight = await fitsAt(low); // or more has come meanwhile
  if (isOver()) return;
  if (!isRight && low > LEAST_ZOOM && tries > 0) return fit(card, isSame, tries - 1);
  card.classList.remove("is-fitting");
  fitted = card.scrollHeight;
  growth.disconnect();
  set(document.body, { "data-presented": shown.figure });
  growth.observe(card, { childList: true, subtree: true, characterData: true });
}

/** Between the words above and the sliders below. */
function roomFor() {
  const heightOf = (/** @type {string} */ selector) =>
    document.querySelector(selector)?.getBoundingClientRect().height ?? 0;
  const top = heightOf(".present-strip") + 8;
  return { top, height: Math.max(200, innerHeight - top - heightOf("#controls") - 8) };
}

/** When the window, or what stands above the figure, has another size. */
export function refit() {
  const card = enlarged();
  if (isPresenting() && card) fit(card, true);
}
