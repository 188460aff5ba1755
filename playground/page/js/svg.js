// Small helpers for drawing. Text goes in as textContent, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** A DOM node: node("div.row", {title: "x"}, parent, "text"). Attributes that are null are left out. */
export function node(kind, attributes = {}, parent = null, text = null) {
  const [tag, ...classes] = kind.split(".");
  return dress(document.createElement(tag), classes, attributes, parent, text);
}

/** An SVG node, in the same way. */
export function svg(kind, attributes = {}, parent = null, text = null) {
  const [tag, ...classes] = kind.split(".");
  return dress(document.createElementNS(SVG, tag), classes, attributes, parent, text);
}

function dress(made, classes, attributes, parent, text) {
  if (classes.length) made.setAttribute("class", classes.join(" "));
  set(made, attributes);
  if (text !== null) made.textContent = text;
  if (parent) parent.appendChild(made);
  return made;
}

export function set(target, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) target.removeAttribute(name);
    else target.setAttribute(name, value);
  }
  return target;
}

/** Sets text only where it differs: an untouched node is not laid out again. */
export function say(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/** Makes `parent` hold exactly `count` children, made by `make` when missing. */
export function pool(parent, count, make) {
  while (parent.children.length > count) parent.lastChild.remove();
  while (parent.children.length < count) parent.appendChild(make(parent.children.length));
  return parent.children;
}
