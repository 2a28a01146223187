// What has been watched, from the log alone: the server counts in the same way.

/** @import { Event } from "../types" */

/** A stretch of a clip, in milliseconds. @typedef {[from: number, to: number]} Range */

const SHARE = 0.97; // of the clip
const END_MS = 500; // and its end

/** Return the ranges that were played, by slot, and how often each began at its start; rounds of a loop are none.
 *  @param {readonly Event[]} events */
export function replay(events) {
  /** @type {Map<string, { ranges: Range[], plays: number, failure: string | null }>} */
  const slots = new Map();
  /** @type {Map<string, number>} */
  const open = new Map();
  for (const [, kind, slot, data] of events) {
    if (kind === "shown") open.clear(); // a page that went away in the middle of a play
    if (slot === null) continue;
    const seen = slots.get(slot) ?? { ranges: [], plays: 0, failure: null };
    slots.set(slot, seen);
    const told = typeof data === "object" && data !== null && !Array.isArray(data) ? data : {};
    const at = Number(told["at"] ?? NaN);
    if (kind === "play") {
      open.set(slot, at);
      if ((at === 0 || seen.plays === 0) && told["loop"] !== true) seen.plays += 1;
    } else if (["pause", "ended", "seek", "stall", "rate"].includes(kind)) {
      const from = open.get(slot);
      if (from !== undefined && at > from) seen.ranges.push([from, at]);
      open.delete(slot);
    } else if (kind === "error" && told["again"] !== true) {
      seen.failure = String(told["what"]);
    }
  }
  return slots;
}

/** Return ranges in order, none touching another. @param {readonly Range[]} ranges @returns {Range[]} */
export function union(ranges) {
  /** @type {Range[]} */
  const joined = [];
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const before = joined.at(-1);
    if (before !== undefined && from <= before[1]) before[1] = Math.max(before[1], to);
    else joined.push([from, to]);
  }
  return joined;
}

/** Return the share of a clip that ranges cover, 0 to 1. @param {readonly Range[]} ranges @param {number} ms */
export function share(ranges, ms) {
  return Math.min(1, union(ranges).reduce((sum, [from, to]) => sum + to - from, 0) / ms);
}

/** Return whether a clip counts as watched whole: nearly all of it, and its end.
 *  @param {readonly Range[]} ranges @param {number} ms */
export function isWhole(ranges, ms) {
  return share(ranges, ms) >= SHARE && Math.max(0, ...ranges.map(([, to]) => to)) >= ms - END_MS;
}
