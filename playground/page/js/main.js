// Mounts the panels that Gradio makes, and draws them when the store changes.
// A panel module exports mount(element, api) and returns { update(value)?, draw(state)? }.

import { listen } from "./keys.js";
import { store } from "./store.js";
import { load } from "./words.js";

await load(); // what a panel says

/** Where the module of a panel lies: beside this one, or, "tab/picture", in the folder of a tab. */
const addressOf = (name) => new URL(name.includes("/") ? `../../tabs/${name}.js` : `./${name}.js`, import.meta.url);

let listening = false;

async function mountPanel({ name, element, props, trigger, watch, server }) {
  const { mount } = await import(addressOf(name));
  const api = {
    props,
    trigger,
    watch,
    server,
    store,
    width: 0, // of the element, for drawing
    setValue: (value) => {
      props.value = value;
    },
  };
  const panel = mount(element, api) ?? {};
  if (panel.update) {
    watch("value", () => panel.update(props.value));
    panel.update(props.value);
  }
  if (!panel.draw) return;
  // A hidden tab has no width: what it missed is drawn when it appears, and again when its width changes. The width is
  // remembered, because asking for it between two drawings would lay out the whole page each time.
  store.subscribe((state) => {
    if (api.width > 0) panel.draw(state);
  });
  new ResizeObserver(() => {
    if (element.clientWidth === api.width) return;
    api.width = element.clientWidth;
    if (api.width > 0) panel.draw(store.get());
  }).observe(element);
}

window.playgroundMount = () => {
  const queue = (window.playgroundPanels ??= []);
  if (queue.length && !listening) {
    listening = true;
    listen();
  }
  while (queue.length) {
    const panel = queue.shift();
    mountPanel(panel).catch((error) => {
      console.error(`panel ${panel.name}:`, error);
      panel.element.textContent = `This picture could not be drawn (${panel.name}). Reload the page to try again.`;
    });
  }
};
window.playgroundMount();

// Pictures whose colours are not CSS are drawn again when the page turns dark or light.
new MutationObserver(() => store.set({ dark: document.body.classList.contains("dark") })).observe(document.body, {
  attributes: true,
  attributeFilter: ["class"],
});
