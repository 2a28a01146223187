// Sound: decoded whole and played by Web Audio. All slots of a trial run on one clock, so that a change of slot keeps
// the sample: the one fades out while the other fades in.

import { element } from "../../element.js";
import { icon } from "../../icons.js";

/** @import { Loop, OpenTracks, Track } from "./track" */
/** @import { Slot } from "../../types" */

/** One slot's sound while it runs. `others`: what has to stop with it.
 *  @typedef {{ source: AudioBufferSourceNode, gain: GainNode, others: AudioBufferSourceNode[] }} Voice */

const FADE_S = 0.005;
const AHEAD_S = 0.02; // so that all voices start on one sample
const MARGIN_S = 0.005; // what the browser may mix in one go
const RATE = 48000;
const RATES = [8000, 96000];
const RISE = Float32Array.from({ length: 65 }, (_, place) => (1 - Math.cos((Math.PI * place) / 64)) / 2);
const FALL = RISE.slice().reverse();

/** @type {OpenTracks} */
export function openTracks(slots, { hears, playback, label, signal }) {
  /** @type {AudioContext | null} */
  let context = null;
  let rate = 0;
  /** @type {Map<string, AudioBuffer>} */
  const buffers = new Map();
  /** What runs now: since when on the context's clock, from where, in which loop, and who is heard.
   *  @type {{ at: number, from: number, loop: Loop | null, voices: Map<string, Voice>, heard: string, free: number } | null} */
  let run = null;
  const isLocked = playback.switching === "keep";
  let asked = 0; // a pause may come while the context wakes up

  /** A context is made by a gesture, at the rate of the files, so that they are not changed before they are mixed. */
  async function wake() {
    if (context === null) {
      context = new AudioContext({ sampleRate: rate, latencyHint: "interactive" });
      const own = context;
      own.addEventListener("statechange", () => {
        if (run !== null && own.state !== "running") interrupt();
      });
    }
    if (context.state !== "running") {
      const woken = await Promise.race([
        context.resume().then(() => true),
        new Promise((resolve) => setTimeout(() => resolve(false), 1500)),
      ]);
      if (!woken || /** @type {string} */ (context.state) !== "running")
        throw new DOMException("no gesture", "NotAllowedError");
    }
    return context;
  }
  /** A phone call, or the sound device went away. */
  function interrupt() {
    const heard = slots.findIndex(({ id }) => id === run?.heard);
    tracks[heard].halt();
    told[heard].paused();
  }
  signal.addEventListener("abort", () => {
    run = null;
    void context?.close();
    buffers.clear();
  });

  /** Milliseconds into what runs, and how often its loop has begun anew. */
  function clock() {
    if (run === null || context === null) return { position: 0, rounds: 0 };
    const passed = run.from + Math.max(0, context.currentTime - run.at) * 1000;
    if (run.loop === null || passed < run.loop[1]) return { position: passed, rounds: 0 };
    const [from, to] = run.loop;
    return { position: from + ((passed - to) % (to - from)), rounds: 1 + Math.floor((passed - to) / (to - from)) };
  }

  function stopAll() {
    if (run === null || context === null) return;
    const now = Math.max(context.currentTime, run.free);
    for (const [id, { source, gain, others }] of run.voices) {
      if (id === run.heard) gain.gain.setValueCurveAtTime(FALL, now, FADE_S);
      source.onended = null;
      for (const one of [source, ...others]) one.stop(now + FADE_S);
    }
    run = null;
  }

  /** All of one length, so that loops stay on one clock. */
  function level() {
    const longest = Math.max(...[...buffers.values()].map(({ length }) => length));
    for (const [id, buffer] of buffers) {
      if (buffer.length === longest) continue;
      const padded = new AudioBuffer({ length: longest, numberOfChannels: buffer.numberOfChannels, sampleRate: rate });
      for (let channel = 0; channel < buffer.numberOfChannels; channel += 1)
        padded.copyToChannel(buffer.getChannelData(channel), channel);
      buffers.set(id, padded);
    }
  }

  /** Return a loop at whole samples, so that the clock of the page and that of the sound never part.
   *  @param {Loop} loop @returns {Loop} */
  function onSamples(loop) {
    const [from, to] = loop.map((ms) => (Math.round((ms / 1000) * rate) / rate) * 1000);
    return [from, to];
  }

  /** Return the gain of a part that loops: it fades where it begins and where it ends, or the seam would click.
   *  @param {Loop} loop */
  function envelope([from, to]) {
    const length = Math.round(((to - from) / 1000) * rate);
    const buffer = new AudioBuffer({ length, numberOfChannels: 1, sampleRate: rate });
    const gains = buffer.getChannelData(0).fill(1);
    const fade = Math.min(Math.round(FADE_S * rate), Math.floor(length / 2));
    for (let place = 0; place < fade; place += 1)
      gains[place] = gains[length - 1 - place] = (1 - Math.cos((Math.PI * (place + 0.5)) / fade)) / 2;
    return buffer;
  }

  /** Start a slot, and with it those that it may change to. @param {AudioContext} awake @param {string} id
   *  @param {number} from @param {Loop | null} loop @param {number} volume */
  function begin(awake, id, from, loop, volume) {
    const whole = slots.find((slot) => slot.id === id)?.media.ms ?? 0;
    // What plays whole is not touched.
    const gains = loop !== null && (loop[0] > 0 || loop[1] < whole - 1) ? envelope(loop) : null;
    for (let lead = AHEAD_S; ; lead *= 2) {
      const at = awake.currentTime + lead;
      /** @type {Map<string, Voice>} */
      const voices = new Map();
      for (const [other, buffer] of buffers) {
        if (other !== id && !isLocked) continue;
        const source = new AudioBufferSourceNode(awake, {
          buffer,
          loop: loop !== null,
          loopStart: (loop?.[0] ?? 0) / 1000,
          loopEnd: Math.min((loop?.[1] ?? 0) / 1000, buffer.duration),
        });
        const gain = new GainNode(awake, { gain: other === id && from === 0 ? volume : 0 });
        if (other === id && from > 0 && volume > 0) gain.gain.setValueCurveAtTime(RISE, at, FADE_S);
        source.connect(gain);
        source.start(at, from / 1000);
        const others = [];
        if (gains !== null && loop !== null) {
          const seam = new GainNode(awake, { gain: 0 });
          const fades = new AudioBufferSourceNode(awake, { buffer: gains, loop: true });
          fades.connect(seam.gain);
          fades.start(at, Math.max(0, from - loop[0]) / 1000);
          others.push(fades);
          gain.connect(seam).connect(awake.destination);
        } else {
          gain.connect(awake.destination);
        }
        voices.set(other, { source, gain, others });
      }
      if ((voices.size === 1 && gains === null) || awake.currentTime + MARGIN_S < at) return { at, voices };
      // A busy machine was late: a voice that is told after its time starts behind the others.
      for (const { source, gain, others } of voices.values()) {
        for (const one of [source, ...others]) one.stop();
        gain.disconnect();
      }
    }
  }

  const told = slots.map((slot) => hears(slot));
  /** Where each one stands while it is not heard; past its end: Infinity. @type {Map<string, number>} */
  const places = new Map();
  const tracks = slots.map((slot) => openTrack(slot));
  return tracks;

  /** @param {Slot} slot @returns {Track} */
  function openTrack(slot) {
    const { id, media } = slot;
    const node = element(
      "div",
      { class: "clip clip-sound", "data-slot": id },
      icon("sound"),
      element("span", { class: "letter" }, label(slot)),
    );
    let volume = 1;
    const isHeard = () => run?.heard === id;

    return {
      node,
      isStill: false,
      isLooping: true,
      get position() {
        return Math.round(Math.min(isHeard() ? clock().position : (places.get(id) ?? 0), media.ms));
      },
      get duration() {
        return (buffers.get(id)?.duration ?? NaN) * 1000;
      },
      get isOver() {
        return !isHeard() && places.get(id) === Infinity;
      },
      get rounds() {
        return isHeard() ? clock().rounds : 0;
      },
      async attach(blob) {
        const bytes = await blob.arrayBuffer();
        rate ||= rateOf(bytes);
        try {
          buffers.set(id, await new OfflineAudioContext(1, 1, rate).decodeAudioData(bytes));
        } catch {
          return "decode";
        }
        return this.duration < playback.whole.share * media.ms ? "duration" : null; // short: cut on the way
      },
      get sound() {
        return buffers.get(id) ?? null;
      },
      async start(from, wanted) {
        const mine = ++asked;
        const awake = await wake();
        if (mine !== asked) throw new DOMException("paused before it began", "AbortError");
        if (isLocked) level();
        stopAll();
        const loop = wanted === null ? null : onSamples(wanted);
        const { at, voices } = begin(awake, id, from, loop, volume);
        const begun = { at, from, loop, voices, heard: id, free: at + FADE_S };
        run = begun;
        /** @type {Voice} */ (voices.get(id)).source.onended = () => {
          if (run !== begun) return;
          run = null;
          places.set(begun.heard, Infinity);
          told[slots.findIndex((one) => one.id === begun.heard)].ended();
        };
      },
      halt() {
        asked += 1;
        if (!isHeard()) return;
        places.set(id, clock().position);
        stopAll();
      },
      takeOver(other) {
        if (run === null || context === null || tracks.indexOf(other) < 0 || isHeard()) return false;
        const [before, next] = [run.voices.get(run.heard), run.voices.get(id)];
        if (before === undefined || next === undefined || volume === 0) return false;
        places.set(run.heard, clock().position);
        const now = Math.max(context.currentTime, run.free);
        before.gain.gain.setValueCurveAtTime(FALL, now, FADE_S);
        next.gain.gain.setValueCurveAtTime(RISE, now, FADE_S);
        run.free = now + FADE_S;
        run.heard = id;
        return true;
      },
      mute(isMuted) {
        volume = isMuted ? 0 : 1;
      },
      count: () => ({ total: null, dropped: 0, width: 0, height: 0 }),
    };
  }
}

/** Return the sample rate that a WAV file tells; the usual one where it tells none that browsers have to know.
 *  @param {ArrayBuffer} bytes */
function rateOf(bytes) {
  const view = new DataView(bytes);
  for (let at = 12; at + 16 <= view.byteLength; at += 8 + view.getUint32(at + 4, true)) {
    if (view.getUint32(at) !== 0x666d7420) continue; // "fmt "
    const rate = view.getUint32(at + 12, true);
    return rate >= RATES[0] && rate <= RATES[1] ? rate : RATE;
  }
  return RATE;
}
