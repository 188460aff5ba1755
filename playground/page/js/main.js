// Mounts the panels that Gradio makes, and draws each when what it reads in the store has changed.
// A panel module exports mount(element, api) and returns { reads?, update(value)?, draw(state)? }; types.js has them all.

import { mendGradio } from "./gradio_mends.js";
import { listenForRefusals } from "./jobs.js";
import { listen } from "./keys.js";
import { store } from "./store.js";
import * as words from "./words.js";

await words.load(); // what a panel says

/**
 * @typedef {import("./types.js").PanelApi} PanelApi
 * @typedef {import("./types.js").Panel} Panel
 * @typedef {Window & { playgroundPanels?: import("./types.js").GradioPanel[], playgroundMount?: () => void }} PageWindow
 */

const page = /** @type {PageWindow} */ (window);
let listening = false;

/** Where the module of a panel lies: beside this one, or, "tab/picture", in the folder of a tab. @param {string} name */
const addressOf = (name) => new URL(name.includes("/") ? `../../tabs/${name}.js` : `./${name}.js`, import.meta.url);

/** @param {import("./types.js").GradioPanel} given */
async function mountPanel({ name, element, props, trigger, watch, server }) {
  const { mount } = await import(addressOf(name).href);
  /** @type {PanelApi} */
  const api = {
    props,
    trigger,
    server,
    store,
    width: 0,
    setValue: (value) => {
      props.value = value;
    },
  };
  /** @type {Panel} */
  const panel = mount(element, api) ?? {};
  if (panel.update) {
    const valueNow = () => (Array.isArray(props.value) ? props.value[0] : props.value); // page/jobs.py encloses it
    watch("value", () => panel.update?.(valueNow()));
    panel.update(valueNow());
  }
  if (panel.draw) drawWhenSeen(element, api, panel.reads ?? null, (state) => panel.draw?.(state));
}

/**
 * A hidden tab has no width: what it missed is drawn when it appears, and again when its width changes. The width is
 * remembered, because asking for it between two drawings would lay out the whole page each time.
 * @param {HTMLElement} element
 * @param {PanelApi} api
 * @param {(keyof import("./types.js").State)[] | null} reads
 * @param {import("./types.js").Listener} draw
 */
function drawWhenSeen(element, api, reads, draw) {
  store.on(reads, (state) => {
    if (api.width > 0) draw(state);
  });
  new ResizeObserver(() => {
    if (element.clientWidth === api.width) return;
    api.width = element.clientWidth;
    if (api.width > 0) draw(store.get());
  }).observe(element);
}

page.playgroundMount = () => {
  page.playgroundPanels ??= [];
  const queue = page.playgroundPanels;
  if (queue.length && !listening) {
    listening = true;
    listen();
  }
  for (const panel of queue.splice(0)) {
    mountPanel(panel)
      .catch((error) => {
        console.error(`panel ${panel.name}:`, error);
        panel.element.textContent = words.say("page.broken_picture", { name: panel.name });
      })
      .finally(() => {
        panel.element.dataset.mounted = ""; // experiments.js waits for it
      });
  }
};
page.playgroundMount();
mendGradio();
listenForRefusals();

// Pictures whose colours are not CSS are drawn again when the page turns dark or light.
const seeDark = () => store.set({ dark: document.body.classList.contains("dark") });
new MutationObserver(seeDark).observe(document.body, { attributes: true, attributeFilter: ["class"] });
seeDark();
