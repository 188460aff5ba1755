// What is often read about the cache, what is so, and a button to where it can be seen. Then what to read instead.

import { node } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/**
 * @typedef {import("../../page/js/words.js").Told} Told
 * @typedef {{ said: Told, so: Told, verdict: Told, tab: Told, part: Told | null, reason: string }} Claim  tabs by their names
 * @typedef {{ title: Told, address: string }} Reading
 */

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const list = node("div.claims", {}, element);
  const { claims, reading } = /** @type {{ claims: Claim[], reading: Reading[] }} */ (api.props.value);
  for (const claim of claims) addClaim(list, claim, api.store);
  node("h3", {}, element, words.say("inside_the_cache.claim_words.reading"));
  const links = node("ul.claim-links", {}, element);
  for (const { title, address } of reading) addLink(node("li", {}, links), title, address);
  return {};
}

/** @param {Element} list @param {Claim} claim @param {import("../../page/js/types.js").Store} store */
function addClaim(list, claim, store) {
  const box = node("details.claim", { name: "claim" }, list);
  const head = node("summary", {}, box);
  node("span.claim-said", {}, head, words.say(claim.said));
  node("span.claim-verdict", {}, head, words.say(claim.verdict));
  node("p", {}, box, words.say(claim.so));
  const where = words.say(claim.part ?? claim.tab);
  const name = words.say("inside_the_cache.claim_words.see", { where });
  const button = node("button.small-button", { type: "button" }, box, name);
  button.addEventListener("click", () => {
    if (claim.reason) store.set({ reason: claim.reason });
    openTab("#tabs", words.say(claim.tab));
    if (claim.part) openTab("#cache-parts", words.say(claim.part));
  });
}

/** Presses a tab's own button, which stands in a menu where the window is narrow: Gradio has no other way in.
 * @param {string} tabs  selector @param {string} name */
function openTab(tabs, name) {
  /** @type {NodeListOf<HTMLElement>} */
  const buttons = document.querySelectorAll(`${tabs} > .tab-wrapper :is([role=tab], .overflow-dropdown button)`);
  [...buttons].find((button) => button.textContent?.trim() === name)?.click();
  document.querySelector(tabs)?.scrollIntoView({ block: "start" });
}

/** @param {Element} item @param {Told} title @param {string} address */
function addLink(item, title, address) {
  if (!address.startsWith("https://")) throw new Error(`not an address that may be linked: ${address}`);
  node("span", {}, item, words.say(title));
  item.append(" ");
  node("a", { href: address, target: "_blank", rel: "noreferrer" }, item, address);
}
