// Plotly weighs more than the rest of the page: it is fetched when a curve is first drawn.

/** @type {Promise<any> | null} */
let loading = null;

/** Plotly, as soon as it is there. Rejects where it can't be fetched; the next curve asks again. */
export function plotly() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL("../../plotly.min.js", import.meta.url).href;
    script.onload = () => resolve(/** @type {any} */ (window).Plotly);
    script.onerror = () => {
      loading = null;
      reject(new Error("Plotly could not be fetched"));
    };
    document.head.append(script);
  });
  return loading;
}
