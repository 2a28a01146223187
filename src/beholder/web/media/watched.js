// What has been watched, from the log alone. The server counts in the same way (server/playback.py) and sends the
// numbers; a property test holds the two together.

/** @import { Event, Json, Playback, Slot } from "../types" */

/** @typedef {Playback["whole"]} Whole */
/** A stretch of a clip, in milliseconds. @typedef {[from: number, to: number]} Range */
/** What the log tells of a slot. `since`: when the open play began by the log's clock, and where; `slack`: by how much
 *  positions may still run ahead of the clock; `frames`: null where the browser cannot count them.
 *  @typedef {{ ms: number, ranges: Range[], plays: number, failure: string | null, since: [now: number, at: number] | null,
 *              rate: number, slack: number, frames: number | null, isCounted: boolean }} Seen */

const CLOSING = new Set(["pause", "ended", "seek", "stall", "rate", "error"]);

/** Return the count of what was watched. `read` takes note of what is new in a log; `seen` is how a slot stands, and how
 *  it would stand if it were paused now.
 *  @param {readonly Slot[]} slots @param {Whole} whole @param {boolean} together */
export function openCount(slots, whole, together) {
  /** @type {Map<string, Seen>} */
  const count = new Map(slots.map(({ id, media }) => [id, fresh(media.ms, whole)]));
  let [next, last] = [0, 0];

  /** @param {Event} event */
  function apply([ms, kind, slot, data]) {
    const now = (last = Math.max(ms, last)); // a clock that runs backwards adds nothing
    if (kind === "shown") for (const one of count.values()) one.since = null; // it went away in the middle of a play
    const seen = slot === null ? undefined : count.get(slot);
    if (seen === undefined) return;
    if (kind === "play" && !together)
      for (const other of count.values()) if (other !== seen) stop(other, now, null, whole);
    change(seen, now, kind, data, whole);
  }

  return {
    /** @param {readonly Event[]} events the whole log */
    read(events) {
      for (; next < events.length; next += 1) apply(events[next]);
    },
    /** @param {string} id @param {{ ms: number, at: number, frames: Json } | null} [now] how long it has been open, where
     *  it is, and what was drawn @returns {Seen} */
    seen(id, now = null) {
      const seen = /** @type {Seen} */ (count.get(id));
      if (now === null) return seen;
      const paused = { ...seen, ranges: [...seen.ranges] };
      if (seen.since !== null) change(paused, seen.since[0] + now.ms, "pause", { at: now.at }, whole);
      if (now.frames !== null) change(paused, 0, "frames", now.frames, whole);
      return paused;
    },
  };
}

/** Return whether a slot was watched as the study asks. Frames prove it, not the end.
 *  @param {Seen} seen @param {Playback} playback */
export function isWatched(seen, { watch, whole }) {
  if (watch === "none") return true;
  if (seen.plays === 0 || !seen.isCounted || seen.frames === 0) return false;
  if (watch === "start") return true;
  const [covered, furthest] = covering(seen);
  const share = Math.floor(Math.min(1, covered / seen.ms) * 1e4 + 0.5) / 1e4; // as the server rounds it
  return share >= whole.share && Math.floor(furthest + 0.5) >= seen.ms - whole.last_ms;
}

/** Return how often a slot was played whole, or begun where that is enough; without a limit where nothing is asked.
 *  @param {Seen} seen @param {Playback} playback */
export function wholePlays(seen, playback) {
  if (playback.watch === "none") return Infinity;
  if (!isWatched(seen, playback)) return 0;
  if (playback.watch === "start") return seen.plays;
  const all = seen.ranges.reduce((sum, [from, to]) => sum + Math.floor(to - from + 0.5), 0); // as the server rounds it
  return Math.min(seen.plays, Math.max(1, Math.floor(all / (seen.ms * playback.whole.each))));
}

/** Return the share of a slot that was watched, 0 to 1. @param {Seen} seen */
export function share(seen) {
  return Math.min(1, covering(seen)[0] / seen.ms);
}

/** Return how much of a slot was watched, and how far, in milliseconds. @param {Seen} seen @returns {[number, number]} */
function covering({ ranges }) {
  let [covered, reached] = [0, 0];
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    if (to <= reached) continue;
    covered += to - Math.max(from, reached);
    reached = to;
  }
  return [covered, reached];
}

/** @param {number} ms @param {Whole} whole @returns {Seen} */
function fresh(ms, { slack_ms: slack }) {
  return { ms, ranges: [], plays: 0, failure: null, since: null, rate: 1, slack, frames: null, isCounted: false };
}

/** Apply one event of a slot. @param {Seen} seen @param {number} now @param {string} kind @param {Json} data
 *  @param {Whole} whole */
function change(seen, now, kind, data, whole) {
  const told = typeof data === "object" && data !== null && !Array.isArray(data) ? data : {};
  const at = number(told["at"]);
  if (kind === "play") {
    if (!at || seen.plays === 0) seen.plays += told["loop"] === true ? 0 : 1; // gone on after a pause is the same play
    seen.since ??= [now, at ?? 0];
  } else if (CLOSING.has(kind)) {
    stop(seen, now, at, whole);
    if (kind === "rate") seen.rate = number(told["rate"]) ?? 0;
    if (kind === "error" && told["again"] === true) seen.ranges = []; // it has to be played again
    else if (kind === "error") seen.failure = String(told["what"]);
  } else if (kind === "frames") {
    seen.isCounted = true;
    const total = number(told["total"]);
    const isDrawn = Boolean(told["width"]) && Boolean(told["height"]);
    if (total !== null) seen.frames = (seen.frames ?? 0) + (isDrawn ? Math.trunc(total) : 0);
  }
}

/** End the open play of a slot; without a position, where the clock says. @param {Seen} seen @param {number} now
 *  @param {number | null} at @param {Whole} whole */
function stop(seen, now, at, { fastest }) {
  if (seen.since === null) return;
  const [began, from] = seen.since;
  seen.since = null;
  const reach = from + (now - began) * fastest;
  const to = Math.min(at ?? reach, reach + seen.slack, seen.ms);
  seen.slack -= Math.max(0, to - reach);
  if (to > from && seen.rate === 1) seen.ranges.push([from, to]);
}

/** @param {Json | undefined} value @returns {number | null} */
function number(value) {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
