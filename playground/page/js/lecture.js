// A lecture: a list of steps, each a place on the page and what to say there, from a file in assets/lectures. The strip
// above the presented figure has its words and its buttons.

import { openAddress } from "./links.js";
import { isPresenting, leave, presentCard, presented, refit } from "./presenting.js";
import { node, overPage, say } from "./svg.js";
import * as words from "./words.js";

const FIRST = "decoding"; // the course's own

/**
 * @typedef {{ title: string, say: string, at: string, line: number }} LectureStep  `at`: its address
 * @typedef {{ title: string, steps: LectureStep[], problem?: string }} Lecture
 */

/** By name, as read at the first use. @type {Map<string, Promise<Lecture>>} */
const lectures = new Map();
let place = { name: FIRST, step: 0 }; // where the lecture stands
let problem = ""; // of the step that was opened last

/** @param {string} name @returns {Promise<Lecture>} */
export function load(name) {
  const known = lectures.get(name) ?? fetchLecture(name);
  lectures.set(name, known);
  return known;
}

/** @param {string} name @returns {Promise<Lecture>} */
async function fetchLecture(name) {
  try {
    const answer = await fetch(new URL(`../../../../lectures/${name}.json`, import.meta.url));
    return await answer.json();
  } catch {
    lectures.delete(name); // asked again the next time
    return { title: "", steps: [], problem: words.say("present.unreachable") };
  }
}

/** Forward or back; from before the first step on, and not beyond the last. @param {number} by */
export async function turn(by) {
  const { name } = place;
  const { steps, problem: wrong } = await load(name);
  if (wrong || !steps.length) return complain(wrong ?? "");
  const next = Math.max(1, Math.min(steps.length, place.step + by));
  place = { name, step: next };
  const { at, line } = steps[next - 1];
  const refused = await openAddress(`${at}&lecture=${name}:${next}`);
  complain(refused.length ? words.say("present.refused", { line, names: refused.join(", ") }) : "");
}

/** Begins with the figure at hand, or ends. */
export function togglePresenting() {
  if (isPresenting()) leave();
  else presentCard();
}

/** @param {string} text */
function complain(text) {
  problem = text;
  document.dispatchEvent(new Event("presenting"));
}

/** Puts the strip on the page. */
export function addStrip() {
  const strip = node("header.present-strip", { hidden: "" }, overPage());
  const text = node("div.present-words", {}, strip);
  const title = node("h2", {}, text);
  const sentence = node("p", { role: "status", "aria-live": "polite" }, text);
  const buttons = node("div.present-buttons", {}, strip);
  const back = button(buttons, "present.back", "‹");
  const count = node("span.present-count", {}, buttons);
  const on = button(buttons, "present.on", "›");
  const end = button(buttons, "present.end", "✕");
  back.addEventListener("click", () => turn(-1));
  on.addEventListener("click", () => turn(1));
  end.addEventListener("click", leave);

  async function draw() {
    const isNew = strip.hidden;
    strip.hidden = !isPresenting();
    if (!isPresenting()) return;
    if (isNew) on.focus();
    const { lecture } = presented();
    if (lecture) place = lecture;
    const { steps, problem: wrong } = lecture ? await load(lecture.name) : { steps: [] };
    const step = lecture && steps[lecture.step - 1];
    say(title, step?.title ?? "");
    const trouble = wrong || problem;
    say(sentence, trouble || (step?.say ?? ""));
    sentence.classList.toggle("problem", Boolean(trouble));
    say(
      count,
      step ? words.say("present.count", { step: lecture.step, of: steps.length }) : words.say("present.begin"),
    );
  }

  document.addEventListener("presenting", draw);
  addEventListener("resize", refit);
  new ResizeObserver(refit).observe(strip);
}

/** @param {Element} parent @param {string} key @param {string} sign */
function button(parent, key, sign) {
  const name = words.say(key);
  return node("button.small-button", { type: "button", title: name, "aria-label": name }, parent, sign);
}
