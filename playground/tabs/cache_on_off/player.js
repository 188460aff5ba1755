// A clock that plays recorded seconds again, faster or slower than they were.

/**
 * @param {object} given
 * @param {() => number} given.end  the last second
 * @param {() => number} given.rate  seconds of the recording in a second
 * @param {() => void} given.show  the time, or whether it plays, has changed
 * @param {() => void} given.seen  it was played to its end
 */
export function player({ end, rate, show, seen }) {
  let seconds = 0;
  let frame = 0; // the animation frame asked for; 0: it stands still

  function stop() {
    cancelAnimationFrame(frame);
    frame = 0;
  }

  /** @param {number} to */
  function seek(to) {
    seconds = Math.max(0, Math.min(to, end()));
    show();
  }

  /** @param {number} from */
  function play(from) {
    stop();
    /** @type {number | null} */
    let last = null;
    const step = (/** @type {number} */ now) => {
      const passed = last === null ? 0 : (now - last) / 1000;
      last = now;
      const next = seconds + passed * rate();
      frame = next < end() ? requestAnimationFrame(step) : 0;
      seek(next);
      if (!frame) seen();
    };
    frame = requestAnimationFrame(step);
    seek(from);
  }

  return {
    get seconds() {
      return seconds;
    },
    get playing() {
      return frame !== 0;
    },
    stop,
    seek,
    /** Back to its beginning, and nothing is told. */
    reset() {
      stop();
      seconds = 0;
    },
    play,
    /** Stops it where it stands, or goes on; from its end it begins again. */
    toggle() {
      if (!frame) return play(seconds < end() ? seconds : 0);
      stop();
      show();
    },
  };
}
