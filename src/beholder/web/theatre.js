// One clip by itself on grey: a gesture, full screen where the study says so, and back when it has ended.

import { element, fill } from "./element.js";
import { icon } from "./icons.js";
import { sizeTo } from "./screen.js";

/** @import { Playback, Player, Say, Slot } from "./types" */

/** Show one slot until it has been watched as the study asks, or would not play.
 *  @param {{ main: HTMLElement, slot: Slot, playback: Playback, player: Player,
 *            say: Say, status: (text: string) => void, isAgain: boolean, signal: AbortSignal }} parts
 *  @returns {Promise<void>} */
export async function theatre({ main, slot, playback, player, say, status, isAgain, signal }) {
  const video = player.video(slot.id);
  const cinema = element("div", { class: "cinema", hidden: true }, video);
  sizeTo(cinema, playback.size, slot.media);
  const play = element(
    "button",
    { class: "button button-primary", id: "play", type: "button" },
    icon("play"),
    say("theatre.play"),
  );
  const title = element("h1", { tabindex: "-1" });
  const text = element("p", { class: "soft" });
  const card = element(
    "section",
    { class: "vote vote-short" },
    title,
    text,
    element("div", { class: "vote-foot" }, play),
  );
  fill(main, element("div", { class: "surround" }, card), cinema);

  let word = "ready";
  while (!signal.aborted) {
    fill(title, say(`theatre.${word}`));
    fill(text, say(playback.fullscreen ? `theatre.${word}.full` : `theatre.${word}.text`));
    // Who asked for it again has pressed already: no second press.
    if (!(isAgain && word === "ready")) {
      play.focus({ preventScroll: true });
      await new Promise((resolve) => play.addEventListener("click", resolve, { once: true, signal }));
    }
    card.hidden = true;
    cinema.hidden = false;
    if (playback.fullscreen) await enter(cinema);
    const isOver = await watch();
    if (document.fullscreenElement === cinema) await document.exitFullscreen().catch(() => {});
    cinema.hidden = true;
    card.hidden = false;
    if (isOver) return;
    word = "stopped";
    status(say("theatre.stopped"));
  }

  /** Resolve to whether the clip is over: played to its end, or never to be. @returns {Promise<boolean>} */
  function watch() {
    return new Promise((resolve) => {
      const isFull = document.fullscreenElement === cinema;
      const end = new AbortController();
      /** @param {boolean} isOver */
      const done = (isOver) => {
        end.abort();
        resolve(isOver);
      };
      player.listen((what) => {
        if (end.signal.aborted) return;
        if (player.failure(slot.id) !== null) done(true);
        else if (what === "ended") done(player.isWatched(slot.id));
        else if (what === "stopped") done(false);
      });
      document.addEventListener(
        "fullscreenchange",
        () => {
          if (isFull && document.fullscreenElement === null) player.pause();
        },
        { signal: end.signal },
      );
      // Outside full screen Escape is the way out.
      document.addEventListener(
        "keydown",
        (event) => {
          if (event.key === "Escape") player.pause();
        },
        { signal: end.signal },
      );
      signal.addEventListener("abort", () => done(false), { signal: end.signal });
      void player.restart(slot.id).then((isOn) => {
        if (!isOn && !player.isPlaying) done(player.failure(slot.id) !== null);
      });
    });
  }
}

/** @param {HTMLElement} node */
async function enter(node) {
  try {
    await node.requestFullscreen({ navigationUI: "hide" });
  } catch {
    // refused, or unknown on this phone: the clip is as large as the window
  }
}
