// How a number is spelled for a person, the same as in numbers.py: 1,234 and 97.3 % and 2.0 · 10⁻⁵.
// A minus is "−"; what rounds to zero has none. An estimate has ≈ before it, whichever way it is spelled.

/** A number that may be an estimate. @typedef {number | { about: number }} Told */

/** @type {Record<string, string>} */
const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
const UNITS = /** @type {const} */ ([
  [1024 ** 3, "GiB"],
  [1024 ** 2, "MiB"],
  [1024, "KiB"],
]);

/** @type {Map<string, Intl.NumberFormat>} making one costs more than a thousand uses of it */
const formats = new Map();

/** What is said of a number that is known or estimated. @param {number} value @param {boolean} isEstimate @returns {Told} */
export function about(value, isEstimate) {
  return isEstimate ? { about: value } : value;
}

/** The number itself, for arithmetic and for plurals. @param {Told} told */
export function numberIn(told) {
  return typeof told === "number" ? told : told.about;
}

/** @param {{ about: number }} told @param {(value: number) => string} spell */
function estimate({ about }, spell) {
  const text = spell(about);
  return /^[<>]/.test(text) ? text : `≈ ${text}`;
}

/** A whole number with groups of three, 1,234; another one with at most four digits after the point. @param {Told} value @returns {string} */
export function count(value) {
  if (typeof value === "object") return estimate(value, count);
  if (value >= 0 && value < 1000 && Number.isInteger(value)) return String(value); // most of them: Intl takes ten times as long
  if (value !== 0 && Math.abs(value) < 0.0001) return small(value);
  return spelled(value, 0, 4);
}

/** Without groups, for what is a name and not an amount: a seed, a port, an id. @param {number} value */
export function plain(value) {
  return count(value).replaceAll(",", "");
}

/** With exactly so many digits after the point. @param {Told} value @param {number} digits @returns {string} */
export function decimals(value, digits) {
  if (typeof value === "object") return estimate(value, (number) => decimals(number, digits));
  return spelled(value, digits, digits);
}

/** 97.3 %, 0.05 %. What is neither nothing nor everything is never spelled as if it were. @param {Told} share @returns {string} */
export function percent(share) {
  if (typeof share === "object") return estimate(share, percent);
  if (!Number.isFinite(share)) return `${spelled(share, 0, 0)} %`;
  const value = Math.abs(100 * share);
  const [below, above] = share >= 0 ? "<>" : "><";
  const sign = share < 0 ? "−" : "";
  if (value === 0) return "0 %";
  if (value < 0.01) return `${below} ${sign}0.01 %`;
  if (value >= 99.95 && Math.abs(share) < 1) return `${above} ${sign}99.9 %`;
  return `${sign}${decimals(value, value >= 10 ? 1 : 2)} %`;
}

/** 512 B, 2.25 KiB, 200 KiB, 1.5 MiB. @param {number} number */
export function bytes(number) {
  const [size, unit] = UNITS.find(([size]) => Math.abs(number) >= size) ?? [1, "B"];
  return `${spelled(number / size, 0, size === 1 || Math.abs(number / size) < 10 ? 2 : 1)} ${unit}`;
}

/** Takes seconds: 4.21 ms, 250 ms, and from a second on 1.25 s. @param {number} seconds_ */
export function milliseconds(seconds_) {
  const value = 1000 * seconds_;
  if (Math.abs(value) >= 1000) return `${decimals(seconds_, 2)} s`;
  return `${decimals(value, Math.abs(value) < 10 ? 2 : 0)} ms`;
}

/** 1.25 s @param {number} value */
export function seconds(value) {
  return `${decimals(value, 2)} s`;
}

/** How many times: 55.8 × @param {number} factor */
export function ratio(factor) {
  if (factor !== 0 && Math.abs(factor) < 0.1) return `${small(factor)} ×`;
  return `${decimals(factor, Math.abs(factor) >= 1000 ? 0 : 1)} ×`;
}

/** Two digits that count, of a number that may be tiny or huge: 0.25, 2.0 · 10⁻⁵. @param {Told} value @returns {string} */
export function small(value) {
  if (typeof value === "object") return estimate(value, small);
  if (value === 0 || !Number.isFinite(value)) return spelled(value, 0, 0);
  const sign = value < 0 ? "−" : "";
  const [mantissa, power] = format("E1", {
    notation: "scientific",
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  })
    .format(Math.abs(value))
    .split("E");
  const digits = Math.max(0, 1 - Number(power));
  if (-4 < Number(power) && Number(power) < 6) return sign + grouped(Math.abs(value), digits, digits);
  return `${sign}${mantissa} · 10${[...power].map((letter) => RAISED[letter]).join("")}`;
}

/** With `fewest` to `most` digits after the point. @param {number} value @param {number} fewest @param {number} most */
function spelled(value, fewest, most) {
  if (Number.isNaN(value)) return "NaN";
  const sign = value < 0 ? "−" : "";
  if (!Number.isFinite(value)) return `${sign}∞`;
  const text = grouped(Math.abs(value), fewest, most);
  return /[1-9]/.test(text) ? sign + text : text;
}

/** @param {number} value @param {number} fewest @param {number} most */
function grouped(value, fewest, most) {
  return format(`${fewest}-${most}`, { minimumFractionDigits: fewest, maximumFractionDigits: most }).format(value);
}

/** @param {string} name @param {Intl.NumberFormatOptions} options */
function format(name, options) {
  let made = formats.get(name);
  if (made) return made;
  made = new Intl.NumberFormat("en", options);
  formats.set(name, made);
  return made;
}
