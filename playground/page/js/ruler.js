// The sampling: the kept probabilities laid end to end from 0 to 1, and this step's random number as a mark on them.

import { rulerOf } from "./candidates.js";
import { pool, say, set, svg } from "./svg.js";
import * as words from "./words.js";

const BAND = { y: 14, height: 22 };

/** @param {Element} parent */
export function rulerPicture(parent) {
  const picture = svg("svg", { height: 58, role: "img" }, parent);
  const rest = svg("rect.ruler-rest", BAND, picture); // the tokens after the 40th, in one piece
  const segments = svg("g", {}, picture);
  const sampledFar = svg("rect.ruler-drawn", BAND, picture); // one of them
  const mark = svg("path.ruler-mark", {}, picture);
  const caption = svg("text.ruler-words", { y: 54 }, picture);

  /** @param {import("./candidates.js").Ruler} ruler @param {number} sampledPlace @param {number} width */
  function drawBand(ruler, sampledPlace, width) {
    const rects = pool(segments, ruler.segments.length, () => svg("rect", BAND));
    ruler.segments.forEach(({ place, start, length }, index) => {
      set(rects[index], {
        x: start * width,
        width: Math.max(length * width - 1, 0.5),
        class: place === sampledPlace ? "ruler-drawn" : index % 2 ? "ruler-odd" : "ruler-even",
      });
    });
    set(rest, { x: ruler.rest.start * width, width: ruler.rest.length * width });
    const { far } = ruler;
    set(sampledFar, far ? { x: far.start * width, width: Math.max(far.length * width, 0.5) } : { width: 0 });
  }

  return {
    /** @param {import("./types.js").StepReread} now @param {import("./types.js").Run} run @param {number} width */
    draw(now, run, width) {
      set(picture, { width });
      drawBand(rulerOf(now), now.sampledPlace, width);
      const x = Math.min(Math.max(now.uniform * width, 6), width - 6);
      set(mark, { d: `M${x},14 l-6,-12 h12 z M${x},14 v22` });
      const token = run.vocabulary[now.ranking[now.sampledPlace]];
      say(caption, words.say("page.ruler.falls_on", { uniform: now.uniform, token }));
      set(caption, { x, "text-anchor": x > width * 0.6 ? "end" : "start" });
      set(picture, { "aria-label": caption.textContent });
    },
  };
}
