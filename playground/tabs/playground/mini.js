// A picture that fills what its card leaves it, and is drawn again when that changes.

import { node, set, svg } from "../../page/js/svg.js";

/**
 * @param {HTMLElement} parent @param {Record<string, string | number>} attributes  of the picture
 * @param {number} smallest  height in pixels
 * @param {() => void} redraw
 */
export function miniPicture(parent, attributes, smallest, redraw) {
  const room = node("div.mini-picture", {}, parent);
  const picture = svg("svg", attributes, room);
  new ResizeObserver(redraw).observe(room);
  return {
    picture,
    /** Pixels. The picture takes them. */
    fill() {
      const size = { width: room.clientWidth, height: Math.max(smallest, room.clientHeight) };
      set(picture, size);
      return size;
    },
  };
}
