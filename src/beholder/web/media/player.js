// The rules of playing, over one track per slot: exactly one plays, or all together; every stretch is logged.
// Watching is proved by frames, not by `ended`.

import { isWatched, openCount, share, wholePlays } from "./watched.js";

/** @import { Log } from "../log.js" */
/** @import { Follow, Hears, Loop, OpenTracks, Track } from "./tracks/track" */
/** @import { EventKind, Json, Player, Slot, Trial } from "../types" */

/** What the media of a trial need. @typedef {{ open: Map<string, OpenTracks>, follow: Follow | null }} Kit */
/** What the page knows of a slot, beside its track and what its log tells. `since`: when the open play was logged.
 *  @typedef {{ slot: Slot, track: Track, failure: string | null, open: number | null, since: number,
 *              last: number, rounds: number, drawn: number, measured: string, isCounted: boolean,
 *              isStarted: boolean, isLost: boolean, isHidden: boolean, wasHidden: boolean, isWatched: boolean }} Place */

const JUMP_MS = 250; // less is what a clock may be off
const MANY = 1500; // so many events, and further rounds of a loop are not told one by one

/** Return the player of a trial, knowing what was watched before a reload.
 *  @param {{ trial: Trial, kit: Kit, label: (slot: Slot) => string, log: Log, signal: AbortSignal }} parts */
export function openPlayer({ trial, kit, label, log, signal }) {
  const { playback } = trial;
  /** @type {Map<string, Place>} */
  const places = new Map();
  /** @type {Set<(what: "state" | "tick" | "ended" | "stopped") => void>} */
  const listeners = new Set();
  /** @type {string | null} */
  let current = null;
  /** What plays at once. @type {string[]} */
  let group = [];
  /** @type {ReturnType<Follow> | null} */
  let following = null;
  /** The part that is to loop. @type {Loop | null} */
  let region = null;
  /** The part that loops now. @type {Loop | null} */
  let running = null;
  let starts = 0; // time is followed from the last one on
  let isOnce = false;
  /** Who is heard of those that play at once. @type {string | null} */
  let heard = null;
  /** Who can be seen of those that play at once; null: all. @type {readonly string[] | null} */
  let inSight = null;

  const count = openCount(trial.slots, playback.whole, trial.together);
  count.read(log.events);
  for (const [medium, open] of kit.open) {
    const slots = trial.slots.filter(({ media }) => media.medium === medium);
    open(slots, { playback, label, signal, hears }).forEach((track, index) => {
      const { failure } = count.seen(slots[index].id);
      const fresh = { open: null, since: 0, last: 0, rounds: 0, drawn: 0, measured: "", isCounted: false };
      const still = { isStarted: false, isLost: false, isHidden: false, wasHidden: false, isWatched: false };
      places.set(slots[index].id, { slot: slots[index], track, failure, ...fresh, ...still });
    });
  }

  /** @param {string} id @returns {Place} */
  function at(id) {
    const place = places.get(id);
    if (place === undefined) throw new Error(`no slot ${id} in this trial`);
    return place;
  }
  /** @param {"state" | "tick" | "ended" | "stopped"} what */
  function tell(what) {
    for (const listener of [...listeners]) listener(what);
  }
  /** @param {Place} place */
  const isOn = (place) => place.open !== null || place.isLost || place.isHidden;

  /** @param {Slot} slot @returns {Hears} */
  function hears({ id }) {
    return {
      paused() {
        if (isOn(at(id))) player.pause();
      },
      ended() {
        const place = at(id);
        if (!isOn(place)) return;
        const wasHidden = place.isHidden;
        close(place, "ended");
        if (place.drawn === 0 && slotIsSeen(place) && !wasHidden) fail(id, "no_frames");
        if (group.some((other) => isOn(at(other)))) return;
        unfollow();
        tell("ended");
        goOn(place);
      },
      lost(kind) {
        const place = at(id);
        if (place.open === null || !place.isStarted) return;
        place.last = Math.max(place.last, place.track.position);
        shut(place, kind, { at: place.last });
        place.isLost = true;
      },
      found() {
        const place = at(id);
        if (!place.isLost) return;
        place.isLost = false;
        if (isCovered(place)) {
          place.isHidden = true;
          return;
        }
        // It went on where it was lost, though a busy browser may tell so late. After a jump nothing is guessed.
        const { position } = place.track;
        reopen(place, Math.abs(position - place.last) < JUMP_MS ? Math.min(place.last, position) : position);
        tick(place, group.length > 0 ? starts : ++starts);
      },
      jumped() {
        const place = at(id);
        const to = place.track.position;
        if (place.open === null || Math.abs(to - place.last) < JUMP_MS) return;
        shut(place, "seek", { at: place.last, to });
        reopen(place, to);
      },
      rate(rate) {
        if (rate !== 1) player.pause();
        const place = at(id);
        const isOpen = place.open !== null;
        shut(place, "rate", { at: place.track.position, rate });
        if (isOpen) reopen(place, place.track.position); // as fast as it should be: it goes on
      },
      failed: (what) => fail(id, what),
    };
  }

  /** @param {Place} place @param {number} from @param {{ [name: string]: Json }} [more] */
  function reopen(place, from, more = {}) {
    place.open = place.last = from;
    place.since = performance.now();
    log.add("play", place.slot.id, { at: from, ...(running && { part: running.map(Math.round) }), ...more });
  }

  /** Whether it plays where nobody can see it: covered by another one. @param {Place} place */
  const isCovered = ({ slot }) => group.length > 0 && inSight !== null && !inSight.includes(slot.id);

  /** It plays on, and none of that is watched. @param {Place} place */
  function hide(place) {
    shut(place, "pause", { at: place.last });
    place.isHidden = place.wasHidden = true;
  }

  /** End a stretch. @param {Place} place @param {EventKind} kind @param {{ [name: string]: Json }} data */
  function shut(place, kind, data) {
    place.open = null;
    log.add(kind, place.slot.id, data);
  }

  /** Return how a slot stands: as its log would tell if it were paused now. @param {string} id */
  function seen(id) {
    const { since, last, track, isStarted, isCounted } = at(id);
    count.read(log.events);
    if (!isStarted) return count.seen(id);
    const drawn = track.count();
    const frames = drawn.total !== null || !isCounted ? { ...drawn } : null;
    return count.seen(id, { ms: performance.now() - since, at: last, frames });
  }

  /** Take note of what has come to count as watched; return whether anything has. */
  function notice() {
    let isNew = false;
    for (const [id, place] of places) {
      if (place.isWatched === player.isWatched(id)) continue;
      place.isWatched = isNew = !place.isWatched;
      place.track.node.toggleAttribute("data-watched", place.isWatched);
    }
    return isNew;
  }

  /** @param {Place} place */
  const slotIsSeen = ({ slot, track }) =>
    slot.media.medium === "video" && (track.count().width === 0 || track.count().total !== null);

  /** End a play: its range, and the frames that were drawn. @param {Place} place @param {"pause" | "ended"} kind */
  function close(place, kind) {
    const wasOn = isOn(place);
    const { track, slot, isHidden } = place;
    place.isLost = place.isHidden = place.isStarted = false;
    if (!wasOn) return;
    // The end of a clip is its end, also where the browser's clock is a frame off the plan's.
    const isEnd = kind === "ended" && track.duration >= playback.whole.share * slot.media.ms;
    // What has counted stays: a clock may step back by a frame when it stops.
    const end = Math.max(isEnd ? slot.media.ms : 0, place.last, track.position);
    if (!isHidden) shut(place, kind, { at: end });
    const drawn = track.count();
    place.drawn += drawn.total ?? 0;
    // Of what nobody saw, browsers leave out frames as they like.
    const dropped = place.wasHidden ? null : drawn.dropped;
    if (drawn.total !== null || !place.isCounted) log.add("frames", slot.id, { ...drawn, dropped, at: end });
    place.isCounted = true;
    track.node.dataset["state"] = kind;
    notice();
  }

  /** Begin anew where the study lets it loop. @param {Place} place */
  function goOn(place) {
    if (isOnce || playback.loop === "off" || signal.aborted || document.hidden) return;
    const ids = group.length > 0 ? group : [place.slot.id];
    if (current !== place.slot.id && group.length === 0) return; // somebody has moved on
    if (place.track.isStill || !ids.every((id) => at(id).failure === null && player.isWatched(id))) return;
    void start(ids, loopOf(place)?.[0] ?? 0, { isRound: true });
  }

  /** Return the loop in which a slot plays if it starts now. @param {Place} place @returns {Loop | null} */
  function loopOf(place) {
    if (isOnce || place.track.isStill || playback.loop === "off") return null;
    if (playback.loop === "region") return partOf(place) ?? [0, place.slot.media.ms];
    return player.isWatched(place.slot.id) ? [0, place.slot.media.ms] : null;
  }

  /** Return the part of a slot that is to loop: what has not been heard whole plays whole. @param {Place} place */
  function partOf({ slot, failure }) {
    const isHeld = playback.watch === "whole" && failure === null && !player.isWatched(slot.id);
    return isHeld || isOnce || group.length > 0 ? null : region;
  }

  /** Play on within the loop that is wanted now. @param {Place} place */
  function goTo(place) {
    const from = place.track.position;
    const [low, high] = loopOf(place) ?? [0, Infinity];
    void start([place.slot.id], from < low || from >= high ? low : from, { isRound: true });
  }

  /** @param {string} id @param {string} what */
  function fail(id, what) {
    const place = at(id);
    if (place.failure !== null) return;
    if (playback.skip === false) {
      // Nobody may leave it out: this play does not count, and can be had again.
      player.pause();
      log.add("error", id, { what, again: true });
      notice();
      return tell("stopped");
    }
    place.failure = what;
    log.add("error", id, { what });
    player.pause();
    if (current === id) current = null;
    tell("state");
  }

  /** Log how it is shown, where that is new. @param {Place} place */
  function measure(place) {
    const { width, height } = place.track.node.getBoundingClientRect();
    const found = {
      viewport: [innerWidth, innerHeight],
      screen: [screen.width, screen.height],
      dpr: devicePixelRatio,
      displayed: [Math.round(width), Math.round(height)],
      duration: Math.round(place.track.duration),
    };
    if (place.measured === JSON.stringify(found)) return;
    place.measured = JSON.stringify(found);
    log.add("measure", place.slot.id, found);
  }

  /** @param {string[]} ids what plays at once @param {number | null} at0 milliseconds; null: each from where it is
   *  @param {{ isRound?: boolean, sound?: string | null }} [how] @returns {Promise<boolean>} */
  async function start(ids, at0, { isRound = false, sound = ids[0] } = {}) {
    const started = ids.map(at);
    /** @param {Place} place */
    const fromOf = ({ track }) => at0 ?? (track.isOver ? 0 : track.position);
    if (started.some(({ failure }) => failure !== null) || document.hidden) return false;
    const kept = heard;
    player.pause();
    heard = isRound ? kept : sound;
    group = ids.length > 1 ? ids : [];
    current = ids[0];
    const mine = ++starts;
    const loop = group.length > 0 ? null : loopOf(started[0]);
    running = partOf(started[0]);
    for (const place of started) {
      place.open = place.last = fromOf(place);
      place.isStarted = place.wasHidden = false;
      place.rounds = 0;
      place.track.mute(playback.sound === "off" || (group.length > 0 && place.slot.id !== heard));
      place.track.node.dataset["state"] = "playing";
    }
    tell("state");
    try {
      await Promise.all(started.map((place) => place.track.start(place.last, loop)));
    } catch (error) {
      for (const place of started) {
        if (place.open === null) continue;
        place.track.halt();
        place.open = null;
        place.track.node.dataset["state"] = "pause";
        if (/** @type {Error} */ (error).name === "NotSupportedError") fail(place.slot.id, "decode");
      }
      tell("stopped");
      return false;
    }
    if (mine !== starts || started.some(({ open }) => open === null)) return false; // paused before it began
    for (const place of started) {
      place.isStarted = true;
      reopen(place, place.last, { ...(isRound ? { loop: true } : {}), ...(group.length > 0 ? { together: true } : {}) });
      measure(place);
      if (isCovered(place)) hide(place);
    }
    const videos = started.map(({ track }) => track.node).filter((node) => node instanceof HTMLVideoElement);
    if (videos.length > 1 && kit.follow !== null) following = kit.follow(videos);
    tick(started[0], mine);
    return true;
  }

  function unfollow() {
    const skew = following?.stop() ?? null;
    following = null;
    if (skew !== null) log.add("measure", null, { skew_ms: skew });
  }

  /** @param {Place} place @param {number} mine since which start */
  function tick(place, mine) {
    if ((place.open === null && !place.isHidden) || signal.aborted || mine !== starts) return;
    for (const id of group.length > 0 ? group : [place.slot.id]) {
      const one = at(id);
      if (one.open !== null) turn(one);
    }
    tell(notice() ? "state" : "tick");
    if (place.open !== null && running !== partOf(place)) return goTo(place); // it has been heard whole by now
    requestAnimationFrame(() => tick(place, mine));
  }

  /** Take note of time, and of a loop that has begun anew. @param {Place} place
   *  @param {{ isLast?: boolean }} [how] it stops now */
  function turn(place, { isLast = false } = {}) {
    const { track } = place;
    const loop = playback.loop === "region" && !isOnce ? (running ?? [0, place.slot.media.ms]) : loopOf(place);
    if (track.rounds > place.rounds) {
      round(place, loop ?? [0, place.slot.media.ms]);
      place.rounds = track.rounds;
    } else if (loop !== null && playback.loop === "region" && group.length === 0 && !isLast && !track.isLooping) {
      const isPast = track.position >= loop[1] && loop[1] < place.slot.media.ms;
      if (isPast) void start([place.slot.id], loop[0], { isRound: true });
    }
    place.last = Math.max(place.last, track.position);
  }

  /** @param {Place} place @param {Loop} loop */
  function round(place, [from, to]) {
    const isEnd = to >= place.slot.media.ms - 1;
    if (log.events.length < MANY || !player.isWatched(place.slot.id)) {
      shut(place, isEnd ? "ended" : "pause", { at: to });
      reopen(place, from, { loop: true });
    } else {
      place.open = place.last = from;
    }
    if (isEnd) tell("ended");
  }

  const pause = () => player.pause();
  document.addEventListener("visibilitychange", () => document.hidden && pause(), { signal });
  addEventListener("halt", pause, { signal }); // something stands before the page
  addEventListener("pagehide", pause, { signal, capture: true }); // before the log goes out
  guardMediaKeys();

  /** @type {Player & { attach(id: string, blob: Blob): Promise<string | null>, fail(id: string, what: string): void }} */
  const player = {
    get current() {
      return current;
    },
    get isPlaying() {
      return [...places.values()].some(isOn);
    },
    get region() {
      return region;
    },
    async play(id) {
      const place = at(id);
      const { track } = place;
      if (isOn(place) || !player.mayPlay(id)) return false;
      isOnce = false;
      const other = current === null || current === id || group.length > 0 ? null : at(current);
      const isKept = playback.switching === "keep" && other !== null && !track.isStill;
      if (isKept && other.open !== null && other.isStarted) turn(other, { isLast: true });
      if (isKept && other.open !== null && running === partOf(place) && track.takeOver(other.track)) {
        close(other, "pause");
        current = id;
        place.isStarted = true;
        place.rounds = track.rounds;
        reopen(place, track.position);
        track.node.dataset["state"] = "playing";
        measure(place);
        tell("state");
        tick(place, ++starts);
        return true;
      }
      let from = other === null || track.isStill ? track.position : 0;
      if (isKept && !other.track.isOver) from = other.track.position;
      if (from >= track.duration - 40 || track.isOver) from = 0;
      const loop = loopOf(place);
      if (loop !== null && (from < loop[0] || from >= loop[1] - 40)) from = loop[0];
      return start([id], from);
    },
    restart(id, options = {}) {
      isOnce = options.isOnce ?? false;
      return start([id], loopOf(at(id))?.[0] ?? 0);
    },
    together(ids, options) {
      isOnce = options.isOnce ?? false;
      return start(ids, options.from === undefined ? 0 : options.from, { sound: options.sound });
    },
    sight(ids) {
      inSight = ids;
      for (const place of places.values()) {
        if (place.open !== null && place.isStarted && isCovered(place)) {
          turn(place, { isLast: true });
          hide(place);
        } else if (place.isHidden && !isCovered(place)) {
          place.isHidden = false;
          reopen(place, place.track.position, { together: true });
        }
      }
      notice();
      tell("state");
    },
    async playFrom(ids, ms, options = {}) {
      if (!ids.every((id) => player.mayPlay(id))) return false;
      isOnce = false;
      return start(ids, ms, { sound: options.sound ?? ids[0] });
    },
    hasPlayed(id, ms) {
      return seen(id).ranges.some(([from, to]) => from <= ms && ms <= to);
    },
    pause() {
      // At once, not when the event comes: a page that goes away would lose it.
      const open = [...places.values()].filter(isOn);
      for (const place of open) {
        if (place.open !== null && place.isStarted) turn(place, { isLast: true });
        place.track.halt();
        close(place, "pause");
      }
      unfollow();
      if (open.length > 0) tell("stopped");
    },
    toggle(id) {
      const place = at(id);
      if (!isOn(place)) void player.play(id);
      else if (!place.track.isStill) player.pause();
    },
    watched(id) {
      return share(seen(id));
    },
    isWatched: (id) => isWatched(seen(id), playback),
    wholePlays: (id) => wholePlays(seen(id), playback),
    mayPlay(id) {
      const { failure, track } = at(id);
      const { plays } = seen(id);
      const limit = playback.max_plays ?? null;
      if (failure !== null) return false;
      // Who has not seen it whole may see it again: a limit must not lock anybody in.
      return limit === null || plays < limit || !player.isWatched(id) || (track.position > 0 && !track.isOver);
    },
    failure: (id) => at(id).failure,
    position: () => (current === null ? 0 : at(current).track.position),
    setRegion(wanted) {
      const place = current === null ? null : at(current);
      const isOpen = place !== null && place.open !== null && group.length === 0;
      if (isOpen && place.isStarted) turn(place, { isLast: true }); // rounds of the loop that was
      region = wanted;
      if (isOpen && running !== partOf(place)) goTo(place);
      else tell("state");
    },
    sound: (id) => at(id).track.sound ?? null,
    node: (id) => at(id).track.node,
    listen(listener) {
      listeners.add(listener);
    },
    attach: (id, blob) => at(id).track.attach(blob),
    fail,
  };
  notice();
  return player;
}

/** Keys of the keyboard and of headphones must not play or seek behind the log's back. */
function guardMediaKeys() {
  for (const action of /** @type {MediaSessionAction[]} */ ([
    "play",
    "pause",
    "stop",
    "seekbackward",
    "seekforward",
    "seekto",
    "previoustrack",
    "nexttrack",
  ])) {
    try {
      navigator.mediaSession?.setActionHandler(action, () => {});
    } catch {
      // not known to this browser, so it cannot happen
    }
  }
}
