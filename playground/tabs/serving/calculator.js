// The calculator: a model, a machine and a length of text; how many users fit, and what would change that.

import { asker } from "../../page/js/jobs.js";
import { bytes, count, decimals, percent } from "../../page/js/numbers.js";
import { node, pool, say, set } from "../../page/js/svg.js";
import { cellOf, fill } from "../../page/js/table.js";
import * as words from "../../page/js/words.js";
import { controls } from "./calculator_controls.js";
import { changes, plan, shapeOf, wrongFormulas } from "./memory.js";
import { memoryBar } from "./memory_bar.js";

/** @typedef {import("./memory.js").Shape} Shape */
/** @typedef {import("./memory.js").Setup} Setup */
/** @typedef {import("./memory.js").Plan} Plan */

const NUMBERS = ["users", "per_user", "per_token", "speed"];

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const { model, machine, lesson } = api.props.value;
  const chosen = controls(node("div.serving-controls", {}, element), { model, machine, lesson }, draw);
  const problem = node("p.problem", { role: "alert" }, element);
  const result = node("div.serving-result", {}, element);
  const numbers = node("div.key-numbers", {}, result);
  const bar = memoryBar(result);
  const below = node("div.serving-below", {}, result);
  const bars = section(below, "changes");
  const rows = node("div", {}, bars);
  const aside = section(below, "wrong");
  const table = node("table.fact-table", {}, aside);
  const measured = node("p.note.serving-measured", { role: "status" }, element);
  const asking = asker(api, () => {});
  let asked = "";

  function draw() {
    const { config, setup, problem: what } = chosen.get();
    say(problem, what ?? "");
    result.classList.toggle("is-stale", !config);
    if (!config) return;
    const shape = shapeOf(config);
    const made = plan(shape, setup);
    drawNumbers(numbers, made, setup);
    bar.draw(made, setup);
    drawChanges(rows, shape, setup);
    drawWrong(table, shape, setup);
  }

  /** The tensors of the model in the bar. @param {string} name */
  async function measure(name) {
    asked = name;
    const reply = await asking.ask({ model: name });
    if (reply.stopped) return;
    say(measured, reply.problem ?? words.text(reply.measured));
    if (reply.config) chosen.own(name, reply.config);
    draw();
  }

  return {
    reads: ["bar"],
    update: (given) => asking.take(given),
    draw({ bar: now }) {
      draw();
      if (now && now.model !== asked) measure(now.model);
    },
  };
}

/** @param {Element} parent @param {string} name */
function section(parent, name) {
  const holder = node("section", {}, parent);
  node("h3", {}, holder, words.say(`serving.${name}.title`));
  node("p.note", {}, holder, words.say(`serving.${name}.about`));
  return holder;
}

/** @param {Element} holder @param {Plan} made @param {Setup} setup */
function drawNumbers(holder, made, setup) {
  const blocks = pool(holder, NUMBERS.length, (place) => {
    const block = node(place ? "div.key-block" : "div.key-block.serving-users");
    node("div.key-large", {}, block);
    node("div.note", {}, block);
    return block;
  });
  const { users, perUser, perToken, tokensPerSecond } = made;
  const large = [
    count(users),
    bytes(perUser),
    bytes(perToken),
    decimals(tokensPerSecond, tokensPerSecond < 10 ? 1 : 0),
  ];
  const facts = { users, tokens: setup.tokens, exact: perToken };
  NUMBERS.forEach((name, place) => {
    const [number, note] = blocks[place].children;
    say(number, large[place]);
    say(note, words.say(`serving.number.${name}`, facts));
  });
}

/** A bar for the bytes of one user under each change, and how many then fit. @param {Element} holder @param {Shape} shape @param {Setup} setup */
function drawChanges(holder, shape, setup) {
  const made = changes(shape, setup).map(([name, ...change]) => ({ name, change, plan: plan(...change) }));
  const [now] = made;
  const most = Math.max(...made.map((each) => each.plan.perUser));
  const lines = pool(holder, made.length, () => {
    const line = node("div.serving-change");
    for (const part of ["label", "lane", "text"]) node(/** @type {any} */ (`div.serving-${part}`), {}, line);
    node("div.serving-fill", {}, line.children[1]);
    return line;
  });
  made.forEach(({ name, change: [changed], plan: other }, place) => {
    const [label, lane, text] = lines[place].children;
    const filled = /** @type {HTMLElement} */ (lane.firstElementChild);
    const facts = { kv_heads: changed.kvHeads, heads: shape.heads, window: changed.window ?? 0, bits: setup.cacheBits };
    say(label, words.say(`serving.change.${name}`, facts));
    set(filled, { "data-kind": place ? "ghost" : "kept" });
    filled.style.width = `${(100 * other.perUser) / most}%`;
    const factor = other.perUser / now.plan.perUser;
    const size = { bytes: other.perUser, users: other.users, factor };
    say(text, words.say(place ? "serving.changes.beside" : "serving.changes.now", size));
  });
}

/** @param {Element} table @param {Shape} shape @param {Setup} setup */
function drawWrong(table, shape, setup) {
  const found = Object.entries(wrongFormulas(shape));
  const right = plan(shape, setup).perUser;
  const lines = pool(table, found.length + 1, () => node("tr"));
  const heads = ["mistake", "gives", "off"].map((name) => words.say(`serving.wrong.column.${name}`));
  fill(lines[0], heads, () => node("th", { scope: "col" }));
  found.forEach(([name, factor], place) => {
    const off =
      factor === 1 ? words.say("serving.wrong.same") : factor < 0.1 ? percent(factor) : `${decimals(factor, 2)} ×`;
    fill(lines[place + 1], [words.say(`serving.wrong.name.${name}`), bytes(factor * right), off], cellOf);
    lines[place + 1].classList.toggle("is-same", factor === 1);
  });
}
