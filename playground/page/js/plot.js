// A Plotly curve in a div that is kept: Plotly.react changes what differs. The value is a figure made in Python.

import { plotly } from "./plotly.js";
import { node } from "./svg.js";

/** @param {HTMLElement} element @returns {{ reads: ["dark"], update: (value: any) => void, draw: () => void }} */
export function mount(element) {
  const holder = node("div.plot", {}, element);
  const buttons = node("div.plot-buttons", {}, element);
  /** @type {any} */
  let figure = null;
  for (const format of ["png", "svg"]) {
    const button = node(
      "button.small-button",
      { type: "button", title: `Save this picture as ${format.toUpperCase()}` },
      buttons,
      format.toUpperCase(),
    );
    button.addEventListener("click", async () => {
      if (figure)
        (await plotly()).downloadImage(holder, { format, filename: "decoding", width: 1280, height: 720, scale: 2 });
    });
  }

  async function draw() {
    if (!figure || !element.clientWidth) return;
    const Plotly = await plotly();
    if (!figure) return; // taken away meanwhile
    const { data, layout } = withColours(figure, getComputedStyle(document.body));
    const size = {
      width: element.clientWidth,
      height: layout.height ?? Math.max(280, Math.min(420, element.clientWidth / 2)),
    };
    Plotly.react(holder, data, { ...layout, ...size }, { responsive: false, displayModeBar: false });
  }

  return {
    reads: ["dark"],
    update(value) {
      figure = value?.data ? value : null;
      element.parentElement?.classList.toggle("empty", !figure);
      buttons.hidden = !figure;
      holder.hidden = !figure;
      draw();
    },
    draw,
  };
}

/** "var(--kept)" becomes the colour that the page has now. @param {any} figure @param {CSSStyleDeclaration} style */
function withColours(figure, style) {
  return JSON.parse(JSON.stringify(figure), (_key, value) =>
    typeof value === "string" && value.includes("var(--")
      ? value.replace(/var\((--[\w-]+)\)/g, (_all, name) => style.getPropertyValue(name).trim())
      : value,
  );
}
