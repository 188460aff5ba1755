// A clock that plays recorded seconds again, slower than they were.

/**
 * @param {object} given
 * @param {() => number} given.end  the last second
 * @param {() => number} given.rate  seconds of the recording in a second
 * @param {() => void} given.show  the time has changed
 * @param {() => void} given.seen  it was played to its end
 */
export function player({ end, rate, show, seen }) {
  let seconds = 0;
  let frame = 0; // the animation frame asked for; 0: it stands still

  function stop() {
    cancelAnimationFrame(frame);
    frame = 0;
  }

  return {
    get seconds() {
      return seconds;
    },
    get playing() {
      return frame !== 0;
    },
    /** Back to its beginning, and nothing is told. */
    reset() {
      stop();
      seconds = 0;
    },
    /** @param {number} from */
    play(from) {
      stop();
      seconds = from;
      /** @type {number | null} */
      let last = null;
      const step = (/** @type {number} */ now) => {
        const passed = last === null ? 0 : (now - last) / 1000;
        last = now;
        seconds = Math.min(seconds + passed * rate(), end());
        frame = seconds < end() ? requestAnimationFrame(step) : 0;
        (frame ? show : seen)();
      };
      frame = requestAnimationFrame(step);
      show();
    },
  };
}
