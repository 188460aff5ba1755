// The calculator: a model, a machine and a length of text; how many users fit.

import { asker } from "../../page/js/jobs.js";
import { bytes, count, decimals } from "../../page/js/numbers.js";
import { node, say } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";
import { publish } from "./asked_setup.js";
import { controls } from "./calculator_controls.js";
import { plan, shapeOf } from "./memory.js";
import { memoryBar } from "./memory_bar.js";
import { keyNumbers } from "./rows.js";

/** @typedef {import("./memory.js").Setup} Setup */
/** @typedef {import("./memory.js").Plan} Plan */

/** @param {HTMLElement} element @param {import("../../page/js/types.js").PanelApi} api @returns {import("../../page/js/types.js").Panel} */
export function mount(element, api) {
  const { model, machine, lesson } = api.props.value;
  const chosen = controls(node("div.serving-controls", {}, element), { model, machine, lesson }, draw);
  const problem = node("p.problem", { role: "alert" }, element);
  const result = node("div.serving-result", {}, element);
  const numbers = node("div.key-numbers", {}, result);
  const bar = memoryBar(result);
  const measured = node("p.note.serving-measured", { role: "status" }, element);
  const asking = asker(api, () => {});

  function draw() {
    const { config, setup, problem: what } = chosen.get();
    say(problem, what ?? "");
    result.classList.toggle("is-stale", !config);
    if (!config) return;
    const shape = shapeOf(config);
    const made = plan(shape, setup);
    drawNumbers(numbers, made, setup);
    bar.draw(made, setup);
    publish({ shape, setup });
  }

  /** The tensors of the model in the bar. @param {string} name */
  async function measure(name) {
    const reply = await asking.ask({ model: name }, name);
    if (reply.stopped && !reply.problem) return; // a newer question is on its way
    say(measured, reply.problem ?? words.text(reply.measured));
    if (reply.config) chosen.own(name, reply.config);
    draw();
  }

  return {
    reads: ["bar"],
    update: (given) => asking.take(given),
    draw({ bar: now }) {
      draw();
      if (now && now.model !== asking.asked) measure(now.model);
    },
  };
}

/** @param {Element} holder @param {Plan} made @param {Setup} setup */
function drawNumbers(holder, { users, perUser, perToken, tokensPerSecond: speed }, { tokens }) {
  keyNumbers(holder, [
    [count(users), words.say("serving.number.users", { users, tokens })],
    [bytes(perUser), words.say("serving.number.per_user")],
    [bytes(perToken), words.say("serving.number.per_token", { exact: perToken })],
    [decimals(speed, speed < 10 ? 1 : 0), words.say("serving.number.speed")],
  ]);
}
