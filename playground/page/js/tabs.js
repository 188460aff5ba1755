// Which tab is open, and opening another. Gradio has them; each has a name that is not its label.

import { eventually } from "./eventually.js";

const TAB = "#tabs [role=tab][data-tab-id]";

/** Of the tabs that can be seen. @returns {HTMLElement[]} */
function tabsInSight() {
  const tabs = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(TAB));
  return [...tabs].filter((tab) => tab.getClientRects().length > 0);
}

/** @param {HTMLElement} tab */
const isOpen = (tab) => tab.getAttribute("aria-selected") === "true";

/** The names of the open tab and of the one open inside it. */
export function openTabs() {
  return tabsInSight()
    .filter(isOpen)
    .map((tab) => tab.dataset.tabId ?? "");
}

/** Opens a tab, then the one inside it. A name that no tab has ends it. @param {string[]} names */
export async function openTab(names) {
  for (const name of names) {
    const find = () => tabsInSight().find((tab) => tab.dataset.tabId === name);
    const tab = await eventually(find);
    if (!tab) return;
    if (!isOpen(tab)) tab.click();
    await eventually(() => isOpen(find() ?? tab));
  }
}

/** Calls `act` when another tab has been opened, by whatever, and `before` while the old one is still there.
 * @param {() => void} before @param {() => void} act */
export function whenTabChanges(before, act) {
  document.addEventListener(
    "click",
    (event) => {
      const tab = event.target instanceof Element ? event.target.closest(TAB) : null;
      if (!(tab instanceof HTMLElement) || isOpen(tab)) return;
      before();
      eventually(() => isOpen(tab)).then(act);
    },
    { capture: true },
  );
}
