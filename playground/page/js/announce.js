// One place from which a screen reader hears results: once each, politely. Interim counts are for the eye.

import { node } from "./svg.js";

let region = null;

export function announce(text) {
  region ??= node(
    "div.only-heard",
    { id: "announcement", role: "status", "aria-live": "polite" },
    document.querySelector("#bar") ?? document.body,
  );
  region.textContent = text;
}
