// What was set and pressed in the tabs' own experiments: boxes and buttons that have an id there. An address names them.

import { eventually } from "./eventually.js";

const OWN_ID = /^(?!component-)[A-Za-z][\w-]*$/; // Gradio numbers what has no name of its own
const BOX = "input:not([type=range]):not([type=file]):not([role]), textarea, select"; // a list of Gradio has a role

/** By the id of the box, or of what holds it. @type {Map<string, string>} */
const fields = new Map();
/** The button pressed last, by the tabs that were open. @type {Map<string, string>} */
const pressed = new Map();

/** @param {() => string} tabNow  the open tabs as one name @param {() => void} tell  something has changed */
export function followExperiments(tabNow, tell) {
  const tabs = document.querySelector("#tabs");
  if (!tabs) return;
  for (const kind of ["input", "change"]) {
    tabs.addEventListener(kind, ({ target }) => {
      const box = target instanceof Element && target.matches(BOX) ? target : null;
      const id = box && idOf(box);
      if (!box || !id) return;
      fields.set(id, setTo(box));
      tell();
    });
  }
  tabs.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? target.closest("button[id]") : null;
    if (!button || !isExperiment(button)) return;
    pressed.set(tabNow(), button.id);
    tell();
  });
}

/** What an address says of them. @param {string} tab  the open tabs as one name */
export function experimentsNow(tab) {
  const there = [...fields].filter(([id]) => isInTabs(id));
  return { fields: Object.fromEntries(there), pressed: pressed.get(tab) ?? null };
}

/** Sets boxes and presses a button, as a hand would. What is not there, or does not take the value, is left as it is.
 * @param {Record<string, string>} wanted @param {string | null} button */
export async function repeatExperiment(wanted, button) {
  for (const [id, value] of Object.entries(wanted)) {
    const holder = await eventually(() => isElsewhere(id) || find(id));
    if (holder instanceof HTMLElement) setField(holder, value);
  }
  const found = button && (await eventually(() => isElsewhere(button) || find(button)));
  // What it starts would otherwise answer to pictures that are not there yet.
  await eventually(() => !document.querySelector("#tabs .panel-body:not([data-mounted])"));
  if (found instanceof HTMLButtonElement && isExperiment(found)) found.click();
}

/** A button that starts something. A link never stops what runs, nor measures again what is kept for everybody.
 * @param {Element} button */
function isExperiment(button) {
  const isLeftOut = button.getAttribute("role") === "tab" || button.matches(".kept-for-all, [id*=stop]");
  return OWN_ID.test(button.id) && !isLeftOut;
}

/** @param {string} id @returns {HTMLElement | null} */
function find(id) {
  const element = document.getElementById(id);
  return element?.closest("#tabs") && element.getClientRects().length ? element : null;
}

/** On the page, but of no experiment: it would be waited for in vain. @param {string} id */
const isElsewhere = (id) => Boolean(document.getElementById(id)) && !isInTabs(id);

/** @param {string} id */
const isInTabs = (id) => Boolean(document.getElementById(id)?.closest("#tabs"));

/** @param {Element} box */
function idOf(box) {
  if (OWN_ID.test(box.id)) return box.id;
  const holder = box.closest("#tabs .block[id]");
  return holder && OWN_ID.test(holder.id) ? holder.id : null;
}

/** @param {any} box */
const setTo = (box) => (box.type === "checkbox" ? String(box.checked) : box.value);

/** @param {HTMLElement} holder @param {string} value */
function setField(holder, value) {
  const boxes = /** @type {any[]} */ ([...(holder.matches(BOX) ? [holder] : holder.querySelectorAll(BOX))]);
  const isRadio = boxes[0]?.type === "radio";
  const box = isRadio ? boxes.find((each) => each.value === value) : boxes[0];
  if (!box || box.disabled) return;
  if (isRadio) return box.checked || box.click();
  if (box.type === "checkbox") return String(!box.checked) !== value || box.click();
  if (box.value === value) return;
  box.value = value;
  for (const kind of ["input", "change"]) box.dispatchEvent(new Event(kind, { bubbles: true }));
}
