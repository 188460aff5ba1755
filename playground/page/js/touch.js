// A finger on a slider: a swipe up or down that begins there scrolls the page and leaves the value. A range itself takes
// any touch for a move, so page.css lets fingers through it to the lane around it, and the lane moves it.

const SIDEWAYS = 8; // pixels of the finger until it is clear that the slider is meant
const THUMB = 26; // pixels, as in page.css

/** @param {HTMLElement} lane @param {HTMLInputElement} range */
export function followFinger(lane, range) {
  /** @type {number | null} */
  let from = null; // where the finger came down, until its meaning is clear
  let isMoving = false;

  /** @param {PointerEvent} event */
  function moveTo({ clientX }) {
    const { left, width } = range.getBoundingClientRect();
    const share = Math.max(0, Math.min(1, (clientX - left - THUMB / 2) / (width - THUMB)));
    range.value = String(Number(range.min) + share * (Number(range.max) - Number(range.min)));
    range.dispatchEvent(new Event("input", { bubbles: true }));
  }

  lane.addEventListener("pointerdown", (event) => {
    if (event.target !== lane) return; // a mouse on a screen without touch moves the range itself
    from = event.clientX;
    isMoving = false;
    lane.setPointerCapture(event.pointerId);
  });
  lane.addEventListener("pointermove", (event) => {
    if (from === null) return;
    isMoving ||= Math.abs(event.clientX - from) > SIDEWAYS;
    if (isMoving) moveTo(event);
  });
  lane.addEventListener("pointerup", (event) => {
    if (from !== null) moveTo(event); // a tap too
    from = null;
  });
  lane.addEventListener("pointercancel", () => {
    from = null; // the page scrolls
  });
}
