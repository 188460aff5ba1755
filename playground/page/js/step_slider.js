// A picture over the steps of the answer is a slider: the pointer and the arrow keys choose the step looked at.

/**
 * @param {SVGElement} picture
 * @param {import("./types.js").Store} store
 * @param {(event: PointerEvent) => number} shareOf  where the pointer is between the first step (0) and the last (1)
 */
export function slideOverSteps(picture, store, shareOf) {
  const last = () => (store.get().run?.numSteps ?? 1) - 1;
  /** @param {number} step */
  const go = (step) => {
    if (store.get().run) store.set({ step: Math.max(0, Math.min(last(), step)) });
  };
  /** @param {PointerEvent} event */
  const follow = (event) => go(Math.round(shareOf(event) * last()));
  picture.addEventListener("pointerdown", (event) => {
    picture.setPointerCapture(event.pointerId);
    follow(event);
  });
  picture.addEventListener("pointermove", (event) => {
    if (event.buttons) follow(event);
  });
  picture.addEventListener("keydown", (event) => {
    const { step } = store.get();
    /** @type {Record<string, number>} */
    const targets = { ArrowLeft: step - 1, ArrowRight: step + 1, Home: 0, End: last() };
    const to = targets[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    go(to);
  });
}
