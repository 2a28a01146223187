// Sounds of a check: fetched and decoded ahead, started by a press, and followed on the clock of what is heard.

import { Unreachable } from "../client.js";

/** @import { Page } from "../run.js" */
/** @import { CheckStep, Json } from "../types" */

/** @typedef {ReturnType<typeof openSounds>} Sounds */

const WAKE_MS = 2000;
const AHEAD_S = 0.05;
const FADE_S = 0.02;
const RATE = 48000;

/** No sound can be played here: the answer says so, and it costs nobody anything. */
export class Blocked extends Error {
  /** @param {"start" | "decode" | "missing"} why */
  constructor(why) {
    super(why);
    this.why = why;
  }
}

/** Resolve when a context runs, which takes a gesture; reject where it does not come to that.
 *  @param {AudioContext} context @returns {Promise<void>} */
export async function wake(context) {
  const late = new Promise((resolve) => setTimeout(resolve, WAKE_MS));
  await Promise.race([context.resume().catch(() => {}), late]);
  if (context.state !== "running") throw new Blocked("start");
}

/** Return the sounds of a step. @param {CheckStep} step @param {Pick<Page, "patience" | "signal">} page */
export function openSounds(step, { patience, signal }) {
  /** @type {Map<string, Promise<AudioBuffer>>} */
  const buffers = new Map();
  /** @type {AudioContext | null} */
  let context = null;
  /** @type {(() => void) | null} */
  let halt = null;
  let asked = 0;

  /** @param {string} name @returns {Promise<AudioBuffer>} */
  function buffer(name) {
    let coming = buffers.get(name);
    if (coming === undefined) {
      coming = patience.insist(() => fetchWhole(step.media[name].url)).then(decode);
      buffers.set(name, coming);
      coming.catch(() => buffers.delete(name)); // so that the next press tries again
    }
    return coming;
  }

  function stop() {
    asked += 1;
    halt?.();
  }
  document.addEventListener("visibilitychange", () => document.hidden && stop(), { signal });
  addEventListener("halt", stop, { signal });
  signal.addEventListener("abort", () => {
    stop();
    void context?.close();
    buffers.clear();
  });

  return {
    /** Fetch sounds one after the other, quietly. @param {string[]} names */
    async prepare(names) {
      for (const name of names) {
        if (signal.aborted) return;
        await buffer(name).catch(() => {}); // its own press will say so
      }
    },
    /** Play a sound from its beginning, after a press. Resolves whether it was played to its end; rejects with Blocked.
     *  @param {string} name @param {{ onStart(): void, onTick(seconds: number): void }} hears
     *  @returns {Promise<boolean>} */
    async play(name, { onStart, onTick }) {
      stop();
      const mine = asked;
      const awake = (context ??= openContext());
      await wake(awake);
      const samples = await buffer(name);
      if (mine !== asked || signal.aborted) return false;
      const source = new AudioBufferSourceNode(awake, { buffer: samples });
      const gain = new GainNode(awake);
      source.connect(gain).connect(awake.destination);
      const at = awake.currentTime + AHEAD_S;
      source.start(at);
      onStart();
      let isOver = false;
      const tick = () => {
        if (isOver) return;
        // What is computed now is heard a little later, much later in wireless headphones.
        onTick(awake.currentTime - at - (awake.outputLatency || 0));
        requestAnimationFrame(tick);
      };
      tick();
      const interrupted = () => awake.state !== "running" && halt?.(); // a phone call, or the device went away
      awake.addEventListener("statechange", interrupted);
      const isWhole = await new Promise((resolve) => {
        source.onended = () => resolve(true);
        halt = () => {
          gain.gain.setTargetAtTime(0, awake.currentTime, FADE_S / 3);
          source.stop(awake.currentTime + FADE_S);
          resolve(false);
        };
      });
      isOver = true;
      halt = null;
      awake.removeEventListener("statechange", interrupted);
      return isWhole && !signal.aborted;
    },
    stop,
    /** What the sound goes out through: a device of one channel is no pair of headphones. @returns {Json} */
    get output() {
      return context && { channels: context.destination.maxChannelCount, rate: Math.round(context.sampleRate) };
    },
  };
}

function openContext() {
  try {
    return new AudioContext({ latencyHint: "interactive" });
  } catch {
    throw new Blocked("start");
  }
}

/** @param {string} url @returns {Promise<ArrayBuffer>} */
async function fetchWhole(url) {
  let answer;
  try {
    answer = await fetch(url);
    if (answer.ok) return await answer.arrayBuffer();
  } catch (error) {
    throw new Unreachable(String(error));
  }
  if (answer.status === 429 || answer.status >= 500) throw new Unreachable(`HTTP ${answer.status}`);
  throw new Blocked("missing");
}

/** @param {ArrayBuffer} bytes @returns {Promise<AudioBuffer>} */
async function decode(bytes) {
  try {
    return await new OfflineAudioContext(2, 1, RATE).decodeAudioData(bytes);
  } catch {
    throw new Blocked("decode");
  }
}
