// A place on the page as the end of an address, and back: "prompt=The+dog&temperature=1.4&step=2&tab=answers".
// Only arithmetic: links.js says where a person is, and goes there. What an address names is checked here as the page
// checks what is typed: another value is refused, whoever wrote the address.

/**
 * What an entry of an address may be.
 * @typedef {{ min: number, max: number, whole: boolean } | { options: (string | boolean)[] } | { letters: number }} Kind
 */

/**
 * What the page takes: `opening` is the place where it opens, whose values an address leaves out.
 * @typedef {object} Known
 * @property {Place} opening
 * @property {string[]} models
 * @property {Record<string, Kind>} settings  of the sliders and the boxes beside them
 * @property {Record<string, Kind>} view  other keys of the store
 * @property {number} vocabSize
 * @property {number} mostSteps
 */

/**
 * Where somebody is. `answer` has the settings of the answer on the page that are no longer those of bar and sliders.
 * @typedef {object} Place
 * @property {string[]} tab  the names of the tab and of those inside it
 * @property {string} model
 * @property {string} prompt
 * @property {Record<string, any>} settings
 * @property {Record<string, any>} answer
 * @property {[step: number, tokenId: number][]} forced  tokens of the answer that its settings alone would not give
 * @property {number | null} step
 * @property {Record<string, any>} view
 * @property {Record<string, string>} fields  of experiments, by the id of the element
 * @property {string | null} pressed  the button of an experiment, by its id
 * @property {string | null} figure  presented
 * @property {{ name: string, step: number } | null} lecture  the step from 1
 */

const NAME = /^[A-Za-z][\w-]*$/;
const FIGURE = /^[A-Za-z][\w-]*(\.[1-9]\d?)?$/;
const NUMBER = /^-?\d+(\.\d+)?(e-?\d+)?$/;
export const MOST_LETTERS = 2000; // of a box
const MOST_HISTORY = 40_000; // letters of a conversation
const HALF_A_CHARACTER = /\p{Surrogate}/gu; // can't stand in an address

/** The place as text. What is as the page opens is left out; the tab comes last, since a chat program may take a
 * question mark at the end of an address for the writer's own. @param {Place} place @param {Place} opening @returns {string} */
export function addressOf(place, opening) {
  /** @type {[string, string][]} */
  const entries = [];
  /** @param {string} name @param {any} value @param {any} [usual] */
  const add = (name, value, usual = null) => {
    if (value !== null && value !== undefined && value !== usual) entries.push([name, String(value)]);
  };
  add("model", place.model, opening.model);
  add("prompt", place.prompt, opening.prompt);
  for (const [name, value] of Object.entries(place.settings)) add(name, value, opening.settings[name]);
  for (const [name, value] of Object.entries(place.answer)) add(`answer.${name}`, value);
  if (place.forced.length) add("forced", place.forced.map((pair) => pair.join(":")).join(","));
  add("step", place.step, opening.step);
  for (const [name, value] of Object.entries(place.view)) add(name, value, opening.view[name]);
  for (const [id, value] of Object.entries(place.fields)) add(`set.${id}`, value);
  add("do", place.pressed);
  add("figure", place.figure);
  if (place.lecture) add("lecture", `${place.lecture.name}:${place.lecture.step}`);
  add("tab", place.tab.join("/"), entries.length ? undefined : opening.tab.join("/"));
  return entries.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join("&");
}

/** Letters that a chat program cuts off at the end of an address are encoded too. @param {string} text */
function encoded(text) {
  const strict = encodeURIComponent(text.replace(HALF_A_CHARACTER, "\uFFFD")).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return strict.replaceAll("%20", "+").replaceAll("%2F", "/").replaceAll("%3A", ":").replaceAll("%2C", ",");
}

/**
 * The place that an address names, and the names in it that are refused. Of a name that comes twice the first counts.
 * @param {string} text  with or without what stands before #
 * @param {Known} known
 * @returns {{ place: Place, refused: string[] }}
 */
export function placeOf(text, known) {
  const { opening } = known;
  /** @type {Place} */
  const place = {
    ...opening,
    settings: { ...opening.settings },
    answer: {},
    forced: [],
    view: { ...opening.view },
    fields: {},
    pressed: null,
    figure: null,
    lecture: null,
  };
  /** @type {Set<string>} */
  const seen = new Set();
  /** @type {string[]} */
  const refused = [];
  for (const [name, value] of new URLSearchParams(text.slice(text.indexOf("#") + 1))) {
    if (seen.has(name)) continue;
    seen.add(name);
    if (!take(place, name, value, known)) refused.push(name);
  }
  return { place, refused };
}

/** Whether the entry could be taken. @param {Place} place @param {string} name @param {string} value @param {Known} known */
function take(place, name, value, known) {
  const [room, rest] = name.startsWith("answer.") ? ["answer", name.slice(7)] : ["", name];
  const texts = room ? place.answer : place;
  if (rest === "prompt") return put(texts, rest, value);
  if (room && rest === "history") return put(texts, rest, historyOf(value));
  if (rest === "model") return put(texts, rest, known.models.includes(value) ? value : null);
  if (Object.hasOwn(known.settings, rest)) {
    return put(room ? place.answer : place.settings, rest, readAs(value, known.settings[rest]));
  }
  if (room) return false;
  if (Object.hasOwn(known.view, name)) return put(place.view, name, readAs(value, known.view[name]));
  if (name.startsWith("set.")) {
    const id = name.slice(4);
    return NAME.test(id) && value.length <= MOST_LETTERS && put(place.fields, id, value);
  }
  return Object.hasOwn(OTHERS, name) && put(place, ...OTHERS[name](value, known));
}

/** How the other entries are read: the key of the place, and null for what is refused.
 * @type {Record<string, (value: string, known: Known) => [keyof Place, any]>} */
const OTHERS = {
  forced: (value, known) => ["forced", forcedOf(value, known)],
  step: (value, { mostSteps }) => ["step", readAs(value, { min: 0, max: mostSteps - 1, whole: true })],
  do: (value) => ["pressed", NAME.test(value) ? value : null],
  figure: (value) => ["figure", FIGURE.test(value) ? value : null],
  lecture: (value) => ["lecture", lectureOf(value)],
  tab: (value) => ["tab", value.split("/").every((id) => NAME.test(id)) ? value.split("/") : null],
};

/** @param {Record<string, any>} target @param {string} name @param {any} value  null: refused */
function put(target, name, value) {
  if (value !== null) target[name] = value;
  return value !== null;
}

/** @param {string} text @param {Kind} kind @returns {number | string | boolean | null} */
function readAs(text, kind) {
  if ("letters" in kind) return text.length <= kind.letters ? text : null;
  if ("options" in kind) return kind.options.find((option) => String(option) === text) ?? null;
  const value = NUMBER.test(text) ? Number(text) : Number.NaN;
  const isRight = value >= kind.min && value <= kind.max && (!kind.whole || Number.isInteger(value));
  return isRight ? value : null;
}

/** "2:1234,5:77", the steps in order. @param {string} text @param {Known} known @returns {[number, number][] | null} */
function forcedOf(text, { vocabSize, mostSteps }) {
  /** @type {[number, number][]} */
  const pairs = [];
  for (const pair of text.split(",")) {
    const found = /^(\d{1,6}):(\d{1,9})$/.exec(pair);
    const [step, tokenId] = found ? [Number(found[1]), Number(found[2])] : [-1, -1];
    const isLater = step > (pairs.at(-1)?.[0] ?? -1);
    if (!isLater || step >= mostSteps || tokenId >= vocabSize) return null;
    pairs.push([step, tokenId]);
  }
  return pairs;
}

/** Questions and answers by turns, as JSON. @param {string} text @returns {string | null} */
function historyOf(text) {
  if (text.length > MOST_HISTORY) return null;
  try {
    const texts = JSON.parse(text);
    const isRight = Array.isArray(texts) && texts.length > 0 && texts.length % 2 === 0;
    return isRight && texts.every((each) => typeof each === "string") ? JSON.stringify(texts) : null;
  } catch {
    return null;
  }
}

/** @param {string} text @returns {Place["lecture"]} */
function lectureOf(text) {
  const found = /^([A-Za-z][\w-]*):([1-9]\d{0,2})$/.exec(text);
  return found && { name: found[1], step: Number(found[2]) };
}

/** What an answer is written from.
 * @param {Pick<Place, "model" | "prompt" | "settings" | "answer" | "forced">} place @returns {Record<string, any>} */
export function wantedAnswer({ model, prompt, settings, answer, forced }) {
  return { model, prompt, history: "", ...settings, ...answer, forced: JSON.stringify(forced) };
}

/** @param {Record<string, any>} wanted @param {Record<string, any>} written */
export function isSameAnswer(wanted, written) {
  return Object.keys(wanted).every((name) => wanted[name] === written[name]);
}

/** The settings of a written answer that bar and sliders no longer have. @param {Record<string, any>} written  with its
 * model and prompt @param {Record<string, any>} now  the same of bar and sliders @returns {Record<string, any>} */
export function differences(written, now) {
  return Object.fromEntries(
    Object.keys(now)
      .filter((name) => written[name] !== undefined && written[name] !== now[name])
      .map((name) => [name, written[name]]),
  );
}
