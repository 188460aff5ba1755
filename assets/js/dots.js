// Thirty answers as thirty dots: equal numbers are equal answers. Their table stands beside.

import { node, pool, say, set } from "./svg.js";

export function mount(element, api) {
  const row = node("div.dots-row", {}, element);
  const number = node("div.key-number", {}, row, "–");
  const dots = node("div.dots", { role: "img" }, row);
  const words = node("p.dots-words", {}, element, "Press Generate to sample 30 answers.");
  const list = node("ol.answer-list", {}, element);

  let stale = false;
  api.store.subscribe(({ params }) => {
    if (!api.props.value?.groups || stale || !params) return;
    stale = Object.entries(api.props.value.params).some(([key, value]) => params[key] !== undefined && params[key] !== value);
    element.classList.toggle("is-stale", stale);
  });

  return {
    update(value) {
      if (!value?.groups) return;
      stale = false;
      element.classList.remove("is-stale");
      say(number, String(value.distinct));
      const circles = pool(dots, value.groups.length, () => node("span.dot"));
      value.groups.forEach((group, index) => {
        say(circles[index], String(group + 1));
        circles[index].style.setProperty("--shade", Math.max(1 - group * 0.06, 0.3).toFixed(2));
        set(circles[index], { title: value.answers[group].text });
      });
      set(dots, { "aria-label": `${value.distinct} distinct answers among ${value.groups.length}` });
      say(words, `distinct of ${value.groups.length} answers (at most ${value.max_new_tokens} tokens each)`);
      const rows = pool(list, value.answers.length, () => {
        const item = node("li");
        node("b", {}, item);
        node("span", {}, item);
        return item;
      });
      value.answers.forEach(({ text, count }, index) => {
        say(rows[index].children[0], `${count} ×`);
        say(rows[index].children[1], text || "(empty)");
      });
    },
  };
}
