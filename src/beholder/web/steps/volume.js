// The volume, set once with a soft phrase of tones, then left alone.

import { element, fill } from "../element.js";
import { icon } from "../icons.js";
import { wake } from "../check_kit/sound.js";
import { actions, pressed } from "../frame/sheet.js";

/** @import { Page } from "../run.js" */
/** @import { Json, VolumeStep } from "../types" */

const NOTES = [392, 493.88, 587.33, 783.99, 587.33, 659.26, 493.88, 440]; // in hertz
const NOTE_S = 0.45;
const LOUDNESS = -23; // LUFS, as programmes are broadcast (EBU R 128)

/** @param {VolumeStep} step @param {Page} page @returns {Promise<Json>} */
export async function volume(step, { main, say, status, log, shelf, signal }) {
  void shelf.prefetch(step.prefetch);
  /** @type {AudioContext | null} */
  let context = null;
  /** @type {AudioBufferSourceNode | null} */
  let source = null;
  let isSilent = false;
  let isHeard = log.events.some(([, kind, , data]) => kind === "click" && isPlay(data));

  const word = element("span");
  const play = element("button", { class: "button", id: "play-sound", type: "button" });
  const on = element(
    "button",
    { class: "button button-primary", id: "next", type: "button", "aria-describedby": "reason" },
    say("next"),
  );
  const reason = element("p", { class: "reason", id: "reason" });
  function draw() {
    fill(play, icon(source === null ? "play" : "pause"), word);
    fill(word, say(source === null ? "volume.play" : "volume.stop"));
    play.classList.toggle("button-primary", !isHeard);
    on.setAttribute("aria-disabled", String(!isHeard));
    fill(reason, isSilent ? say("volume.blocked") : isHeard ? "" : say("volume.first"));
  }
  function stop() {
    source?.stop();
    source = null;
    draw();
  }
  play.addEventListener("click", async () => {
    log.add("click", null, { what: source === null ? "play" : "stop" });
    if (source !== null) return stop();
    try {
      context ??= new AudioContext();
      await wake(context);
    } catch {
      isHeard = isSilent = true; // whoever has no sound here still gets to the steps that say so
      log.add("error", null, { what: "sound" });
      draw();
      return status(say("volume.blocked"));
    }
    if (source !== null || signal.aborted) return; // pressed twice while it woke up
    isSilent = false;
    source = new AudioBufferSourceNode(context, { buffer: phrase(context.sampleRate), loop: true });
    source.connect(context.destination);
    source.start();
    isHeard = true;
    draw();
    status(say("volume.plays"));
  });
  document.addEventListener("visibilitychange", () => document.hidden && stop(), { signal });
  addEventListener("halt", stop, { signal });
  signal.addEventListener("abort", () => void context?.close());

  fill(
    main,
    element(
      "div",
      { class: "sheet" },
      element("div", { class: "lead" }, element("h1", { tabindex: "-1" }, say("volume.title"))),
      element("section", { class: "panel prose" }, element("p", {}, say("volume.text")), element("p", {}, play)),
      actions(on, reason),
    ),
  );
  draw();
  for (;;) {
    await pressed(on);
    if (isHeard) break;
    reason.classList.add("is-asked");
    status(reason.textContent ?? "");
    play.focus();
  }
  stop();
  return {};
}

/** @param {Json} data */
function isPlay(data) {
  return typeof data === "object" && data !== null && !Array.isArray(data) && data["what"] === "play";
}

/** Return some bars of tones, each rising and fading softly, at the loudness that stimuli commonly have.
 *  @param {number} rate samples a second */
function phrase(rate) {
  const length = Math.round(NOTES.length * NOTE_S * rate);
  const samples = new Float32Array(length);
  NOTES.forEach((pitch, place) => {
    const from = Math.round(place * NOTE_S * rate);
    const ring = Math.round(2 * NOTE_S * rate); // each rings on into the next
    for (let at = 0; at < ring; at += 1) {
      const time = at / rate;
      const swell = Math.sin(Math.min(1, time / 0.04) * (Math.PI / 2)) ** 2 * Math.cos(((at / ring) * Math.PI) / 2) ** 2;
      const turn = 2 * Math.PI * pitch * time;
      samples[(from + at) % length] += swell * (Math.sin(turn) + 0.3 * Math.sin(2 * turn) + 0.1 * Math.sin(3 * turn));
    }
  });
  // At these pitches the loudness of the same signal in both ears is nearly the level of its power.
  const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / length;
  const gain = Math.sqrt(10 ** (LOUDNESS / 10) / (2 * power));
  const buffer = new AudioBuffer({ length, numberOfChannels: 1, sampleRate: rate });
  buffer.copyToChannel(
    samples.map((sample) => sample * gain),
    0,
  );
  return buffer;
}
