// The waveform on the line of time: the lowest and the highest value at each moment, of the reference or, where a page
// shows none, of all sounds together. The second is the same in every order, so that it tells nobody which one is which.

import { element } from "../element.js";

const BINS = 4096; // as many as a line may have pixels
const SLICE_MS = 6; // so long at a time, as a page has to answer while a long sound is read
const QUIET = 0.01; // what is softer is drawn as soft as it is
const LOOKS = ["(prefers-color-scheme: dark)", "(prefers-contrast: more)", "(forced-colors: active)"];

/** The lowest and the highest value of each bin. @typedef {{ low: Float32Array, high: Float32Array }} Outline */

/** Return the drawing of the first milliseconds of sounds. It fills in when they have been read.
 *  @param {{ sounds: AudioBuffer[], ms: number, label: string, signal: AbortSignal }} parts */
export function waveform({ sounds, ms, label, signal }) {
  const canvas = element("canvas", { class: "timeline-wave", role: "img", "aria-label": label });
  /** @type {Outline | null} */
  let outline = null;
  let size = [0, 0];

  function draw() {
    const [width, height] = size;
    const pen = canvas.getContext("2d");
    if (outline === null || pen === null || width === 0) return;
    Object.assign(canvas, { width, height });
    pen.fillStyle = getComputedStyle(canvas).color;
    for (const [place, [low, high]] of columns(outline, width).entries()) {
      const [top, bottom] = [(1 - high) * (height / 2), (1 - low) * (height / 2)];
      pen.fillRect(place, Math.floor(top), 1, Math.max(1, Math.ceil(bottom) - Math.floor(top)));
    }
  }

  const watcher = new ResizeObserver(([entry]) => {
    const [exact] = entry.devicePixelContentBoxSize ?? []; // not in every browser
    const { width, height } = entry.contentRect;
    size = exact
      ? [exact.inlineSize, exact.blockSize]
      : [Math.round(width * devicePixelRatio), Math.round(height * devicePixelRatio)];
    draw();
  });
  watcher.observe(canvas);
  signal.addEventListener("abort", () => watcher.disconnect());
  for (const look of LOOKS) matchMedia(look).addEventListener("change", draw, { signal });
  void read(sounds, ms, signal).then((found) => {
    outline = found;
    canvas.dataset["state"] = "drawn";
    draw();
  });
  return canvas;
}

/** Return the outline of sounds that are laid over each other, or null where nobody wants it any more.
 *  @param {AudioBuffer[]} sounds @param {number} ms @param {AbortSignal} signal @returns {Promise<Outline | null>} */
async function read(sounds, ms, signal) {
  const outline = { low: new Float32Array(BINS), high: new Float32Array(BINS) };
  const voices = sounds.flatMap((sound) =>
    Array.from({ length: sound.numberOfChannels }, (_, channel) => ({
      samples: sound.getChannelData(channel),
      width: ((ms / 1000) * sound.sampleRate) / BINS,
    })),
  );
  let begun = performance.now();
  for (let bin = 0; bin < BINS; bin += 1) {
    if (performance.now() - begun > SLICE_MS) {
      await new Promise((resolve) => setTimeout(resolve));
      begun = performance.now();
      if (signal.aborted) return null;
    }
    let [low, high] = [0, 0];
    for (const { samples, width } of voices) {
      const end = Math.min(samples.length, Math.max(Math.floor((bin + 1) * width), Math.floor(bin * width) + 1));
      for (let place = Math.floor(bin * width); place < end; place += 1) {
        const value = samples[place];
        if (value < low) low = value;
        else if (value > high) high = value;
      }
    }
    outline.low[bin] = low;
    outline.high[bin] = high;
  }
  return outline;
}

/** Return the lowest and the highest value under each pixel, as shares of the loudest.
 *  @param {Outline} outline @param {number} width @returns {[low: number, high: number][]} */
function columns({ low, high }, width) {
  const most = Math.max(QUIET, high.reduce((a, b) => Math.max(a, b)), -low.reduce((a, b) => Math.min(a, b)));
  return Array.from({ length: width }, (_, place) => {
    const from = Math.floor((place * BINS) / width);
    const to = Math.max(from + 1, Math.floor(((place + 1) * BINS) / width));
    let [least, largest] = [0, 0];
    for (let bin = from; bin < to; bin += 1) {
      least = Math.min(least, low[bin]);
      largest = Math.max(largest, high[bin]);
    }
    return [least / most, largest / most];
  });
}
