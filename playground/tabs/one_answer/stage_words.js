// What the card of a stage says: its setting, and what it did to the tokens or why it did nothing.
// A context is { stage, before, run, params, step }; `before` is the stage before, or what there was at the beginning.

import { percent } from "../../page/js/numbers.js";
import { isOn, notOff, settingsOf, valueUnder } from "../../page/js/stage_table.js";

export const RULE_NAMES = {
  transformers: "transformers",
  minimind: "MiniMind",
  vllm: "vLLM",
  "llama.cpp": "llama.cpp",
};
export const RULE_WORDS = {
  transformers:
    "The temperature stands before the cuts, so a higher T lets more tokens through top-p. Here top-k keeps exactly k tokens; transformers itself keeps all that are as likely as the k-th.",
  minimind:
    "The temperature stands before the penalty. Top-p stops at the token that exceeds p, not at the one that reaches it; top-k keeps all tokens as likely as the k-th.",
  vllm: "Min-p cuts before top-k and top-p, which count within what it left. Top-k keeps all tokens as likely as the k-th.",
  "llama.cpp":
    "The temperature stands last: the cuts see the model's own probabilities, so T never changes how many tokens stay.",
};

const PENALTY_NAMES = {
  repetition_penalty: "repetition",
  presence_penalty: "presence",
  frequency_penalty: "frequency",
};

export function count(number) {
  return number.toLocaleString("en");
}

export function tokens(number) {
  return `${count(number)} token${number === 1 ? "" : "s"}`;
}

export function settingOf(name, params) {
  if (name === "temperature") return String(valueUnder(params, settingsOf(name)[0]));
  const on = notOff(name, params).map((setting) => {
    const value = valueUnder(params, setting);
    const shown = setting.whole ? count(value) : String(value);
    return name === "penalty" ? `${PENALTY_NAMES[setting.field] ?? setting.field} ${shown}` : shown;
  });
  return on.join(", ") || "off";
}

export function reason(context) {
  const {
    stage: { name },
    before,
    params,
  } = context;
  if (name === "temperature") return temperature(context);
  if (!isOn(name, params)) return "Off.";
  if (name === "penalty") return penalty(context);
  if (params.temperature === 0) {
    return before.numKept === 1
      ? "Nothing to do: T = 0 has left one token."
      : "Not asked: with T = 0 the most likely token wins.";
  }
  if (before.numKept === 1) return "Nothing to do: one token is left.";
  return CUTS[name](context, valueUnder(params, settingsOf(name)[0]));
}

const CUTS = {
  "top-k"({ stage, before }, k) {
    if (!stage.cuts) return `Nothing to do: ${count(before.numKept)} came in, no more than k.`;
    const ties = stage.numKept - k;
    return ties > 0
      ? `The ${k} most likely and ${ties} as likely as the last.`
      : `The ${k} most likely, whatever their probability.`;
  },
  "top-p"({ stage, before }, p) {
    if (!stage.cuts) return `Nothing to do: all ${count(before.numKept)} are needed to reach ${p}.`;
    if (stage.numKept === 1) return `The most likely alone has ${percent(before.probs[before.start])}.`;
    return `The most likely whose sum reaches ${p}.`;
  },
  "min-p"({ stage, before }, min_p) {
    const least = percent(min_p * before.probs[before.start]);
    return stage.cuts
      ? `At least ${least}: ${min_p} of the most likely.`
      : `Nothing to do: all have at least ${least}.`;
  },
  "typical-p"({ stage, before }, p) {
    if (!stage.cuts) return `Nothing to do: all ${count(before.numKept)} are needed to reach ${p}.`;
    const dropped = stage.start - before.start;
    const without = dropped ? ` Not the ${dropped === 1 ? "most likely" : `${count(dropped)} most likely`}.` : "";
    return `Keeps tokens whose surprise is near the entropy, ${entropyOf(before.probs).toFixed(2)} nats.${without}`;
  },
  "top-n-sigma"({ stage }, n) {
    const within = `within ${n} standard deviation${n === 1 ? "" : "s"} of the largest`;
    return stage.cuts ? `Keeps logits ${within}.` : `Nothing to do: all logits lie ${within}.`;
  },
};

function entropyOf(probs) {
  return -probs.reduce((sum, prob) => (prob > 0 ? sum + prob * Math.log(prob) : sum), 0);
}

function temperature({ stage, before, params }) {
  if (params.temperature === 0) return "Greedy: the most likely only.";
  if (params.temperature === 1) return "Nothing to do: division by 1.";
  if (before.numKept === 1) return "Nothing to do: one token is left.";
  const [was, is] = [before.probs[before.start], stage.probs[stage.start]].map(percent);
  return `${params.temperature < 1 ? "Sharper" : "Flatter"}: ${was} → ${is} for the first.`;
}

function penalty({ params, run, step }) {
  const counted = params.penalty_counts_prompt ?? true;
  const seen = new Set([...(counted ? run.promptIds : []), ...run.tokenIds.slice(0, step)]).size;
  if (!seen) return "Nothing to do: no token was written yet.";
  return `Changes ${tokens(seen)} seen ${counted ? "in prompt and answer" : "in the answer"}.`;
}
