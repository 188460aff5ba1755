// What the pictures drawn on a canvas share.

import { set } from "../../page/js/svg.js";

const MOST_LETTERS = 11;

/**
 * @typedef {object} Sheet
 * @property {CanvasRenderingContext2D} ink
 * @property {(variable: string) => string} colour  of the page's palette, e.g. "--kept"
 * @property {string} font  the family that the style sheet gives to the canvas
 */

/** A clean sheet of that size in CSS pixels, as sharp as the screen. @param {HTMLCanvasElement} canvas @param {number} width
 * @param {number} height @returns {Sheet} */
export function sheetOf(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  set(canvas, { width: Math.round(width * scale), height: Math.round(height * scale) });
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const ink = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  ink.scale(scale, scale);
  ink.textBaseline = "middle";
  const style = getComputedStyle(canvas);
  return { ink, colour: (variable) => style.getPropertyValue(variable).trim(), font: style.fontFamily };
}

/** A token's label as the name of a row. @param {string} label */
export function shortened(label) {
  return label.length > MOST_LETTERS ? `${label.slice(0, MOST_LETTERS - 1)}…` : label;
}

/** What Python sent as base64. @param {string} base64 */
export function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}
