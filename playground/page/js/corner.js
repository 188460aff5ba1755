// The buttons in the corner of the page: what belongs to all tabs and to no figure.

import { node } from "./svg.js";
import * as words from "./words.js";

/** A button whose words are a text of the catalogue. @param {string} key @param {import("./svg.js").Attributes} attributes */
export function cornerButton(key, attributes) {
  const corner =
    document.querySelector(".corner") ?? node("div.corner", {}, document.querySelector("#bar") ?? document.body);
  return node("button.small-button", { type: "button", ...attributes }, corner, words.say(key));
}
