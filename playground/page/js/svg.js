// Small helpers for drawing. Text goes in as textContent, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Record<string, string | number | boolean | null | undefined>} Attributes */

/**
 * A DOM node: node("div.row", {title: "x"}, parent, "text"). Attributes that are null are left out.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag | `${Tag}.${string}`} kind
 * @param {Attributes} [attributes]
 * @param {Element | null} [parent]
 * @param {string | null} [text]
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function node(kind, attributes = {}, parent = null, text = null) {
  const [tag, ...classes] = kind.split(".");
  const made = /** @type {HTMLElementTagNameMap[Tag]} */ (document.createElement(tag));
  return dress(made, classes, attributes, parent, text);
}

/**
 * An SVG node, in the same way.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag | `${Tag}.${string}`} kind
 * @param {Attributes} [attributes]
 * @param {Element | null} [parent]
 * @param {string | null} [text]
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function svg(kind, attributes = {}, parent = null, text = null) {
  const [tag, ...classes] = kind.split(".");
  const made = /** @type {SVGElementTagNameMap[Tag]} */ (document.createElementNS(SVG, tag));
  return dress(made, classes, attributes, parent, text);
}

/**
 * @template {Element} Made
 * @param {Made} made
 * @param {string[]} classes
 * @param {Attributes} attributes
 * @param {Element | null} parent
 * @param {string | null} text
 */
function dress(made, classes, attributes, parent, text) {
  if (classes.length) made.setAttribute("class", classes.join(" "));
  set(made, attributes);
  if (text !== null) made.textContent = text;
  if (parent) parent.appendChild(made);
  return made;
}

/** What lies over the page goes in here: elsewhere Gradio leaves the styles for small windows and for print out. */
export const overPage = () => document.querySelector(".contain") ?? document.body;

/**
 * @template {Element} Target
 * @param {Target} target
 * @param {Attributes} attributes
 */
export function set(target, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) target.removeAttribute(name);
    else target.setAttribute(name, String(value));
  }
  return target;
}

/** Sets text only where it differs: an untouched node is not laid out again. @param {Element} target @param {string} text */
export function say(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/** A token's label; the sign for its space in front stands apart, so that a style can hide it.
 * @param {Element} target @param {string} label */
export function sayToken(target, label) {
  if (target.textContent === label) return;
  const [space, rest] = label.length > 1 && label.startsWith("␣") ? ["␣", label.slice(1)] : ["", label];
  target.replaceChildren(...(space ? [node("span.space", {}, null, space)] : []), rest);
}

/**
 * Makes `parent` hold exactly `count` children, made by `make` when missing.
 * @template {Element} Child
 * @param {Element} parent
 * @param {number} count
 * @param {(place: number) => Child} [make]  not needed where nothing is to be added
 * @returns {HTMLCollection & Record<number, Child> & Iterable<Child>}
 */
export function pool(parent, count, make) {
  while (parent.children.length > count) parent.lastElementChild?.remove();
  while (make && parent.children.length < count) parent.appendChild(make(parent.children.length));
  return /** @type {any} */ (parent.children);
}
