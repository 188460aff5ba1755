// softmax(QKᵀ/√d) V with the numbers of one row: the token of this step, and the token that it reads most.

import { chips, layerChips } from "../../page/js/chips.js";
import { node, pool, say } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { bytesOf } from "./canvas.js";
import { numbersBelow } from "./numbers_below.js";
import { stepOf } from "./steps.js";

const MATHML = "http://www.w3.org/1998/Math/MathML";
const SHOWN = 3; // numbers of a vector

/**
 * @typedef {object} Vectors  of one layer, as vectors_value makes them
 * @property {number} layer
 * @property {number} num_layers
 * @property {number} num_heads
 * @property {number} num_kv_heads
 * @property {number} head_dim
 * @property {number} prompt_length
 * @property {number} first_row  whose query was sent
 * @property {string[]} labels
 * @property {Float32Array} queries  (heads, rows from first_row on, head size)
 * @property {Float32Array} keys  (KV heads, tokens, head size)
 * @property {Float32Array} values
 */

/**
 * One row of attention, worked out.
 * @typedef {object} Row
 * @property {number} row
 * @property {number[]} products  query · key, one for each token up to this one
 * @property {number[]} scores  over the root of the head size
 * @property {number[]} weights
 * @property {number} most  the token that is read most
 * @property {number} sum  of e to the score
 * @property {number[]} read  the first numbers of the weighted sum of the values
 */

/** @param {Vectors} vectors @param {number} head @param {number} row @returns {Row} */
export function rowOf(vectors, head, row) {
  const { num_heads, num_kv_heads, head_dim, labels, first_row, queries, keys, values } = vectors;
  const from = (head * (labels.length - first_row) + row - first_row) * head_dim;
  const query = queries.subarray(from, from + head_dim);
  const shared = Math.floor((head * num_kv_heads) / num_heads); // the key/value head that it reads
  const at = (/** @type {number} */ token, /** @type {number} */ place) =>
    (shared * labels.length + token) * head_dim + place;
  const tokens = Array.from({ length: row + 1 }, (_, token) => token);
  const products = tokens.map((token) =>
    query.reduce((total, number, place) => total + number * keys[at(token, place)], 0),
  );
  const scores = products.map((product) => product / Math.sqrt(head_dim));
  const sum = scores.reduce((total, score) => total + Math.exp(score), 0);
  const weights = scores.map((score) => Math.exp(score) / sum);
  const read = Array.from({ length: Math.min(SHOWN, head_dim) }, (_, place) =>
    tokens.reduce((total, token) => total + weights[token] * values[at(token, place)], 0),
  );
  return { row, products, scores, weights, most: weights.indexOf(Math.max(...weights)), sum, read };
}

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const bar = node("div.attention-bar", {}, element);
  const layers = layerChips(bar, api.store);
  const heads = chips(bar, words.say("inside_the_cache.attention.heads"), (place) => api.store.set({ head: place }));
  const whole = mathIn(node("p.formula-math", {}, element));
  const lead = node("p.strip-words", {}, element);
  const lines = node("ol.formula-lines", { tabindex: 0 }, element);
  const note = node("p.note", {}, element, words.say("inside_the_cache.formula.mask"));
  /** @type {Vectors | null} */
  let value = null;
  /** @type {Row | null} */
  let shown = null;
  const numbers = numbersBelow(element, words.say("inside_the_cache.formula.numbers"), () =>
    value && shown ? tableOf(value, shown) : null,
  );
  whole(attention());

  /** @param {import("../../page/js/types.js").State} state */
  function draw(state) {
    element.classList.toggle("is-empty", !value);
    if (!value) return;
    const { labels, layer, num_layers, first_row, prompt_length, num_heads } = value;
    layers.draw(num_layers, layer);
    const head = state.head >= 0 && state.head < num_heads ? state.head : 0;
    heads.draw(
      Array.from({ length: num_heads }, (_, index) =>
        words.say("inside_the_cache.attention.head", { number: index + 1 }),
      ),
      head,
    );
    const row = Math.min(labels.length - 1, prompt_length - 1 + stepOf(state));
    shown = row < first_row ? null : rowOf(value, head, row);
    lines.hidden = note.hidden = !shown;
    const facts = { token: labels[row], position: row, layer: layer + 1, head: head + 1 };
    say(lead, words.say(`inside_the_cache.formula.${shown ? "lead" : "gone"}`, facts));
    if (shown) drawLines(lines, value, shown);
    numbers.update();
  }

  return {
    reads: ["cacheStep", "head"],
    update(next) {
      value = next?.queries ? { ...next, ...decoded(next) } : null;
      draw(api.store.get());
    },
    draw,
  };
}

/** @param {Record<"queries" | "keys" | "values", string>} sent  in base64 */
function decoded({ queries, keys, values }) {
  const [q, k, v] = [queries, keys, values].map((one) => new Float32Array(bytesOf(one).buffer));
  return { queries: q, keys: k, values: v };
}

/** @param {HTMLElement} list @param {Vectors} value @param {Row} row */
function drawLines(list, value, row) {
  const { most } = row;
  const items = pool(list, 3, () => {
    const item = node("li");
    node("span", {}, item);
    mathIn(item);
    return item;
  });
  const token = value.labels[most];
  const texts = ["score", "weight", "read"].map((name) => words.say(`inside_the_cache.formula.${name}`, { token }));
  [scoreLine(value, row), weightLine(row), readLine(row)].forEach((terms, index) => {
    const [text, math] = items[index].children;
    say(text, texts[index]);
    math.replaceChildren(...terms);
  });
}

// ---- MathML

const number = (/** @type {number} */ value) =>
  math("mn", {}, words.say("inside_the_cache.row.number", { number: value }));
const operator = (/** @type {string} */ sign) => math("mo", {}, sign);
const name = (/** @type {string} */ letter, /** @type {string} */ kind = "") =>
  math("mi", kind ? { class: `is-${kind}` } : {}, letter);
const row = (/** @type {Element[]} */ ...terms) => math("mrow", {}, ...terms);
const fraction = (/** @type {Element} */ over, /** @type {Element} */ under) => math("mfrac", {}, over, under);
const root = (/** @type {Element} */ under) => math("msqrt", {}, under);
const below = (/** @type {Element} */ base, /** @type {Element} */ index) => math("msub", {}, base, index);
const above = (/** @type {Element} */ base, /** @type {Element} */ power) => math("msup", {}, base, power);

/** @param {string} tag @param {Record<string, string>} attributes @param {(Element | string)[]} content */
function math(tag, attributes, ...content) {
  const made = document.createElementNS(MATHML, tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content);
  return made;
}

/** A place for a formula; what it returns fills it. @param {Element} parent */
function mathIn(parent) {
  const holder = math("math", { displaystyle: "true" });
  parent.append(holder);
  return (/** @type {Element[]} */ terms) => holder.replaceChildren(...terms);
}

/** softmax(QKᵀ / √d + M) V */
function attention() {
  const scores = fraction(row(name("Q", "query"), above(name("K", "key"), name("T"))), root(name("d")));
  return [name("softmax"), operator("("), scores, operator("+"), name("M"), operator(")"), name("V", "value")];
}

/** q · k / √d of the token that is read most. @param {Vectors} value @param {Row} worked */
function scoreLine({ head_dim }, { products, scores, most }) {
  const index = math("mn", {}, String(most));
  return [
    fraction(row(name("q", "query"), operator("·"), below(name("k", "key"), index)), root(name("d"))),
    operator("="),
    fraction(number(products[most]), root(math("mn", {}, String(head_dim)))),
    operator("="),
    number(scores[most]),
  ];
}

/** Its share after the softmax. @param {Row} worked */
function weightLine({ scores, weights, sum, most }) {
  return [
    fraction(above(name("e"), number(scores[most])), row(operator("Σ"), above(name("e"), name("s")))),
    operator("="),
    fraction(number(Math.exp(scores[most])), number(sum)),
    operator("="),
    math("mn", {}, words.say("inside_the_cache.number.percent", { share: weights[most] })),
  ];
}

/** The weighted sum of the values. @param {Row} worked */
function readLine({ weights, read, most }) {
  const listed = read.flatMap((one, place) => [...(place ? [operator(",")] : []), number(one)]);
  return [
    number(weights[most]),
    below(name("v", "value"), math("mn", {}, String(most))),
    ...(weights.length > 1 ? [operator("+"), operator("…")] : []),
    operator("="),
    operator("("),
    ...listed,
    operator(","),
    operator("…"),
    operator(")"),
  ];
}

/** @param {Vectors} value @param {Row} worked @returns {import("./numbers_below.js").Table} */
function tableOf({ labels }, { products, scores, weights }) {
  const columns = ["read", "product", "score", "weight"].map((key) =>
    words.say(`inside_the_cache.formula.column.${key}`),
  );
  const rows = weights.map((share, position) => [
    words.say("inside_the_cache.heat.token", { position, token: labels[position] }),
    words.say("inside_the_cache.row.number", { number: products[position] }),
    words.say("inside_the_cache.row.number", { number: scores[position] }),
    words.say("inside_the_cache.number.percent", { share }),
  ]);
  return { columns: columns, rows };
}
