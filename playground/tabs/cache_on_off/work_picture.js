// Every token pass of both runs as an area on one scale: a row is a step, a column a position of the text. Without a
// cache each row begins at the left again, a triangle on top of the prompt's block; with it a row is one cell, a line.

import { node, pool, say, set, svg } from "../../page/js/svg.js";

const EDGE = { left: 8, right: 8, top: 6, bottom: 34 };

export function mount(element, api) {
  const empty = node("p.empty-note", {}, element, "Each token that goes through the model becomes a cell here.");
  const holder = node("div.work", {}, element);
  const panels = Object.fromEntries(
    [
      ["on", "with the cache: a line"],
      ["off", "without: the whole area"],
    ].map(([side, words]) => {
      const box = node("figure.work-side", {}, holder);
      const caption = node("figcaption", {}, box);
      const number = node(`span.key-number.work-number.is-${side}`, {}, caption, "0");
      node("span.work-words", {}, caption, `token passes ${words}`);
      const picture = svg("svg", { role: "img" }, box);
      const parts = {
        stored: svg("path.work-stored", {}, picture),
        fresh: svg("g", {}, picture),
        again: svg("g", {}, picture),
        axis: svg("text.axis", { "text-anchor": "start" }, picture),
        end: svg("text.axis", { "text-anchor": "end" }, picture),
        words: svg("text.work-inside", { "text-anchor": "middle" }, picture),
      };
      return [side, { number, picture, caption, ...parts }];
    }),
  );
  const legend = node("p.note", {}, element);
  node("span.swatch.swatch-fresh", {}, legend);
  legend.append(" computed for the first time  ");
  node("span.swatch.swatch-again", {}, legend);
  legend.append(" computed again  ");
  node("span.swatch.swatch-stored", {}, legend);
  legend.append(" read from the cache");

  function draw(state) {
    const race = state.race;
    const ready = Boolean(race);
    empty.hidden = ready;
    holder.hidden = legend.hidden = !ready;
    if (!ready) return;
    const width = Math.floor(panels.on.picture.parentElement.clientWidth);
    if (!width) return; // the replay goes on while another tab is looked at
    const height = Math.max(150, Math.min(320, Math.round(width * 0.75)));
    for (const side of ["on", "off"]) drawSide(panels[side], race, side, width, height);
  }

  function drawSide(panel, { value, done }, side, width, height) {
    const { prompt_length: prompt, max_new: most } = value;
    const { fed } = value.sides[side];
    const made = done[side];
    const x = (position) => EDGE.left + (position / (prompt + most)) * (width - EDGE.left - EDGE.right);
    const row = (height - EDGE.top - EDGE.bottom) / most;
    const y = (step) => EDGE.top + step * row;
    const cell = Math.max(2.5, x(1) - x(0));
    set(panel.picture, { width, height, "aria-label": `Cache ${side}: tokens fed at each of ${made} steps` });
    say(
      panel.number,
      fed
        .slice(0, made)
        .reduce((sum, count) => sum + count, 0)
        .toLocaleString("en"),
    );
    const thick = Math.max(row * (row > 4 ? 0.86 : 1), 1);
    // Step n ends at position P + n. What it was fed reaches back from there, what it read from the cache fills the rest.
    const end = (step) => prompt + step;
    const start = (step) => end(step) - fed[step];
    const fresh = pool(panel.fresh, made, () => svg("rect.work-fresh"));
    const again = pool(panel.again, made, () => svg("rect.work-again"));
    for (let step = 0; step < made; step += 1) {
      const newest = step ? end(step) - 1 : start(0);
      set(fresh[step], {
        x: x(newest),
        y: y(step),
        width: step ? cell : x(end(0)) - x(newest),
        height: Math.max(thick, step ? 2 : 3),
      });
      set(again[step], { x: x(start(step)), y: y(step), width: x(newest) - x(start(step)), height: thick });
    }
    const edge = Array.from(
      { length: made },
      (_, step) => `L${x(start(step)).toFixed(1)},${y(step).toFixed(1)}V${y(step + 1).toFixed(1)}`,
    );
    set(panel.stored, { d: made ? `M${x(0)},${y(0)}${edge.join("")}L${x(0)},${y(made)}Z` : null });
    const rows = fed
      .slice(0, made)
      .reduce((sum, count, step) => sum + (side === "on" ? start(step) : step ? count - 1 : 0), 0);
    set(panel.words, { x: x(0.5 * prompt + 0.25 * most), y: (y(0) + y(most)) / 2 });
    say(
      panel.words,
      rows && row * made > 60 ? `${rows.toLocaleString("en")} ${side === "on" ? "only read" : "computed again"}` : "",
    );
    set(panel.axis, { x: x(0), y: height - 10 });
    say(panel.axis, `P = ${prompt}`);
    set(panel.end, { x: width - EDGE.right, y: height - 10 });
    say(panel.end, `step ${made} of ${most}`);
  }

  return { reads: ["race"], draw };
}
