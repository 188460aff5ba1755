// What came out of a race: equal or not, three ratios, the numbers of both sides, and why time is not work.

import { node, pool, say } from "../../page/js/svg.js";

export function mount(element) {
  const stage = node("div.race-result", { hidden: "" }, element);
  const head = node("div.race-result-head", {}, stage);
  const verdict = node("p.verdict", {}, head);
  const ratios = node("div.race-ratios", {}, head);
  const table = node("table.compare-table.race-table", {}, stage);
  const titles = node("tr", {}, node("thead", {}, table));
  for (const text of ["", "cache on", "cache off", "off / on"]) node("th", { scope: "col" }, titles, text);
  const rows = node("tbody", {}, table);
  const words = node("div.race-result-words", {}, stage);
  const why = node("p.race-why", {}, words);
  const noise = node("p.race-noise", { role: "status" }, words);
  const note = node("p.note", {}, words);

  function draw({ race }) {
    const result = race?.revealed ? race.value.result : null;
    stage.hidden = !result;
    if (!result) return;
    const cells = pool(ratios, result.ratios.length, () => {
      const cell = node("div");
      node("span.key-number.race-key", {}, cell);
      node("span.race-label", {}, cell);
      return cell;
    });
    result.ratios.forEach((pair, index) => pair.forEach((text, part) => say(cells[index].children[part], text)));
    say(verdict, result.verdict);
    verdict.classList.toggle("is-good", result.equal);
    verdict.classList.toggle("is-bad", !result.equal);
    const made = pool(rows, result.rows.length, () => {
      const row = node("tr");
      node("th", { scope: "row" }, row);
      node("td.is-on", {}, row);
      node("td.is-off", {}, row);
      node("td.race-ratio", {}, row);
      return row;
    });
    result.rows.forEach((row, index) => row.forEach((text, column) => say(made[index].children[column], text)));
    say(why, result.why);
    say(note, result.conditions);
    say(noise, result.noise);
    noise.hidden = !result.noise;
  }

  return { reads: ["race"], draw };
}
