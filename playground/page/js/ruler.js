// The sampling: the kept probabilities laid end to end from 0 to 1, and this step's random number as a mark on them.

import { rulerOf } from "./candidates.js";
import { about } from "./numbers.js";
import { pool, say, set, svg } from "./svg.js";
import * as words from "./words.js";

const BAND = { y: 34, height: 28 };
const HEIGHT = BAND.y + BAND.height + 4;
const SHORTEST = 2; // pixels: shorter segments are one block
const LETTER = 11.5; // pixels of a letter in a segment
const CAPTION_LETTER = 9; // of one above it

/** Beside the mark, and inside the picture. Its length is estimated: measuring would hold up every frame of a drag.
 * @param {number} letters @param {number} x  of the mark @param {number} width */
export function captionPlace(letters, x, width) {
  const length = letters * CAPTION_LETTER;
  if (length > width) return { x: 0, textLength: width, "text-anchor": "start" };
  const isLeft = x > width / 2;
  const place = isLeft ? Math.min(Math.max(x + 12, length), width) : Math.max(Math.min(x - 8, width - length), 0);
  return { x: place, textLength: null, "text-anchor": isLeft ? "end" : "start" };
}

/** @param {Element} parent */
export function rulerPicture(parent) {
  const picture = svg("svg", { height: HEIGHT, role: "img" }, parent);
  const rest = svg("rect.ruler-rest", BAND, picture);
  const segments = svg("g", {}, picture);
  const names = svg("g", {}, picture);
  const sampled = svg("rect.ruler-sampled", BAND, picture);
  const mark = svg("path.ruler-mark", {}, picture);
  const caption = svg("text.ruler-words", { y: 18 }, picture);

  /** @param {import("./candidates.js").Ruler} ruler @param {import("./types.js").StepReread} now @param {number} width */
  function drawBand(ruler, now, width) {
    const rects = pool(segments, ruler.segments.length, () => svg("rect", BAND));
    ruler.segments.forEach(({ place, start, length }, index) => {
      set(rects[index], {
        x: start * width,
        width: Math.max(length * width - 1, 0.5),
        class: place === now.chosenPlace ? "ruler-chosen" : index % 2 ? "ruler-odd" : "ruler-even",
      });
    });
    set(rest, { x: ruler.rest.start * width, width: ruler.rest.length * width });
    const { start, length } = ruler.sampled;
    const isChosen = now.sampledPlace === now.chosenPlace;
    set(sampled, isChosen ? { width: 0 } : { x: start * width, width: Math.max(length * width - 1, 1.5) });
  }

  /** Of the pieces with room for it. @param {import("./candidates.js").Ruler} ruler @param {(place: number) => string} nameOf @param {number} width @param {boolean} isEstimate */
  function drawNames({ segments: pieces, rest }, nameOf, width, isEstimate) {
    const all = [
      ...pieces.map((piece) => ({ ...piece, text: nameOf(piece.place), kind: "ruler-name" })),
      {
        ...rest,
        text: rest.length ? words.say("page.ruler.more", { count: about(rest.count, isEstimate) }) : "",
        kind: "ruler-more",
      },
    ].filter(({ text, length }) => text && text.length * LETTER + 8 < length * width);
    const texts = pool(names, all.length, () =>
      svg("text", { y: BAND.y + BAND.height / 2 + 6, "text-anchor": "middle" }),
    );
    all.forEach(({ text, start, length, kind }, index) => {
      say(texts[index], text);
      set(texts[index], { x: (start + length / 2) * width, class: kind });
    });
  }

  return {
    /** @param {import("./types.js").StepReread} now @param {import("./types.js").Run} run @param {number} width */
    draw(now, run, width) {
      const ruler = rulerOf(now, SHORTEST / width);
      set(picture, { width });
      drawBand(ruler, now, width);
      const nameOf = (/** @type {number} */ place) => run.vocabulary[now.ranking[place]];
      drawNames(ruler, nameOf, width, now.estimated.numCandidates);
      const x = Math.min(Math.max(now.uniform * width, 8), width - 8);
      set(mark, { d: `M${x},${BAND.y} l-7,-11 h14 z M${x},${BAND.y} v${BAND.height}` });
      const facts = { uniform: now.uniform, token: nameOf(now.sampledPlace), chosen: nameOf(now.chosenPlace) };
      const isChosen = now.sampledPlace === now.chosenPlace;
      say(caption, words.say(isChosen ? "page.ruler.lands_on" : "page.ruler.now_lands_on", facts));
      set(caption, captionPlace(caption.textContent?.length ?? 0, x, width));
      set(picture, { "aria-label": caption.textContent });
    },
  };
}
