// Video: one element per slot. What is drawn is counted by frames.

import { element } from "../../element.js";

/** @import { Drawn, Hears, OpenTracks, Track } from "./track" */
/** @import { Slot } from "../../types" */

const DECODE_MS = 8000;
const canCall = "requestVideoFrameCallback" in HTMLVideoElement.prototype;
const canCount = "getVideoPlaybackQuality" in HTMLVideoElement.prototype || canCall;

/** @type {OpenTracks} */
export function openTracks(slots, { hears, playback, signal }) {
  return slots.map((slot) => openTrack(slot, hears(slot), playback.whole.share, signal));
}

/** @param {Slot} slot @param {Hears} hears @param {number} share of it that a file has at least @param {AbortSignal} signal
 *  @returns {Track} */
function openTrack(slot, hears, share, signal) {
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
  let url = "";
  let [isAttaching, isAsked] = [false, false];
  let [presented, base] = [0, { total: 0, dropped: 0, presented: 0 }];

  /** @param {string} name @param {() => void} run */
  const on = (name, run) => video.addEventListener(name, run, { signal });
  video.addEventListener("contextmenu", (event) => event.preventDefault(), { signal });
  on("pause", () => {
    if (video.paused && !video.ended) hears.paused();
  });
  on("ended", () => hears.ended());
  on("waiting", () => {
    if (!video.ended) hears.lost("stall");
  });
  on("playing", () => hears.found());
  on("play", () => {
    if (!isAsked) video.pause(); // a media key, not our page
  });
  on("ratechange", () => {
    if (video.dataset["paced"] === undefined) hears.rate(video.playbackRate); // ours, to keep two on one clock
    if (video.playbackRate !== 1 && video.dataset["paced"] === undefined) video.playbackRate = 1;
  });
  on("seeking", () => hears.jumped());
  on("error", () => {
    if (video.currentSrc !== "" && !isAttaching) hears.failed("decode");
  });
  signal.addEventListener("abort", () => {
    video.pause();
    video.removeAttribute("src");
    video.load();
    URL.revokeObjectURL(url);
  });

  /** Count frames as they are drawn, where the browser tells. */
  function follow() {
    if (!canCall) return;
    video.requestVideoFrameCallback(function drawn(_, { presentedFrames }) {
      presented = presentedFrames;
      if (!video.paused) video.requestVideoFrameCallback(drawn);
    });
  }

  return {
    node: video,
    isStill: false,
    rounds: 0,
    get position() {
      return Math.round(video.currentTime * 1000);
    },
    get duration() {
      return video.duration * 1000;
    },
    get isOver() {
      return video.ended;
    },
    attach(blob) {
      isAttaching = true;
      URL.revokeObjectURL(url);
      url = URL.createObjectURL(blob);
      return new Promise((resolve) => {
        const over = new AbortController();
        const done = () => {
          over.abort();
          clearTimeout(timer);
          isAttaching = false;
          const isShort = Number.isFinite(video.duration) && video.duration * 1000 < share * slot.media.ms;
          resolve(video.error !== null ? "decode" : isShort ? "duration" : null); // short: cut on the way
        };
        const timer = setTimeout(done, DECODE_MS); // phones decode only after a gesture
        video.addEventListener("loadeddata", done, { signal: over.signal });
        video.addEventListener("error", done, { signal: over.signal });
        video.src = url;
        video.load();
      });
    },
    async start(from) {
      isAsked = true;
      if (Math.abs(video.currentTime * 1000 - from) > 1) video.currentTime = from / 1000;
      base = { ...quality(video), presented };
      await video.play();
      follow();
    },
    halt() {
      isAsked = false;
      video.pause();
    },
    takeOver: () => false,
    mute(isMuted) {
      video.muted = isMuted;
    },
    /** @returns {Drawn} */
    count() {
      const now = quality(video);
      const seen = presented - base.presented;
      const total = seen > 0 ? seen : now.total - base.total; // the latter counts decoded ones, also after a jump
      return {
        total: canCount ? total : null,
        dropped: Math.max(0, now.dropped - base.dropped),
        width: video.videoWidth,
        height: video.videoHeight,
      };
    },
  };
}

/** @param {HTMLVideoElement} video */
function quality(video) {
  const told = video.getVideoPlaybackQuality?.();
  return { total: told?.totalVideoFrames ?? 0, dropped: told?.droppedVideoFrames ?? 0 };
}
