// What the cache holds when the answer ends: a row for each layer, the prompt as one block, a column for each token.

import { bytes } from "../../page/js/numbers.js";
import { node, say, set, svg } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { miniPicture } from "./mini.js";

const SMALLEST = 40; // pixels of the picture's height
const GAP = 2;

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const number = node("div.key-number", {}, element);
  const column = node("div.mini-column", {}, element);
  const { picture, fill } = miniPicture(column, { role: "img" }, SMALLEST, () => draw(api.store.get()));
  const prompt = svg("path.cache-prompt", {}, picture);
  const answer = svg("path.cache-answer", {}, picture);
  const cursor = svg("rect.cache-cursor", {}, picture);
  const about = node("p.note", {}, column);
  /** @type {string | null} the run whose growth was played */
  let played = null;

  /** @type {import("../../page/js/types.js").Listener} */
  function draw({ run, step }) {
    const perLayer = run?.cacheBytes?.at(-1);
    picture.toggleAttribute("hidden", !perLayer);
    if (!run || !perLayer) return;
    const total = perLayer.reduce((sum, one) => sum + one, 0);
    say(number, bytes(total)); // first: it takes room from the picture
    const { width, height } = fill();
    const positions = run.promptLength + run.numSteps - 1; // the last token was never fed
    const cell = width / positions;
    const row = height / perLayer.length;
    /** @param {number} from @param {number} to */
    const columns = (from, to) =>
      perLayer.map((_, layer) => blockOf(from * cell, layer * row, (to - from) * cell, row)).join("");
    set(prompt, { d: columns(0, run.promptLength) });
    let cells = "";
    for (let place = run.promptLength; place < positions; place += 1) cells += columns(place, place + 1);
    set(answer, { d: cells });
    // The step that chose a token has put the one before it into the cache; the first the whole prompt.
    const [from, to] = step ? [run.promptLength + step - 1, run.promptLength + step] : [0, run.promptLength];
    set(cursor, { x: from * cell, y: 0, width: Math.max((to - from) * cell - GAP, 2), height: height - GAP });
    const facts = { layers: perLayer.length, tokens: positions };
    say(about, words.say("playground.cache.about", facts));
    set(picture, { "aria-label": `${words.say("playground.cache.about", facts)}: ${bytes(total)}` });
    if (run.logits && played !== run.id) play(run.id);
  }

  /** Grows once, when its run is new. @param {string} id */
  function play(id) {
    played = id;
    answer.classList.remove("is-growing");
    void answer.getBoundingClientRect(); // begins the animation anew
    answer.classList.add("is-growing");
  }

  return { reads: ["run", "step"], draw };
}

/** @param {number} x @param {number} y @param {number} width @param {number} height */
function blockOf(x, y, width, height) {
  const inner = Math.max(width - Math.min(GAP, width / 3), 0.5);
  return `M${x.toFixed(1)} ${y.toFixed(1)}h${inner.toFixed(1)}v${(height - GAP).toFixed(1)}h${(-inner).toFixed(1)}z`;
}
