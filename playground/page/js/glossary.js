// The field's terms, explained where they first stand in a title, a lesson or at a slider: on hover, focus and touch. And
// all of them as a list. assets/words/en/glossary.toml has the words, and the spellings under which each is found.

import { node, overPage, say } from "./svg.js";
import * as words from "./words.js";

// Where terms are looked for. [data-terms] is for whoever wants another element explained.
const PLACES =
  ".card-title p, .card-title h2, .card-title h3, .lesson p, .lesson h2, .card-head h2, .control-head label, [data-terms]";
const HOLDERS = ".card, .lesson, .control"; // in one of these a term is explained once

/** @typedef {{ key: string, name: string, pattern: RegExp }} Term */

/** @returns {Term[]} */
function terms() {
  const keys = words.keysOf("glossary.").filter((key) => key.endsWith(".spelled"));
  return keys.map((key) => {
    const term = key.split(".")[1];
    const spelled = words.say(`glossary.${term}.spelled`);
    return { key: term, name: words.say(`glossary.${term}.name`), pattern: patternOf(spelled) };
  });
}

/** "top-p|nucleus" as whole words, in small letters or with a capital. @param {string} spelled */
export function patternOf(spelled) {
  const longestFirst = spelled.split("|").sort((one, other) => other.length - one.length);
  const escaped = longestFirst.join("|").replace(/[.*+?^${}()[\]\\]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}-])(?:${escaped})(?![\\p{L}\\p{N}-])`, "iu");
}

/**
 * Where the terms stand in a text, one after the other: of two that begin together the longer one, each term once.
 * @param {string} text @param {Pick<Term, "key" | "pattern">[]} all @param {Set<string>} [known]  not marked again
 * @returns {{ key: string, start: number, stop: number }[]}
 */
export function termsIn(text, all, known = new Set()) {
  /** @typedef {{ key: string, start: number, stop: number }} Place */
  /** @type {(pattern: RegExp, from: number) => { start: number, stop: number } | null} */
  const next = (pattern, from) => {
    const match = pattern.exec(from ? text.slice(from) : text);
    return match && { start: from + match.index, stop: from + match.index + match[0].length };
  };
  /** @type {(Place & { pattern: RegExp })[]} */
  let left = []; // each term where it stands next
  for (const { key, pattern } of all) {
    const place = known.has(key) ? null : next(pattern, 0);
    if (place) left.push({ key, pattern, ...place });
  }
  /** @type {Place[]} */
  const found = [];
  while (left.length) {
    const { key, start, stop } = left.reduce((first, each) =>
      each.start < first.start || (each.start === first.start && each.stop > first.stop) ? each : first,
    );
    found.push({ key, start, stop });
    left = left.flatMap((each) => {
      if (each.key === key) return [];
      const place = each.start < stop ? next(each.pattern, stop) : each;
      return place ? [{ ...each, ...place }] : [];
    });
  }
  return found;
}

/** The list at the end of the help, and from now on the marks on the page. @param {HTMLDialogElement} help */
export function addGlossary(help) {
  const all = terms().sort((one, other) => one.name.localeCompare(other.name));
  node("h2", {}, help, words.say("glossary.list.title"));
  const list = node("dl.glossary", {}, help);
  for (const { key, name } of all) {
    node("dt", {}, list, name);
    node("dd", { id: `term-${key}` }, list, words.say(`glossary.${key}.text`));
  }
  const tip = tooltip();
  const page = document.querySelector(".gradio-container") ?? document.body;
  /** @type {Set<Element>} */
  const changed = new Set();
  const mark = () => {
    for (const element of changed) markTerms(element, all, tip);
    changed.clear();
  };
  /** @param {Element} element */
  const note = (element) => {
    if (changed.size === 0) requestAnimationFrame(mark);
    changed.add(element);
  };
  new MutationObserver((records) => {
    for (const { target, addedNodes } of records) {
      if (target instanceof Element && target.matches(PLACES)) note(target);
      for (const added of addedNodes)
        if (added instanceof Element) for (const element of placesIn(added)) note(element);
    }
  }).observe(page, { childList: true, subtree: true });
  for (const element of placesIn(page)) note(element);
}

/** @param {Element} root */
function placesIn(root) {
  return [...(root.matches(PLACES) ? [root] : []), ...root.querySelectorAll(PLACES)];
}

/** @param {Element} element @param {Term[]} all @param {ReturnType<typeof tooltip>} tip */
function markTerms(element, all, tip) {
  const holder = element.closest(HOLDERS) ?? element;
  const known = new Set([...holder.querySelectorAll(".term")].map((each) => each.getAttribute("data-term") ?? ""));
  for (const text of textsIn(element)) {
    for (const { key, start, stop } of termsIn(text.data, all, known).reverse()) {
      known.add(key);
      const rest = text.splitText(start);
      rest.splitText(stop - start);
      const marked = node("dfn.term", { tabindex: 0, "data-term": key, "aria-describedby": `term-${key}` });
      rest.replaceWith(marked);
      marked.append(rest);
      tip.follow(marked);
    }
  }
}

/** Its own letters, not those of buttons and code in it. @param {Element} element @returns {Text[]} */
function textsIn(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT, (text) =>
    text.parentElement?.closest("button, code, a, .term, [translate=no]")
      ? NodeFilter.FILTER_REJECT
      : NodeFilter.FILTER_ACCEPT,
  );
  const texts = [];
  while (walker.nextNode()) texts.push(/** @type {Text} */ (walker.currentNode));
  return texts;
}

/** One for all terms. It stays while the pointer is on it, and Escape takes it away. */
function tooltip() {
  const box = node("div.term-tip", { role: "tooltip", hidden: "" }, overPage());
  const [title, text] = [node("b", {}, box), node("span", {}, box)];
  /** @type {HTMLElement | null} */
  let owner = null;
  let leaving = 0;

  /** @param {HTMLElement} term */
  function show(term) {
    clearTimeout(leaving);
    owner = term;
    const key = term.dataset.term ?? "";
    say(title, words.say(`glossary.${key}.name`));
    say(text, words.say(`glossary.${key}.text`));
    box.hidden = false;
    const at = term.getBoundingClientRect();
    const { width, height } = box.getBoundingClientRect();
    const isBelow = at.bottom + height + 8 < innerHeight;
    box.style.left = `${Math.max(8, Math.min(at.left, innerWidth - width - 8))}px`;
    box.style.top = `${isBelow ? at.bottom + 6 : Math.max(8, at.top - height - 6)}px`;
  }

  function hide() {
    clearTimeout(leaving);
    box.hidden = true;
    owner = null;
  }

  const hideSoon = () => {
    clearTimeout(leaving);
    leaving = window.setTimeout(hide, 200);
  };

  box.addEventListener("pointerenter", () => clearTimeout(leaving));
  box.addEventListener("pointerleave", hideSoon);
  document.addEventListener("scroll", hide, { capture: true, passive: true });
  document.addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Escape" || !owner) return;
      event.stopPropagation(); // the first Escape is for the tip, the next for what is enlarged
      hide();
    },
    { capture: true },
  );
  return {
    /** @param {HTMLElement} term */
    follow(term) {
      term.addEventListener("pointerenter", (event) => event.pointerType !== "touch" && show(term));
      term.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && hideSoon());
      term.addEventListener("focus", () => show(term));
      term.addEventListener("blur", hide);
      term.addEventListener("click", (event) => {
        event.preventDefault(); // of a label, which would move the focus to its slider
        show(term);
      });
    },
  };
}
