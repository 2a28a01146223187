// One video element per slot, decoded and ready; exactly one plays. Watching is proved by frames, not by `ended`.

import { element } from "./element.js";
import { isWhole, replay, share } from "./watched.js";

/** @import { Log } from "./log.js" */
/** @import { Player, Slot, Trial } from "./types" */
/** @import { Range } from "./watched.js" */

/** @typedef {{ slot: Slot, video: HTMLVideoElement, ranges: Range[], plays: number,
 *              failure: string | null, open: number | null, last: number, base: { total: number, dropped: number, presented: number }, presented: number, drawn: number,
 *              isAttaching: boolean, isStarted: boolean, isStalled: boolean }} Track */

const DECODE_MS = 8000;
const canCount =
  "getVideoPlaybackQuality" in HTMLVideoElement.prototype || "requestVideoFrameCallback" in HTMLVideoElement.prototype;

/** Return the player of a trial, knowing what was watched before a reload.
 *  @param {{ trial: Trial, log: Log, signal: AbortSignal }} parts */
export function openPlayer({ trial, log, signal }) {
  /** @type {Map<string, Track>} */
  const tracks = new Map();
  /** @type {Set<(what: "state" | "tick" | "ended" | "stopped") => void>} */
  const listeners = new Set();
  /** @type {string | null} */
  let current = null;
  const earlier = replay(log.events);

  for (const slot of trial.slots) {
    const video = element("video", {
      class: "clip",
      "data-slot": slot.id,
      preload: "auto",
      playsinline: true,
      disableremoteplayback: true,
      disablepictureinpicture: true,
      controlslist: "nodownload noremoteplayback noplaybackrate",
      tabindex: "-1",
    });
    const before = earlier.get(slot.id);
    /** @type {Track} */
    const track = {
      slot,
      video,
      ranges: before?.ranges ?? [],
      plays: before?.plays ?? 0,
      failure: before?.failure ?? null,
      open: null,
      last: 0,
      base: { total: 0, dropped: 0, presented: 0 },
      presented: 0,
      drawn: 0,
      isAttaching: false,
      isStarted: false,
      isStalled: false,
    };
    tracks.set(slot.id, track);
    listen(track);
  }

  /** @param {string} id @returns {Track} */
  function at(id) {
    const track = tracks.get(id);
    if (track === undefined) throw new Error(`no slot ${id} in this trial`);
    return track;
  }
  /** @param {"state" | "tick" | "ended" | "stopped"} what */
  function tell(what) {
    for (const listener of [...listeners]) listener(what);
  }

  /** @param {Track} track */
  function listen(track) {
    const { video, slot } = track;
    const { id } = slot;
    /** @param {string} name @param {(event: globalThis.Event) => void} run */
    const on = (name, run) => video.addEventListener(name, run, { signal });
    on("contextmenu", (event) => event.preventDefault());
    on("pause", () => {
      if (!video.ended) close(track, "pause");
    });
    on("ended", () => {
      close(track, "ended");
      if (video.videoWidth === 0 || (canCount && track.drawn === 0)) fail(id, "no_frames");
      tell("ended");
    });
    on("waiting", () => {
      if (track.open === null || !track.isStarted || video.ended) return;
      log.add("stall", id, { at: now(track) });
      keepRange(track, now(track));
      track.isStalled = true;
    });
    on("playing", () => {
      if (!track.isStalled) return;
      track.isStalled = false;
      track.open = track.last = now(track);
      log.add("play", id, { at: track.open }); // a stall ends a stretch, so that what was watched is never guessed
      tick(track);
    });
    on("play", () => {
      if (track.open === null && !track.isStalled) video.pause();
    }); // a media key, not our page
    on("ratechange", () => {
      log.add("rate", id, { at: now(track), rate: video.playbackRate });
      if (video.playbackRate === 1) return;
      player.pause();
      video.playbackRate = 1;
    });
    on("seeking", () => {
      if (track.open === null || Math.abs(now(track) - track.last) < 250) return;
      const to = now(track);
      log.add("seek", id, { at: track.last, to });
      keepRange(track, track.last);
      track.open = to;
      track.last = to;
      log.add("play", id, { at: to });
    });
    on("error", () => {
      if (video.currentSrc !== "" && !track.isAttaching) fail(id, "decode");
    });
  }

  /** @param {Track} track */
  const now = (track) => Math.round(track.video.currentTime * 1000);

  /** @param {Track} track @param {number} to */
  function keepRange(track, to) {
    if (track.open !== null && to > track.open) track.ranges.push([track.open, to]);
    track.open = null;
  }

  /** End a play: its range, and the frames that were drawn. @param {Track} track @param {"pause" | "ended"} kind */
  function close(track, kind) {
    const isOpen = track.open !== null || track.isStalled;
    track.isStalled = track.isStarted = false;
    if (!isOpen) return;
    const { video, slot } = track;
    // The end of a clip is its end, also where the browser's clock is a frame off the plan's.
    const end =
      kind === "ended" && video.duration * 1000 >= 0.97 * slot.media.ms
        ? Math.max(slot.media.ms, now(track))
        : now(track);
    log.add(kind, slot.id, { at: end });
    keepRange(track, end);
    const quality = frames(video);
    const seen = track.presented - track.base.presented;
    const total = seen > 0 ? seen : quality.total - track.base.total; // the latter counts decoded ones, also after a jump
    track.drawn += total;
    log.add("frames", slot.id, {
      total: canCount ? total : null,
      dropped: Math.max(0, quality.dropped - track.base.dropped),
      width: video.videoWidth,
      height: video.videoHeight,
      at: end,
    });
    tell(kind === "pause" ? "stopped" : "state");
  }

  /** @param {string} id @param {string} what */
  function fail(id, what) {
    const track = at(id);
    if (track.failure !== null) return;
    track.failure = what;
    log.add("error", id, { what });
    if (current === id) current = null;
    tell("state");
  }

  /** @param {Track} track */
  function measure(track) {
    const { width, height } = track.video.getBoundingClientRect();
    log.add("measure", track.slot.id, {
      viewport: [innerWidth, innerHeight],
      dpr: devicePixelRatio,
      displayed: [Math.round(width), Math.round(height)],
      duration: Math.round(track.video.duration * 1000),
    });
  }

  /** @param {string} id @param {number} from milliseconds @returns {Promise<boolean>} */
  async function start(id, from) {
    const track = at(id);
    const { video } = track;
    if (track.failure !== null || document.hidden) return false;
    player.pause();
    if (Math.abs(now(track) - from) > 1) video.currentTime = from / 1000;
    current = id;
    track.open = from;
    track.last = from;
    track.isStarted = false;
    track.base = { ...frames(video), presented: track.presented };
    tell("state");
    try {
      await video.play();
    } catch (error) {
      if (track.open !== null && video.paused) {
        track.open = null;
        if (/** @type {Error} */ (error).name === "NotSupportedError") fail(id, "decode");
        tell("stopped");
      }
      return false;
    }
    if (track.open === null) return false; // paused before it began
    track.isStarted = true;
    if (from === 0 || track.plays === 0) track.plays += 1;
    log.add("play", id, { at: from });
    measure(track);
    count(track);
    tick(track);
    return true;
  }

  /** Count frames as they are drawn, where the browser tells. @param {Track} track */
  function count(track) {
    if (!("requestVideoFrameCallback" in HTMLVideoElement.prototype)) return;
    const video = track.video;
    video.requestVideoFrameCallback(function drawn(_, { presentedFrames }) {
      track.presented = presentedFrames;
      if (!video.paused) video.requestVideoFrameCallback(drawn);
    });
  }

  /** @param {Track} track */
  function tick(track) {
    if (track.open === null || signal.aborted) return;
    track.last = Math.max(track.last, now(track));
    tell("tick");
    requestAnimationFrame(() => tick(track));
  }

  document.addEventListener(
    "visibilitychange",
    () => {
      if (document.hidden) player.pause();
    },
    { signal },
  );
  addEventListener("pagehide", () => player.pause(), { signal, capture: true }); // before the log goes out
  signal.addEventListener("abort", () => {
    for (const { video } of tracks.values()) {
      video.pause();
      video.removeAttribute("src");
      video.load();
    }
  });
  guardMediaKeys();

  /** @type {Player & { attach(id: string, url: string): Promise<string | null>, fail(id: string, what: string): void }} */
  const player = {
    get current() {
      return current;
    },
    get isPlaying() {
      return current !== null && (at(current).open !== null || at(current).isStalled);
    },
    async play(id) {
      const track = at(id);
      if (track.open !== null || !player.mayPlay(id)) return false;
      const other = current === null || current === id ? null : at(current);
      let from = other === null ? now(track) : 0;
      if (other !== null && trial.playback.switching === "keep" && !other.video.ended) from = now(other);
      if (from >= track.video.duration * 1000 - 40 || track.video.ended) from = 0;
      return start(id, from);
    },
    restart: (id) => start(id, 0),
    pause() {
      // At once, not when the event comes: a page that goes away would lose it.
      for (const track of tracks.values()) {
        if (track.open === null && !track.isStalled) continue;
        track.video.pause();
        close(track, "pause");
      }
    },
    toggle(id) {
      if (at(id).open !== null || at(id).isStalled) player.pause();
      else void player.play(id);
    },
    watched(id) {
      const { ranges, open, slot, last } = at(id);
      return share(open === null ? ranges : [...ranges, [open, last]], slot.media.ms);
    },
    isWatched(id) {
      const { ranges, plays, slot } = at(id);
      if (trial.playback.watch === "none") return true;
      return trial.playback.watch === "start" ? plays > 0 : isWhole(ranges, slot.media.ms);
    },
    mayPlay(id) {
      const { plays, failure, video } = at(id);
      const limit = trial.playback.max_plays;
      if (failure !== null) return false;
      // Who has not seen it whole may see it again: a limit must not lock anybody in.
      return (
        limit === null ||
        limit === undefined ||
        plays < limit ||
        !player.isWatched(id) ||
        (video.currentTime > 0 && !video.ended)
      );
    },
    failure: (id) => at(id).failure,
    position: () => (current === null ? 0 : now(at(current))),
    video: (id) => at(id).video,
    listen(listener) {
      listeners.add(listener);
    },
    /** Resolve to why the clip at an address is of no use, or null. */
    attach(id, url) {
      const track = at(id);
      const { video, slot } = track;
      track.isAttaching = true;
      return new Promise((resolve) => {
        const over = new AbortController();
        const done = () => {
          over.abort();
          clearTimeout(timer);
          track.isAttaching = false;
          const isShort = Number.isFinite(video.duration) && video.duration * 1000 < 0.97 * slot.media.ms;
          resolve(video.error !== null ? "decode" : isShort ? "duration" : null); // short: cut on the way
        };
        const timer = setTimeout(done, DECODE_MS); // phones decode only after a gesture
        video.addEventListener("loadeddata", done, { signal: over.signal });
        video.addEventListener("error", done, { signal: over.signal });
        video.src = url;
        video.load();
      });
    },
    fail,
  };
  return player;
}

/** @param {HTMLVideoElement} video */
function frames(video) {
  const quality = video.getVideoPlaybackQuality?.();
  return { total: quality?.totalVideoFrames ?? 0, dropped: quality?.droppedVideoFrames ?? 0 };
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
