// Numbers, times and durations as they are read.

const language = document.documentElement.lang || "en";
const whole = new Intl.NumberFormat(language);
const decimals = new Intl.NumberFormat(language, { maximumFractionDigits: 2 });
const clock = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
const day = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short", hour12: false });

/** @param {number} n */
export const count = (n) => whole.format(n);
/** @param {number | null | undefined} n */
export const number = (n) => (n === null || n === undefined ? "–" : decimals.format(n));
/** @param {string | null} at */
export const time = (at) => (at === null ? "–" : clock.format(new Date(at)));
/** @param {string | null} at */
export const moment = (at) => (at === null ? "–" : day.format(new Date(at)));

/** Return minutes as `17:40`, or as `1 h 05 min` from an hour on. @param {number | null} minutes */
export function minutes(minutes) {
  if (minutes === null) return "–";
  const seconds = Math.round(minutes * 60);
  if (seconds >= 3600) return `${Math.floor(seconds / 3600)} h ${two(Math.floor((seconds % 3600) / 60))} min`;
  return `${Math.floor(seconds / 60)}:${two(seconds % 60)}`;
}

/** Return milliseconds of a page as `0:07.3`. @param {number} ms */
export function place(ms) {
  const tenths = Math.max(0, Math.round(ms / 100));
  return `${Math.floor(tenths / 600)}:${two(Math.floor((tenths % 600) / 10))}.${tenths % 10}`;
}

/** @param {number} n */
const two = (n) => String(n).padStart(2, "0");

/** Return a sum as `2.00 GBP` in the way of the reader: £2.00. @param {string} sum */
export function money(sum) {
  const [amount = "", currency = ""] = sum.split(" ");
  if (!/^[A-Z]{3}$/.test(currency) || Number.isNaN(Number(amount))) return sum;
  return new Intl.NumberFormat(language, { style: "currency", currency, currencyDisplay: "narrowSymbol" }).format(Number(amount));
}

/** Return a share in percent. @param {number} part @param {number} of */
export const percent = (part, of) => (of > 0 ? `${Math.round((100 * part) / of)} %` : "–");

/** Return a stored value as words: lists with commas, nothing as a dash. @param {unknown} value @returns {string} */
export function plainValue(value) {
  if (value === null || value === undefined || value === "") return "–";
  if (Array.isArray(value)) return value.length === 0 ? "–" : value.map(plainValue).join(", ");
  if (typeof value === "number") return decimals.format(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "object")
    return Object.entries(value).map(([name, inner]) => `${name.replaceAll("_", " ")} ${plainValue(inner)}`).join("; ");
  return String(value);
}

/** Return how far off a time is, as `in 2 h` or `in 3 days`. @param {string} at @param {string} now @param {import("../../web/types").Say} say */
export function until(at, now, say) {
  const left = (Date.parse(at) - Date.parse(now)) / 60_000;
  if (left < 90) return say("in.minutes", { n: Math.max(1, Math.round(left)) });
  return left < 48 * 60 ? say("in.hours", { n: Math.round(left / 60) }) : say("in.days", { n: Math.round(left / 1440) });
}
