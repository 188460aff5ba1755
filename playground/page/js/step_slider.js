// A picture over the steps of the answer is a slider: the pointer and the arrow keys choose the step looked at.

/** `shareOf(event)`: where the pointer is between the first step (0) and the last (1). */
export function slideOverSteps(picture, store, shareOf) {
  const last = () => (store.get().run?.numSteps ?? 1) - 1;
  const go = (step) => {
    if (store.get().run) store.set({ step: Math.max(0, Math.min(last(), step)) });
  };
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
    const to = { ArrowLeft: step - 1, ArrowRight: step + 1, Home: 0, End: last() }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    go(to);
  });
}
