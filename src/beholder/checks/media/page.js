// Media: whether the codecs of the study play, the screen can be filled, and a sample decodes without dropped frames.

import { element, fill } from "../../element.js";
import { list } from "../../check_kit/list.js";

/** @import { CheckPage, Json } from "../../types" */

const LONGEST_MS = 8000; // for one second of video
const FETCH_MS = 20_000; // the first to ask waits until it is made

/** @type {CheckPage} */
export default function media(step, page) {
  /** @type {{ codecs: string[], medium: string, plays: number, dropped: number }} */
  const { codecs, medium, plays, dropped } = /** @type {any} */ (step.public);
  return list(step, page, {
    measure: async (room) => {
      const file = step.media["sample"] === undefined ? null : await fetchSample(step.media["sample"].url);
      const tried = file === null ? null : await DECODE[medium]?.(file, { room, plays, dropped });
      const full = /** @type {{ webkitFullscreenEnabled?: boolean }} */ (/** @type {unknown} */ (document));
      return {
        playable: Object.fromEntries(codecs.map((type) => [type, canPlay(type)])),
        fullscreen: document.fullscreenEnabled || full.webkitFullscreenEnabled === true,
        sound: "AudioContext" in window || "webkitAudioContext" in window,
        decoded: tried?.decoded ?? null,
        plays: tried?.plays ?? [],
      };
    },
  });
}

/** @typedef {{ room: HTMLElement, plays: number, dropped: number }} Trying */
/** @typedef {{ decoded: boolean | null, plays: Json[] }} Tried */
/** @type {Record<string, (file: Blob, trying: Trying) => Promise<Tried>>} */
const DECODE = { video: decodeVideo, audio: decodeSound, image: decodePicture };

/** @param {string} url @returns {Promise<Blob | null>} */
async function fetchSample(url) {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(FETCH_MS) });
    const file = answer.ok ? await answer.blob() : null;
    return file !== null && file.size > 0 ? file : null;
  } catch {
    return null; // too slow, or gone: the connection is not what is looked at here
  }
}

/** @param {string} type with codecs */
function canPlay(type) {
  if (type.startsWith("image/")) return true; // its sample tells
  const player = document.createElement(type.startsWith("audio/") ? "audio" : "video");
  return player.canPlayType(type) !== "" || (window.MediaSource?.isTypeSupported(type) ?? false);
}

/** @param {Blob} file @param {Trying} trying @returns {Promise<Tried>} */
async function decodeVideo(file, { room, plays, dropped }) {
  const video = element("video", { class: "look-sample", playsinline: true, "aria-hidden": "true", tabindex: "-1" });
  video.muted = true;
  const url = URL.createObjectURL(file);
  video.src = url;
  fill(room, video);
  /** @type {[number, number][]} */
  const counted = [];
  let decoded = null;
  for (let time = 0; time < plays; time += 1) {
    const before = count(video);
    const how = await played(video);
    if (how === "broken") decoded = false;
    if (how !== "ended") break;
    decoded = true;
    const after = count(video);
    if (before === null || after === null || after.frames <= before.frames) break;
    const [frames, lost] = [after.frames - before.frames, after.dropped - before.dropped];
    counted.push([frames, Math.min(frames, Math.max(0, lost))]);
    if (lost <= dropped * frames) break;
  }
  fill(room);
  video.removeAttribute("src");
  URL.revokeObjectURL(url);
  return { decoded, plays: counted };
}

/** @param {HTMLVideoElement} video @returns {Promise<"ended" | "broken" | "stuck">} */
function played(video) {
  const over = new AbortController();
  const { signal } = over;
  /** @type {Promise<"ended" | "broken" | "stuck">} */
  const done = new Promise((resolve) => {
    video.addEventListener("ended", () => resolve("ended"), { signal });
    video.addEventListener("error", () => resolve("broken"), { signal });
    const timer = setTimeout(() => resolve("stuck"), LONGEST_MS);
    signal.addEventListener("abort", () => clearTimeout(timer));
    video.play().catch(() => resolve(video.error === null ? "stuck" : "broken")); // a browser may want a press first
  });
  return done.finally(() => over.abort());
}

/** @param {HTMLVideoElement} video */
function count(video) {
  const told = video.getVideoPlaybackQuality?.();
  return told === undefined ? null : { frames: told.totalVideoFrames, dropped: told.droppedVideoFrames };
}

/** @param {Blob} file @returns {Promise<Tried>} */
async function decodeSound(file) {
  if (!("OfflineAudioContext" in window)) return { decoded: null, plays: [] };
  const context = new OfflineAudioContext(1, 1, 48_000);
  const decoded = await context.decodeAudioData(await file.arrayBuffer()).then(
    () => true,
    () => false,
  );
  return { decoded, plays: [] };
}

/** @param {Blob} file @returns {Promise<Tried>} */
async function decodePicture(file) {
  const url = URL.createObjectURL(file);
  const image = element("img", { src: url, alt: "" });
  const decoded = await image.decode().then(
    () => true,
    () => false,
  );
  URL.revokeObjectURL(url);
  return { decoded, plays: [] };
}
