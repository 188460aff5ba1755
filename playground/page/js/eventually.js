// Waits for what Gradio and the server do in their own time.

const SECONDS = 10;

/**
 * What `find` gives as soon as it is something, asked once a frame; what it gives in the end when it never is.
 * @template Found
 * @param {() => Found} find
 * @param {number} [seconds]
 * @returns {Promise<Found>}
 */
export async function eventually(find, seconds = SECONDS) {
  const end = performance.now() + 1000 * seconds;
  let found = find();
  while (!found && performance.now() < end) {
    await nextFrame();
    found = find();
  }
  return found;
}

/** A hidden page has no frames. */
export function nextFrame() {
  return new Promise((done) => {
    if (document.hidden) setTimeout(done, 16);
    else requestAnimationFrame(done);
  });
}
