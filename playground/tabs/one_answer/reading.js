// What the model really reads: the prompt as tokens, and those that the chat template puts around it.

import { node, pool, say } from "../../page/js/svg.js";
import * as words from "../../page/js/words.js";

/** @typedef {{ label: string, isPrompt: boolean }} ReadToken */

/** Which tokens hold what the visitor wrote. @param {string[]} labels  of the whole prompt @param {string} prompt  as it was typed
 * @returns {ReadToken[]} */
export function readTokens(labels, prompt) {
  const typed = prompt.replaceAll(" ", "␣").replaceAll("\n", "⏎").replaceAll("\t", "⇥");
  const start = labels.join("").lastIndexOf(typed);
  let end = 0;
  return labels.map((label) => {
    const from = end;
    end += label.length;
    // Letters that are no text of their own have no place in it: then all but the special tokens count.
    const isPrompt = start < 0 ? !/^<\|.*\|>$/.test(label) : end > start && from < start + typed.length;
    return { label, isPrompt };
  });
}

/** @param {HTMLElement} element @returns {import("../../page/js/types.js").Panel} */
export function mount(element) {
  node("h2", {}, element, words.say("one_answer.reading.title"));
  const about = node("p.note", {}, element, words.say("one_answer.reading.empty"));
  const strip = node("p.reading-tokens", { translate: "no" }, element);

  return {
    reads: ["run"],
    draw({ run }) {
      if (!run) return;
      const tokens = readTokens(run.promptLabels, run.prompt);
      const boxes = pool(strip, tokens.length, () => node("span.reading-token"));
      tokens.forEach(({ label, isPrompt }, place) => {
        say(boxes[place], label);
        boxes[place].classList.toggle("is-template", !isPrompt);
      });
      const own = tokens.filter(({ isPrompt }) => isPrompt).length;
      const facts = { own, count: tokens.length, added: tokens.length - own };
      say(
        about,
        facts.added ? words.say("one_answer.reading.chat", facts) : words.say("one_answer.reading.base", facts),
      );
    },
  };
}
