// The + beside the list of models: a visitor names another one, and hears how its loading stands. See page/model_box.py.

import { asker, nextNumber } from "./jobs.js";
import { offerModels } from "./links.js";
import { node, pool, say, set } from "./svg.js";
import * as words from "./words.js";

/** @param {HTMLElement} element @param {import("./types.js").PanelApi} api @returns {import("./types.js").Panel} */
export function mount(element, api) {
  const box = build(element);
  const question = asker(api, (job) => {
    if (job.state === "queued") say(box.status, words.say("page.model_box.waiting", { ahead: job.ahead ?? 0 }));
  });

  /** @param {boolean} isOpen */
  function open(isOpen) {
    box.form.hidden = !isOpen;
    set(box.button, { "aria-expanded": String(isOpen) });
    if (!isOpen) return box.button.focus();
    api.trigger("opened");
    box.name.focus();
  }

  async function load() {
    const name = box.name.value.trim();
    if (!name || question.busy) return;
    tell(words.say("page.model_box.begins", { name }));
    set(box.stop, { hidden: null });
    const reply = await question.ask({ name });
    set(box.stop, { hidden: "" });
    tell(reply.problem ?? words.say("page.model_box.loaded", { name: reply.name }), Boolean(reply.problem));
    if (!reply.problem) box.name.value = "";
  }

  /** @param {string} text @param {boolean} [isProblem] */
  function tell(text, isProblem = false) {
    say(box.status, text);
    box.status.classList.toggle("is-problem", isProblem);
  }

  box.button.addEventListener("click", () => open(box.form.hidden));
  box.form.addEventListener("submit", (event) => {
    event.preventDefault();
    load();
  });
  box.stop.addEventListener("click", () => {
    api.setValue({ name: "", number: nextNumber() }); // what was asked for until now
    api.trigger("stopped");
  });
  box.close.addEventListener("click", () => open(false));
  box.form.addEventListener("keydown", (event) => {
    event.stopPropagation(); // the keys of a lecturer are letters
    if (event.key === "Escape") open(false);
  });
  return {
    update(value) {
      if (value?.names) offerModels(value.names);
      if (value?.offered) {
        offer(box.offered, value.offered);
        say(box.about, words.say("page.model_box.about", { folder: value.folder }));
      }
      if (value?.said && question.busy) tell(words.text(value.said));
      question.take(value);
    },
  };
}

/** @param {HTMLElement} element */
function build(element) {
  const title = words.say("page.model_box.open_title");
  const button = node(
    "button.small-button.model-open",
    { type: "button", title, "aria-label": title, "aria-expanded": "false", "aria-controls": "model-form" },
    element,
    words.say("page.model_box.open"),
  );
  const form = node("form.model-form", { id: "model-form", hidden: "" }, element);
  const label = node("label.model-label", {}, form, words.say("page.model_box.label"));
  const name = node("input", { type: "text", list: "model-offered", maxlength: "200", autocomplete: "off" }, label);
  const offered = node("datalist", { id: "model-offered" }, form);
  const about = node("p.note", {}, form);
  const status = node("p.model-status", { role: "status" }, form);
  const row = node("div.model-buttons", {}, form);
  node("button.small-button.model-load", { type: "submit" }, row, words.say("page.model_box.load"));
  const stop = node("button.small-button", { type: "button", hidden: "" }, row, words.say("page.model_box.stop"));
  const close = node("button.small-button", { type: "button" }, row, words.say("page.model_box.close"));
  return { button, form, name: /** @type {HTMLInputElement} */ (name), offered, about, status, stop, close };
}

/** @param {HTMLElement} list @param {string[]} names */
function offer(list, names) {
  const options = pool(list, names.length, () => node("option"));
  names.forEach((name, index) => {
    set(options[index], { value: name });
  });
}
