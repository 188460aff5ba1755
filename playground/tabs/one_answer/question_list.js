// What people ask, as a list of buttons: the chosen one is in the store, where its card finds it.

import { node, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const { store } = api;
  node("h2", {}, element, words.say("one_answer.ask.title"));
  const list = node("div.ask-list", {}, element);
  /** @type {string[]} */
  const keys = api.props.value ?? [];
  const buttons = keys.map((key) => {
    const attributes = { type: "button", title: words.say(`one_answer.lesson.${key}.title`) };
    const button = node("button.small-button.ask-chip", attributes, list, words.say(`one_answer.lesson.${key}.button`));
    button.addEventListener("click", () => store.set({ question: store.get().question === key ? null : key }));
    return button;
  });
  return {
    reads: ["question"],
    draw({ question }) {
      for (const [place, key] of keys.entries()) set(buttons[place], { "aria-pressed": String(key === question) });
    },
  };
}
