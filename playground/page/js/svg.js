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

export function percent(share) {
  const value = 100 * share;
  if (value === 0) return "0 %";
  if (value >= 99.95 && share < 1) return "> 99.9 %";
  if (value >= 10) return `${value.toFixed(1)} %`;
  if (value >= 0.01) return `${value.toFixed(2)} %`;
  return "< 0.01 %";
}

export function bytes(count) {
  if (count < 1024) return `${count} B`;
  const [size, unit] = count < 1024 ** 2 ? [count / 1024, "KiB"] : [count / 1024 ** 2, "MiB"];
  return `${size.toLocaleString("en", { maximumFractionDigits: size < 10 ? 2 : 1 })} ${unit}`;
}

export function milliseconds(seconds) {
  const value = 1000 * seconds;
  return value < 10 ? `${value.toFixed(2)} ms` : value < 1000 ? `${value.toFixed(0)} ms` : `${seconds.toFixed(2)} s`;
}
