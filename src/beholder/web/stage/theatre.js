// Stimuli by themselves on grey, one, one after the other or side by side: a gesture, full screen where the study says
// so, and back when they have been watched.

import { caption, cinema } from "./cinema.js";
import { element, fill } from "../element.js";
import { icon } from "../icons.js";
import { stylesheet } from "../stylesheet.js";
import { turned } from "./turned.js";

/** @import { Stage, Slot, Trial } from "../types" */

/** How stimuli are shown. `gap`: seconds of grey between two. `sound`: which of those at once is heard.
 *  `title`: words above the play button in place of the usual ones. `passes`: how often all come in turn.
 *  @typedef {{ slots: Slot[], way: "one" | "sequence" | "together", gap: number, sound: string | null,
 *              isAgain: boolean, title: string, passes: number }} Show */

/** Show slots until they have been watched as the study asks, or would not play.
 *  @param {Trial} trial @param {Stage} stage @param {Show} show @returns {Promise<void>} */
export async function theatre(trial, stage, show) {
  const { main, say, status, player, signal } = stage;
  const { slots, way } = show;
  const { playback } = trial;
  const { medium } = slots[0].media;
  const isFull = playback.fullscreen && medium !== "audio";
  const isFilling = playback.size === "fit" && medium !== "text";
  const isStill = medium === "image" || medium === "text";
  await Promise.all([stylesheet("vote"), stylesheet("theatre")]);
  if (way === "together" && medium === "video") await turned(stage);
  const hall = cinema(trial, stage, show);
  const many = way === "one" ? "" : "pair.";
  const count = slots.length > 2 ? "three." : many;
  const play = element(
    "button",
    { class: "button button-primary", id: "play", type: "button" },
    icon("play"),
    say(isStill && way === "sequence" ? "theatre.play.first.still" : `theatre.play.${count}${isStill ? "still" : "clip"}`),
  );
  const title = element("h1", { tabindex: "-1" });
  const text = element("p", { class: "soft" });
  const card = element(
    "section",
    { class: "vote vote-short" },
    title,
    text,
    stage.marks?.guide(),
    element("div", { class: "vote-foot" }, play),
  );
  fill(main, element("div", { class: "surround" }, card), hall.element);

  const words = [
    isFull && isFilling && say(`theatre.${many}full`),
    way !== "one" && say(`theatre.${way}${show.passes > 1 ? ".twice" : ""}`),
    medium === "video" && playback.sound === "off" && say("theatre.silent"),
    say(`theatre.${count}then${way === "one" && isStill ? ".still" : ""}`),
  ];
  /** @type {"ready" | "stopped"} */
  let word = "ready";
  let isAsked = show.isAgain; // who asked for it again has pressed already: no second press
  while (!signal.aborted) {
    const usual = say(`theatre.${word}.${word === "ready" ? count : many}${medium}`);
    fill(title, word === "ready" && show.title !== "" ? show.title : usual);
    fill(text, [word === "stopped" && say("theatre.once-more"), ...words].filter(Boolean).join(" "));
    if (!isAsked) {
      play.focus({ preventScroll: true });
      await new Promise((resolve) => play.addEventListener("click", resolve, { once: true, signal }));
    }
    card.hidden = true;
    hall.element.hidden = false;
    if (isFull) await enter(hall.element);
    const outcome = await attend();
    if (document.fullscreenElement === hall.element) await document.exitFullscreen().catch(() => {});
    hall.element.hidden = true;
    if (outcome === "over") return; // and the card stays away: it would flash up before the question
    card.hidden = false;
    isAsked = false;
    word = outcome === "stopped" ? "stopped" : "ready";
    if (word === "stopped") status(title.textContent ?? "");
  }

  /** Resolve to how it went: over (watched, or never to be), stopped half-way, or refused by the browser.
   *  @returns {Promise<"over" | "stopped" | "refused">} */
  async function attend() {
    const end = new AbortController();
    const wasFull = document.fullscreenElement === hall.element;
    /** @type {Promise<"stopped" | "over">} */
    const broken = new Promise((resolve) => {
      const stop = () => {
        if (!player.isPlaying && hall.isAtRest) return; // it waits for the person, not the other way round
        player.pause();
        resolve("stopped");
      };
      player.listen((what) => {
        if (end.signal.aborted) return;
        if (slots.some(({ id }) => player.failure(id) !== null)) resolve("over");
        else if (what === "stopped") resolve("stopped");
        else if (what === "tick") hall.draw();
      });
      const until = { signal: end.signal };
      document.addEventListener("fullscreenchange", () => wasFull && !document.fullscreenElement && stop(), until);
      document.addEventListener("visibilitychange", () => document.hidden && stop(), until);
      // Outside full screen Escape is the way out.
      document.addEventListener("keydown", (event) => event.key === "Escape" && stop(), until);
      signal.addEventListener("abort", () => resolve("stopped"), until);
    });
    const outcome = await Promise.race([broken, way === "together" ? atOnce(end.signal) : inTurn(end.signal)]);
    end.abort();
    return outcome;
  }

  /** @param {AbortSignal} over @returns {Promise<"over" | "stopped" | "refused">} */
  async function inTurn(over) {
    const turns = Array.from({ length: show.passes }, () => slots).flat();
    for (const [place, slot] of turns.entries()) {
      if (place > 0 || hall.isTight) await hall.rest(place > 0 ? show.gap : 1, slot);
      if (over.aborted) return "stopped";
      hall.show([slot]);
      const ended = heard(over, [slot]);
      if (!(await player.restart(slot.id, { isOnce: true }))) return player.failure(slot.id) === null ? "refused" : "over";
      await ended;
      if (over.aborted) return "stopped";
      // In the second turn once is not enough: what a busy browser lost of it has to be shown again.
      if (player.wholePlays(slot.id) < 1 + Math.floor(place / slots.length)) return "stopped";
      if (isStill) await hall.goOn();
    }
    return "over";
  }

  /** @param {AbortSignal} over @returns {Promise<"over" | "stopped" | "refused">} */
  async function atOnce(over) {
    hall.show(slots);
    const ended = heard(over, slots);
    const ids = slots.map(({ id }) => id);
    if (!(await player.together(ids, { sound: show.sound, isOnce: true })))
      return ids.some((id) => player.failure(id) !== null) ? "over" : "refused";
    await ended;
    if (over.aborted || !ids.every((id) => player.isWatched(id))) return "stopped";
    if (isStill) await hall.goOn();
    return "over";
  }

  /** Resolve when slots have ended, or nobody waits any longer. @param {AbortSignal} over @param {Slot[]} awaited
   *  @returns {Promise<void>} */
  function heard(over, awaited) {
    status(awaited.map((slot) => caption(trial, stage, show, slot)).join(", "));
    return new Promise((resolve) => {
      player.listen((what) => what === "ended" && resolve());
      over.addEventListener("abort", () => resolve());
    });
  }
}

/** @param {HTMLElement} node */
async function enter(node) {
  try {
    await node.requestFullscreen({ navigationUI: "hide" });
  } catch {
    // refused, or unknown on this phone: as large as the window
  }
}
