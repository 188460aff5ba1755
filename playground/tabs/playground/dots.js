// Thirty answers as thirty dots: equal numbers are equal answers. It asks for new ones when the hand has rested or another
// run stands on the screen, and only while it is in sight.

import { asker, jobWords } from "../../page/js/jobs.js";
import { node, pool, say, set } from "../../page/js/svg.js";

const REST_MS = 300;

export function mount(element, api) {
  const question = asker(api, (job) => say(waits, job.state === "queued" ? jobWords(job) : ""));
  const row = node("div.dots-row", {}, element);
  const number = node("div.key-number", {}, row, "–");
  const dots = node("div.dots", { role: "img" }, row);
  const words = node("p.dots-words", { role: "status" }, element, "Press Generate to sample 30 answers.");
  const waits = node("p.note", { role: "status" }, element);
  const list = node("ol.answer-list", {}, element);
  let wanted = null; // the request that the screen calls for, and the same as text
  let key = null;
  let timer = 0;

  function draw({ run, params }) {
    if (!run?.logits || !params) return;
    const request = { model: run.model, prompt: run.prompt, params };
    const text = JSON.stringify(request);
    if (text === key) return;
    [wanted, key] = [request, text];
    element.classList.add("is-stale");
    clearTimeout(timer);
    timer = setTimeout(ask, REST_MS);
  }

  async function ask() {
    const about = key;
    const reply = await question.ask(wanted);
    if (about !== key) return; // the newer question is on its way
    element.classList.remove("is-stale");
    if (reply.problem) say(words, reply.problem);
    else show(reply);
  }

  function show({ distinct, groups, answers, max_new_tokens }) {
    say(number, String(distinct));
    const circles = pool(dots, groups.length, () => node("span.dot"));
    groups.forEach((group, index) => {
      say(circles[index], String(group + 1));
      circles[index].style.setProperty("--shade", Math.max(1 - group * 0.06, 0.3).toFixed(2));
      set(circles[index], { title: answers[group].text });
    });
    set(dots, { "aria-label": `${distinct} distinct answers among ${groups.length}` });
    say(words, `distinct of ${groups.length} answers (at most ${max_new_tokens} tokens each)`);
    const rows = pool(list, answers.length, () => {
      const item = node("li");
      node("b", {}, item);
      node("span", {}, item);
      return item;
    });
    answers.forEach(({ text, count }, index) => {
      say(rows[index].children[0], `${count} ×`);
      say(rows[index].children[1], text || "(empty)");
    });
  }

  return { reads: ["run", "params"], draw, update: question.take };
}
