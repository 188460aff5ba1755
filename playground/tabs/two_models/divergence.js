// How far the two distributions are apart at each step; where the tokens are others, what the same text costs each model.

import { node, pool, say, set, svg } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { bitsOf, klFacts } from "./pair.js";

const HEIGHT = 150; // of the tallest bar, in pixels

/** @typedef {import("../../page/js/types.js").Pair} Pair */

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const title = node("h2.card-title", { "data-terms": "" }, element);
  const caption = node("p.two-bits-now", {}, element);
  const curve = node("div.two-curve", {}, element);
  const costs = node("div.two-costs", {}, element);
  const note = node("p.note", {}, element);
  curve.addEventListener("click", (event) => {
    const kl = api.store.get().pair?.kl;
    const { left, width } = curve.getBoundingClientRect();
    const share = (event.clientX - left) / width;
    if (kl) api.store.set({ pairStep: Math.max(0, Math.min(kl.length - 1, Math.floor(share * kl.length))) });
  });

  return {
    reads: ["pair", "pairStep"],
    draw({ pair, pairStep: step }) {
      element.classList.toggle("is-empty", !pair);
      if (!pair) return;
      const name = pair.kl ? "kl" : "bits";
      curve.hidden = !pair.kl;
      costs.hidden = !pair.bits_per_byte || Boolean(pair.kl);
      say(title, words.say(`two_models.divergence.${name}_title`));
      say(note, words.say(`two_models.divergence.${name}_note`));
      say(caption, pair.kl && step < pair.kl.length ? stepWords(pair.kl, step) : "");
      if (pair.kl) drawCurve(curve, pair.kl, step);
      else drawCosts(costs, pair);
    },
  };
}

/** @param {(number | null)[]} kl @param {number} step */
const stepWords = (kl, step) => words.say("two_models.divergence.at", { step, bits: bitsOf(kl[step]), ...klFacts(kl) });

/** @param {Element} holder @param {(number | null)[]} kl @param {number} step */
function drawCurve(holder, kl, step) {
  const [picture] = pool(holder, 1, () => svg("svg.two-kl", { preserveAspectRatio: "none", role: "img" }));
  const finite = kl.filter((bits) => bits !== null);
  const most = Math.max(...finite, 1e-9);
  set(picture, {
    viewBox: `0 0 ${kl.length} ${HEIGHT}`,
    height: HEIGHT,
    "aria-label": words.say("two_models.divergence.spoken", klFacts(kl)),
  });
  const bars = pool(picture, kl.length, () => svg("rect.two-bit"));
  kl.forEach((bits, index) => {
    const height = Math.max(2, Math.min(1, bitsOf(bits) / most) * HEIGHT);
    bars[index].classList.toggle("is-now", index === step);
    set(bars[index], { x: index + 0.12, width: 0.76, y: HEIGHT - height, height });
  });
}

/** A bar for each model, as long as its bits. @param {Element} holder @param {Pair} pair */
function drawCosts(holder, { titles, bits_per_byte: bits }) {
  if (!bits) return;
  const most = Math.max(...bits.map(bitsOf).filter(Number.isFinite), 1e-9);
  const rows = pool(holder, 2, () => {
    const row = node("div.two-cost");
    node("b", {}, row);
    node("span", {}, row);
    node("i", {}, row);
    return row;
  });
  bits.forEach((one, side) => {
    const [number, name, bar] = /** @type {HTMLCollectionOf<HTMLElement>} */ (rows[side].children);
    say(number, words.say("two_models.number.bits", { bits: bitsOf(one) }));
    say(name, words.text(titles[side]));
    bar.style.width = `${100 * Math.min(1, bitsOf(one) / most)}%`;
  });
}
