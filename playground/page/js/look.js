// How a picture asks the tab around it for another layer or token.

/** Asks the tab around `element` for another layer or token, e.g. look(element, { layer: 2 }). */
export function look(element, detail) {
  element.dispatchEvent(new CustomEvent("look", { detail, bubbles: true }));
}
