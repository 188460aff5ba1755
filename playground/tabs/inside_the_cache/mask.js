// Why the mask is added to the scores. Three scores to play with, the third hidden; then a row of the model's own.

import { node, say, set } from "../../page/js/svg.js";

const IDEAS = [
  ["no mask", (score) => score],
  ["add −∞", (score, hidden) => (hidden ? -Infinity : score)],
  ["multiply by 0", (score, hidden) => (hidden ? score * 0 : score)],
  ["multiply by −∞", (score, hidden) => (hidden ? score * -Infinity : score)],
];

// Weights of a row of scores under each idea: the arithmetic of experiments/attention.py `mask_row`.
function maskRow(scores, hidden) {
  return IDEAS.map(([name, change]) => [name, softmax(scores.map((score, index) => change(score, hidden[index])))]);
}

function softmax(row) {
  const highest = Math.max(...row);
  const powers = row.map((score) => Math.exp(score - highest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

export function mount(element) {
  const inputs = node("div.mask-inputs", {}, element);
  const scores = [1, 2, 3].map((score, index) => {
    const label = node("label", {}, inputs, index < 2 ? `score ${index + 1}` : "score 3, hidden");
    const input = node("input.number", { type: "number", step: 0.5, min: -20, max: 20, value: score }, label);
    input.addEventListener("input", draw);
    return input;
  });
  const table = node("table.mask-table", {}, element);
  const lines = IDEAS.map(([name]) => {
    const line = node("tr", {}, table);
    node("th", { scope: "row" }, line, name);
    return { line, cells: [0, 1, 2].map(() => node("td", {}, line)), verdict: node("td.mask-verdict", {}, line) };
  });
  const own = node("p.mask-own", {}, element);

  function draw() {
    const numbers = scores.map((input) => Number(input.value) || 0);
    maskRow(numbers, [false, false, true]).forEach(([, weights], index) => {
      const { line, cells, verdict } = lines[index];
      weights.forEach((weight, place) => {
        say(cells[place], Number.isNaN(weight) ? "NaN" : weight.toFixed(3));
        cells[place].style.setProperty("--share", Number.isNaN(weight) ? 0 : weight);
      });
      const leak = weights[2];
      const isRight = leak === 0 && index === 1;
      set(line, { "data-right": isRight });
      say(verdict, judge(index, leak, numbers[2]));
    });
  }
  draw();
  return {
    update(value) {
      say(own, value?.own ?? "");
    },
  };
}

function judge(index, leak, score) {
  if (index === 0) return "reads the future";
  if (Number.isNaN(leak)) return "the row is broken";
  if (index === 1) return "right: nothing leaks";
  if (index === 2) return `${(100 * leak).toFixed(1)} % leaks`;
  return score > 0 ? "right by luck: score > 0" : "the row is broken";
}
