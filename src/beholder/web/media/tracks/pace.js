// Videos that play at once: their clocks are compared on every frame, and the one ahead waits for the other.

/** @import { Follow } from "./track" */

/** A frame: when it was due on the wall, and how far its video is ahead of that. @typedef {{ due: number, ahead: number }} Frame */

const NEAR_MS = 18; // one refresh of the screen: nothing to do
const AT_ONCE_MS = 30; // frames that are further apart on the wall say nothing about each other
const SURE = 3; // so many comparisons before one has to wait
const SETTLE_MS = 250;
const LONGEST_WAIT_MS = 400;
const canCall = "requestVideoFrameCallback" in HTMLVideoElement.prototype;

/** @type {Follow} */
export function follow(videos) {
  /** @type {(Frame | null)[]} */
  const frames = videos.map(() => null);
  let [isOn, isWaiting] = [true, false];
  let [far, ahead] = [0, -1]; // how often in a row, and who
  /** @type {number | null} */
  let largest = null;

  /** @param {number} place @param {Frame | null} frame */
  function note(place, frame) {
    frames[place] = frame;
    const known = frames.filter((one) => one !== null);
    if (known.length < videos.length) return;
    const dues = known.map(({ due }) => due);
    if (Math.max(...dues) - Math.min(...dues) > AT_ONCE_MS) return;
    const clocks = known.map((one) => one.ahead);
    const skew = Math.max(...clocks) - Math.min(...clocks);
    largest = Math.max(largest ?? 0, skew);
    const first = clocks.indexOf(Math.max(...clocks));
    far = skew > NEAR_MS && (first === ahead || far === 0) ? far + 1 : 0;
    ahead = first;
    if (far >= SURE && !isWaiting) hold(videos[first], skew);
  }

  /** Let one wait. Its speed is ours for that moment, and nothing that a person did. @param {HTMLVideoElement} video
   *  @param {number} ms */
  function hold(video, ms) {
    const wait = Math.min(ms, LONGEST_WAIT_MS);
    [isWaiting, far] = [true, 0];
    video.dataset["paced"] = "";
    video.playbackRate = 0;
    setTimeout(() => (video.playbackRate = 1), wait);
    setTimeout(() => {
      delete video.dataset["paced"];
      [isWaiting, far] = [false, 0];
    }, wait + SETTLE_MS);
  }

  videos.forEach((video, place) => {
    if (canCall) {
      video.requestVideoFrameCallback(function drawn(_, { mediaTime, expectedDisplayTime: due }) {
        if (!isOn) return;
        note(place, { due, ahead: mediaTime * 1000 - due });
        video.requestVideoFrameCallback(drawn);
      });
    } else {
      requestAnimationFrame(function look(due) {
        if (!isOn) return;
        note(place, video.ended ? null : { due, ahead: video.currentTime * 1000 - due });
        requestAnimationFrame(look);
      });
    }
  });

  return {
    stop() {
      isOn = false;
      for (const video of videos) video.playbackRate = 1;
      return largest === null ? null : Math.round(largest * 10) / 10;
    },
  };
}
