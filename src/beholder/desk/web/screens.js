// The stimuli of a page in a replay: each stands where it stood for the participant, and plays along.

import { element, setAttribute, write } from "../../web/element.js";
import { number, place as clockOf } from "./format.js";

/** @import { ControlPath, Desk, Play, ReplaySlot, Timeline } from "./types" */

const DRIFT_S = 0.2;
const FASTEST = 16;

/** Return the stimuli of a page. @param {Timeline} timeline @param {Desk} desk */
export function openScreens(timeline, { say }) {
  const screens = timeline.slots.map((slot) => screen(slot, timeline, say));
  const others = timeline.controls.filter(({ slot }) => !timeline.slots.some(({ id }) => id === slot));
  const values = others.map((control) => valueOf(control));
  return {
    element: element(
      "div",
      { class: `screens screens-${Math.min(4, screens.length)}` },
      screens.map(({ element }) => element),
      values.length > 0 ? element("div", { class: "screen-values" }, values.map(({ element }) => element)) : null,
    ),
    /** @param {number} ms @param {number} speed 0: stand still */
    show(ms, speed) {
      for (const one of screens) one.show(ms, speed);
      for (const one of values) one.show(ms);
    },
    /** @param {boolean} isOn */
    setSound(isOn) {
      for (const one of screens) one.setSound(isOn);
    },
    close() {
      for (const one of screens) one.close();
    },
  };
}

/** @param {ReplaySlot} slot @param {Timeline} timeline @param {import("../../web/types").Say} say */
function screen(slot, timeline, say) {
  const plays = timeline.plays.filter((one) => one.slot === slot.id);
  const stalls = timeline.stalls.filter((one) => one.slot === slot.id);
  const medium = mediumOf(slot);
  const player = medium instanceof HTMLMediaElement ? medium : null;
  const state = element("p", { class: "screen-state small", role: "presentation" });
  const values = timeline.controls.filter((one) => one.slot === slot.id).map(valueOf);
  let isSound = false;
  /** @type {() => void} */
  let again = () => {};
  // A moment may be asked for before there is anything to show.
  player?.addEventListener("loadedmetadata", () => again());

  return {
    element: element(
      "figure",
      { class: "screen", "data-slot": slot.id },
      element("figcaption", {}, element("b", { class: "screen-label" }, slot.label ?? slot.id), element("span", { class: "soft small" }, [slot.condition, slot.content].filter(Boolean).join(" · "))),
      element("div", { class: "screen-picture" }, medium),
      state,
      values.map(({ element }) => element),
    ),
    /** @param {number} ms @param {number} speed */
    show(ms, speed) {
      const play = plays.find((one) => one.from_ms <= ms && ms < one.to_ms);
      const isStalled = stalls.some((one) => one.from_ms <= ms && ms < one.to_ms);
      const position = placeIn(plays, ms);
      write(state, isStalled ? say("screen.stall", { at: clockOf(position) }) : play ? say("screen.plays", { at: clockOf(position) }) : say("screen.still", { at: clockOf(position) }));
      setAttribute(state, "data-state", isStalled ? "stall" : play ? "play" : "still");
      for (const one of values) one.show(ms);
      again = () => {
        if (player !== null) follow(player, play, position / 1000, speed);
      };
      again();
    },
    /** @param {boolean} isOn */
    setSound(isOn) {
      isSound = isOn;
      if (player !== null) player.muted = !isSound;
    },
    close() {
      player?.pause();
    },
  };
}

/** Return where in its file a slot stands at a moment, in milliseconds. @param {Play[]} plays @param {number} ms */
export function placeIn(plays, ms) {
  const begun = plays.filter((one) => one.from_ms <= ms);
  const last = begun.at(-1);
  if (last === undefined) return 0;
  if (ms >= last.to_ms) return last.to;
  const share = (ms - last.from_ms) / (last.to_ms - last.from_ms || 1);
  return last.at + share * (last.to - last.at);
}

/** Let a player be where the log says. @param {HTMLMediaElement} player @param {Play | undefined} play
 *  @param {number} seconds @param {number} speed */
function follow(player, play, seconds, speed) {
  if (player.readyState === 0) return;
  const is = speed > 0 && play !== undefined;
  const off = Math.abs(player.currentTime - seconds);
  if (is) {
    const own = (play.to - play.at) / (play.to_ms - play.from_ms || 1);
    player.playbackRate = Math.min(FASTEST, Math.max(0.1, speed * own));
    if (off > DRIFT_S * Math.max(1, speed)) player.currentTime = seconds;
    if (player.paused && !player.ended) player.play().catch(() => {});
    return;
  }
  if (!player.paused) player.pause();
  if (off > 0.04) player.currentTime = seconds;
}

/** @param {ReplaySlot} slot */
function mediumOf({ medium, media, label, id }) {
  const name = label ?? id;
  if (medium === "image") return element("img", { src: media, alt: name });
  if (medium === "text") return element("iframe", { src: media, title: name, sandbox: "" });
  const tag = medium === "audio" ? "audio" : "video";
  const player = /** @type {HTMLMediaElement} */ (element(tag, { src: media, preload: "auto", playsinline: true, "aria-label": name }));
  player.muted = true;
  return player;
}

/** Return what a control stood at, as it goes. @param {ControlPath} control */
function valueOf({ text, path, scale }) {
  const output = element("output", { class: "screen-value" });
  const bar = scale === null ? null : element("span", { class: "screen-bar", "aria-hidden": "true" }, element("i", {}));
  return {
    element: element("div", { class: "screen-control" }, element("span", { class: "small" }, text), bar, output),
    /** @param {number} ms */
    show(ms) {
      let last = null;
      for (const [at, value] of path) if (at <= ms) last = value;
      write(output, last === null ? "–" : typeof last === "number" ? number(last) : typeof last === "object" ? "…" : String(last));
      if (bar === null || scale === null) return;
      const share = typeof last === "number" ? (100 * (last - scale.min)) / (scale.max - scale.min || 1) : 0;
      bar.style.setProperty("--share", String(share));
      bar.toggleAttribute("data-set", typeof last === "number");
    },
  };
}
