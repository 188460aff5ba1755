// Takes the run away and brings one back: a table, the whole run, the picture. Nothing here runs the model.

import { BinnedLogits } from "../../page/js/binned.js";
import { setControls } from "../../page/js/controls.js";
import { download } from "../../page/js/download.js";
import { plotly } from "../../page/js/plotly.js";
import { openRun, show } from "../../page/js/run_data.js";
import { node, say, set } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/** @typedef {import("../../page/js/types.js").PanelApi} PanelApi */

const PICTURE = { width: 1280, height: 900, scale: 2 };

/** What the buttons save. Each returns what there is to say. @type {Record<string, (api: PanelApi) => Promise<string>>} */
const SAVES = {
  table: ({ server, store }) =>
    saveText(store, "csv", "text/csv", ({ id, params }) => server.table({ run: id, params })),
  run: ({ server, store }) => saveText(store, "json", "application/json", ({ id }) => server.recording({ run: id })),
  png: (api) => savePicture(api, "png"),
  svg: (api) => savePicture(api, "svg"),
};

/** @param {HTMLElement} element @param {PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const most = api.props.value?.largest_file ?? Number.POSITIVE_INFINITY; // bytes; the value is another one later
  node("h2", {}, element, words.say("one_answer.exports.title"));
  const row = node("div.exports", {}, element);
  const saves = Object.entries(SAVES).map(([key, save]) => {
    const attributes = { type: "button", disabled: "" };
    const button = node("button.small-button", attributes, row, words.say(`one_answer.exports.${key}`));
    button.addEventListener("click", () => attempt(() => save(api)));
    return button;
  });
  const label = words.say("one_answer.exports.file");
  const accept = ".json,application/json";
  const file = node("input", { type: "file", accept, hidden: "", "aria-label": label }, row);
  const open = node("button.small-button", { type: "button" }, row, words.say("one_answer.exports.open"));
  const status = node("span.note", { role: "status", "aria-live": "polite" }, row);
  open.addEventListener("click", () => file.click());
  file.addEventListener("change", () => {
    const [chosen] = file.files ?? [];
    file.value = "";
    if (!chosen) return;
    const facts = { length: chosen.size, most }; // what is too large the server does not take in
    if (chosen.size > most) say(status, words.say("page.run_file.too_long", facts));
    else attempt(() => openFile(api, chosen));
  });

  /** @param {() => Promise<string>} act */
  async function attempt(act) {
    try {
      say(status, "");
      say(status, await act());
    } catch (error) {
      console.warn(error);
      say(status, words.say("one_answer.exports.no_server"));
    }
  }

  return {
    reads: ["run"],
    draw({ run }) {
      for (const button of saves) set(button, { disabled: run?.logits ? null : "" });
    },
  };
}

/**
 * @param {import("../../page/js/types.js").Store} store @param {string} ending @param {string} type
 * @param {(shown: { id: string, params: any }) => Promise<{ problem?: string, text: string }>} ask
 */
async function saveText(store, ending, type, ask) {
  const { run, params } = store.get();
  const id = run?.id ?? "";
  const { problem, text } = await ask({ id, params });
  if (problem) return problem;
  download(text, `answer-${id}.${ending}`, type);
  const [first] = run?.logits instanceof BinnedLogits && ending === "json" ? run.logits.steps : [];
  return words.say(`one_answer.exports.${first ? "saved_in_bins" : "saved"}`, { top: first?.top ?? 0 });
}

/** @param {PanelApi} api @param {string} format */
async function savePicture({ server, store }, format) {
  const { run, params, step, dark } = store.get();
  const { problem, figure } = await server.picture({ run: run?.id, params, step, dark });
  if (problem) return problem;
  const holder = node("div");
  const Plotly = await plotly();
  const { width, height } = PICTURE;
  await Plotly.newPlot(holder, figure.data, { ...figure.layout, width, height });
  await Plotly.downloadImage(holder, { format, filename: `answer-${run?.id}`, ...PICTURE });
  Plotly.purge(holder);
  return words.say("one_answer.exports.saved");
}

/** @param {PanelApi} api @param {File} file */
async function openFile(api, file) {
  const { server, store } = api;
  const reply = await server.reopen(await file.text());
  if (reply.problem) return reply.problem;
  const most = store.get().params?.most_new_tokens;
  const { system } = reply;
  setControls({ ...reply.params, system, max_new_tokens: Math.min(reply.max_new_tokens, most) });
  show(store, openRun(reply));
  api.setValue({ model: reply.on_page ? reply.model : null, prompt: reply.prompt });
  api.trigger("opened"); // the bar takes model and prompt over
  const key = reply.on_page ? "opened" : "opened_elsewhere";
  const said = words.say(`one_answer.exports.${key}`, { steps: reply.token_ids.length, model: reply.model });
  return typeof reply.logits === "string" ? said : `${said} ${words.say("one_answer.exports.in_bins")}`;
}
