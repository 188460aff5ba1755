// Tables that one measurement fills. The panel's first value names them; then value: { <name>: what table.js takes }.

import { asker, jobWords } from "../../page/js/jobs.js";
import { node, say } from "../../page/js/svg.js";
import { mount as mountTable } from "../../page/js/table.js";
import * as words from "../../page/js/words.js";

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const status = node("p.note", { role: "status" }, element);
  /** @type {string[]} */
  const parts = api.props.value.tables;
  const tables = parts.map((name) => {
    const part = node("section.kinds-place", { id: `kinds-table-${name}` }, element);
    node("h3", {}, part, words.say(`kinds_of_cache.place_title.${name}`));
    node("p.kinds-says", {}, part, words.say(`kinds_of_cache.place_text.${name}`));
    return mountTable(node("div.table-holder", {}, part));
  });
  const question = asker(api, (job) => say(status, jobWords(job)));

  async function ask() {
    const reply = await question.ask({});
    if (reply.stopped) return;
    say(status, reply.problem ?? "");
    for (const [index, name] of parts.entries()) if (reply[name]) tables[index].update?.(reply[name]);
  }

  return {
    update: question.take,
    reads: [],
    draw() {
      if (question.asked === null) ask();
    },
  };
}
