// What a person reads: the texts of assets/words/, said with facts filled in. words.py says the same and has the grammar.

import * as numbers from "./numbers.js";

/** @typedef {{ fact: string, style?: string, cases?: Record<string, Part[]> }} Slot where a fact goes */
/** @typedef {string | Slot} Part */
/** @typedef {{ key: string, facts: Record<string, any> }} Told what `told` of words.py made */

/** @type {Record<string, (value: any) => string>} */
const STYLES = {
  bytes: numbers.bytes,
  milliseconds: numbers.milliseconds,
  percent: numbers.percent,
  plain: numbers.plain,
  ratio: numbers.ratio,
  seconds: numbers.seconds,
  small: numbers.small,
};
const NAME = /\s*([A-Za-z_][A-Za-z0-9_]*)\s*/y;
const PLURAL = /\s*plural\s*,/y;
const STYLE = /\s*([a-z]+|\.[0-9])\s*\}/y;
const CASE = /\s*(=[0-9]+|[a-z]+)\s*\{/y;
const END = /\s*\}/y;
/** @type {Slot} in a plural: its number */
const NUMBER_SIGN = { fact: "#" };
const RULE = new Intl.PluralRules("en", { maximumFractionDigits: 20 }); // 1.0001 is not one;

/** @type {Record<string, string>} */
let texts = {};
/** @type {Map<string, Part[]>} */
const messages = new Map();

/** Fetches the catalogue; until then nothing can be said. @param {URL} url */
export async function load(url = new URL("../../words/en.json", import.meta.url)) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  use(await answer.json());
}

/** For tests in node, where nothing is fetched. @param {Record<string, string>} catalogue text by key */
export function use(catalogue) {
  texts = catalogue;
  messages.clear();
}

/** The keys that begin so, in the order of the file. @param {string} start */
export function keysOf(start) {
  return Object.keys(texts).filter((key) => key.startsWith(start));
}

/**
 * The text of a key with its facts filled in, or of what Python told. Throws an Error naming a key that is not in the
 * catalogue, a fact that is missing, or one that is neither a text nor a number nor told itself.
 * @param {string | Told} key @param {Record<string, any>} facts
 * @returns {string}
 */
export function say(key, facts = {}) {
  if (typeof key === "object") return say(key.key, key.facts);
  return said(key, message(key), facts, 0);
}

/** What a panel was given to show: a text as it is, what Python told said, a number spelled, nothing as "".
 * @param {string | number | Told | null | undefined} given */
export function text(given) {
  if (given === null || given === undefined) return "";
  if (typeof given === "number") return numbers.count(given);
  return typeof given === "string" ? given : say(given);
}

/** @param {string} key */
function message(key) {
  let parts = messages.get(key);
  if (parts) return parts;
  if (!Object.hasOwn(texts, key)) throw new Error(`no text is called "${key}"`);
  parts = parse(texts[key]);
  messages.set(key, parts);
  return parts;
}

/** The parts of a text. Throws an Error that names what can't be read. @param {string} text */
export function parse(text) {
  const { parts, end } = partsFrom(text, 0, false);
  if (end < text.length) throw new Error(`a brace is closed that was not opened: ${text.slice(end, end + 30)}`);
  return parts;
}

/** From `at` up to the brace that closes this stretch, or the end. @param {string} text @param {number} at @param {boolean} inPlural */
function partsFrom(text, at, inPlural) {
  /** @type {Part[]} */
  const parts = [];
  let letters = "";
  /** @param {Slot} slot */
  const add = (slot) => {
    parts.push(...(letters ? [letters] : []), slot);
    letters = "";
  };
  while (at < text.length && text[at] !== "}") {
    if (text[at] === "'") {
      const { quoted, end } = apostrophe(text, at, inPlural);
      letters += quoted;
      at = end;
    } else if (text[at] === "{") {
      const { slot, end } = slotFrom(text, at + 1);
      add(slot);
      at = end;
    } else if (text[at] === "#" && inPlural) {
      add(NUMBER_SIGN);
      at += 1;
    } else letters += text[at++];
  }
  if (letters) parts.push(letters);
  return { parts, end: at };
}

/** What an apostrophe means here, and where to go on. @param {string} text @param {number} at @param {boolean} inPlural */
function apostrophe(text, at, inPlural) {
  const following = text[at + 1];
  if (following === "'") return { quoted: "'", end: at + 2 };
  if (following === undefined || !(inPlural ? "{}#" : "{}").includes(following)) return { quoted: "'", end: at + 1 };
  const end = text.indexOf("'", at + 1);
  return end < 0 ? { quoted: text.slice(at + 1), end: text.length } : { quoted: text.slice(at + 1, end), end: end + 1 };
}

/** What stands after an opening brace, and the place after the closing one. @param {string} text @param {number} at */
function slotFrom(text, at) {
  const name = matched(NAME, text, at);
  if (!name) throw new Error(`a name should follow the brace: ${text.slice(at, at + 30)}`);
  at += name[0].length;
  if (text[at] === "}") return { slot: { fact: name[1] }, end: at + 1 };
  if (text[at] !== ",") throw new Error(`a comma or a closing brace should follow ${name[1]}: ${text.slice(at)}`);
  const plural = matched(PLURAL, text, at + 1);
  if (plural) {
    const { cases, end } = casesFrom(text, at + 1 + plural[0].length);
    return { slot: { fact: name[1], cases }, end };
  }
  const style = matched(STYLE, text, at + 1);
  if (!style || !(Object.hasOwn(STYLES, style[1]) || style[1].startsWith(".")))
    throw new Error(`${name[1]} is to be spelled in a way that is not known: ${text.slice(at + 1)}`);
  return { slot: { fact: name[1], style: style[1] }, end: at + 1 + style[0].length };
}

/** @param {string} text @param {number} at */
function casesFrom(text, at) {
  /** @type {Record<string, Part[]>} */
  const cases = {};
  for (let found = matched(CASE, text, at); found; found = matched(CASE, text, at)) {
    const { parts, end } = partsFrom(text, at + found[0].length, true);
    if (end === text.length) throw new Error(`the braces of the case ${found[1]} are not closed`);
    cases[found[1]] = parts;
    at = end + 1;
  }
  const end = matched(END, text, at);
  if (!end || !cases.other)
    throw new Error(`a plural needs cases like one {...}, the case other, and a closing brace: ${text.slice(at)}`);
  return { cases, end: at + end[0].length };
}

/** @param {RegExp} pattern a sticky one @param {string} text @param {number} at */
function matched(pattern, text, at) {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** @param {string} key @param {Part[]} parts @param {Record<string, any>} facts @param {numbers.Told} number @returns {string} */
function said(key, parts, facts, number) {
  let text = "";
  for (const part of parts) text += typeof part === "string" ? part : filled(key, part, facts, number);
  return text;
}

/** The parts for just this number, else those of its category. @param {Record<string, Part[]>} cases @param {number} number */
function caseOf(cases, number) {
  return cases[`=${number}`] ?? cases[RULE.select(number)] ?? cases.other;
}

/** @param {string} key @param {Slot} slot @param {Record<string, any>} facts @param {numbers.Told} number @returns {string} */
function filled(key, slot, facts, number) {
  if (slot === NUMBER_SIGN) return numbers.count(number);
  const { fact: name, style, cases } = slot;
  const fact = facts[name];
  if (fact === undefined) throw new Error(`${key} asks for "${name}"`);
  if (!style && !cases && typeof fact === "string") return fact;
  if (!style && !cases && fact && typeof fact === "object" && !("about" in fact)) return say(fact);
  if (typeof (fact?.about ?? fact) !== "number") throw new Error(`${key}: "${name}" can't be said, got ${fact}`);
  if (cases) return said(key, caseOf(cases, numbers.numberIn(fact)), facts, fact);
  if (!style) return numbers.count(fact);
  return style.startsWith(".") ? numbers.decimals(fact, Number(style.slice(1))) : STYLES[style](fact);
}
