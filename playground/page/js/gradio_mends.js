// What Gradio leaves to be mended on a page: its lists, its language, its words for screen readers.

const LANGUAGE = "en"; // of the words on the page; Gradio puts the browser's there

export function mendGradio() {
  keepLanguage();
  document.addEventListener("keydown", closeList);
  document.addEventListener("focusout", closeList);
  new MutationObserver(silence).observe(document.body, { childList: true, subtree: true, characterData: true });
}

function keepLanguage() {
  const root = document.documentElement;
  const keep = () => {
    if (root.lang !== LANGUAGE) root.lang = LANGUAGE;
  };
  keep();
  new MutationObserver(keep).observe(root, { attributes: true, attributeFilter: ["lang"] });
}

/** Tab leaves the list of a Dropdown open over the page for good, and stops in it; Escape closes it. @param {any} event */
function closeList({ type, key, target }) {
  if ((type === "keydown" && key !== "Tab") || !target.matches?.("[role=combobox]")) return;
  const list = document.getElementById(target.getAttribute("aria-controls"));
  if (!list) return;
  list.tabIndex = -1;
  target.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
}

/** The live region of a gr.HTML speaks untranslated keys such as "common.complete" after every event.
 * @param {MutationRecord[]} changes */
function silence(changes) {
  for (const { target } of changes) {
    const holder = target instanceof Element ? target : target.parentElement;
    for (const region of holder?.querySelectorAll(".gradio-container [aria-live], [role=status]") ?? [])
      if (/^common\.\w+$/.test((region.textContent ?? "").trim())) region.textContent = "";
  }
}
