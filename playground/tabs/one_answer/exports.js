// Takes the run away and brings one back: a table, the whole run, the picture. Nothing here runs the model.

import { setControls } from "../../page/js/controls.js";
import { download } from "../../page/js/download.js";
import { plotly } from "../../page/js/plotly.js";
import { openRun, show } from "../../page/js/run_data.js";
import { node, say, set } from "../../page/js/svg.js";

const PICTURE = { width: 1280, height: 900, scale: 2 };

export function mount(element, api) {
  const row = node("div.exports", {}, element);
  node("span.note", {}, row, "Take this run with you");
  const saves = [
    ["Table (CSV)", saveTable],
    ["Run (JSON)", saveRun],
    ["Picture (PNG)", () => savePicture("png")],
    ["Picture (SVG)", () => savePicture("svg")],
  ].map(([name, save]) => {
    const button = node("button.small-button", { type: "button", disabled: "" }, row, name);
    button.addEventListener("click", () => attempt(save));
    return button;
  });
  const file = node(
    "input",
    { type: "file", accept: ".json,application/json", hidden: "", "aria-label": "A recorded run" },
    row,
  );
  const open = node("button.small-button", { type: "button" }, row, "Open a run …");
  const status = node("span.note", { role: "status", "aria-live": "polite" }, row);
  open.addEventListener("click", () => file.click());
  file.addEventListener("change", () => attempt(openFile));

  async function attempt(act) {
    try {
      say(status, "");
      say(status, (await act()) ?? "");
    } catch (error) {
      console.warn(error);
      say(status, "The server did not answer. Is it still running?");
    }
  }

  async function saveTable() {
    const { run, params } = api.store.get();
    const reply = await api.server.table({ run: run.id, params });
    return saved(reply, `answer-${run.id}.csv`, "text/csv");
  }

  async function saveRun() {
    const { run } = api.store.get();
    const reply = await api.server.recording({ run: run.id });
    return saved(reply, `answer-${run.id}.json`, "application/json");
  }

  function saved({ problem, text }, filename, type) {
    if (!problem) download(text, filename, type);
    return problem ?? "Saved.";
  }

  async function savePicture(format) {
    const { run, params, step, dark } = api.store.get();
    const reply = await api.server.picture({ run: run.id, params, step, dark: Boolean(dark) });
    if (reply.problem) return reply.problem;
    const holder = node("div");
    const Plotly = await plotly();
    await Plotly.newPlot(holder, reply.figure.data, {
      ...reply.figure.layout,
      width: PICTURE.width,
      height: PICTURE.height,
    });
    await Plotly.downloadImage(holder, { format, filename: `answer-${run.id}`, ...PICTURE });
    Plotly.purge(holder);
    return "Saved.";
  }

  async function openFile() {
    const [chosen] = file.files;
    file.value = "";
    if (!chosen) return "";
    const reply = await api.server.reopen(await chosen.text());
    if (reply.problem) return reply.problem;
    setControls(reply.params);
    show(api.store, openRun(reply));
    return `Opened ${reply.token_ids.length} steps of ${reply.model}; the model did not run.`;
  }

  function draw({ run }) {
    for (const button of saves) set(button, { disabled: run?.logits ? null : "" });
  }

  return { reads: ["run"], draw };
}
