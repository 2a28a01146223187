// What plays, where it is, and which part of it loops. No waveform: it would give conditions away.

import { wear } from "../colour.js";
import { setAttribute, write } from "../element.js";
import { stylesheet } from "../stylesheet.js";
import { timeline } from "./timeline.js";

/** @import { Stage, Trial } from "../types" */

/** Return the transport of a trial. `reference` is the button of the reference, if there is one.
 *  @param {Trial} trial @param {Stage} stage @param {{ reference: HTMLElement | null, note: string }} parts */
export async function transport(trial, stage, { reference, note }) {
  await stylesheet("transport");
  const { element, icon, player, say, draft } = stage;
  const hasLoop = trial.playback.loop === "region";
  const ms = Math.min(...trial.slots.map(({ media }) => media.ms));
  const kept = /** @type {{ part: [number, number], isOn: boolean } | undefined} */ (draft.get("loop"));
  let part = kept?.part ?? /** @type {[number, number]} */ ([0, ms]);
  let isOn = hasLoop && (kept?.isOn ?? false);

  const [play, pause] = [icon("play"), icon("pause")];
  const [playWord, pauseWord] = [say("transport.play"), say("transport.pause")].map((word) => element("span", {}, word));
  const switchWord = element("span", { class: "transport-word" }, playWord, pauseWord);
  const toggle = element(
    "button",
    { class: "button", id: "pause", type: "button", on: { click: () => press() } },
    play,
    pause,
    switchWord,
  );
  const loop = element(
    "button",
    { class: "button toggle", id: "loop", type: "button", "aria-pressed": "false", on: { click: () => turn(!isOn) } },
    icon("loop"),
    say("transport.loop"),
  );
  const letter = element("span", { class: "letter" });
  const doing = element("span");
  const now = element("p", { class: "transport-now" }, letter, doing);
  const clock = element("b");
  const total = element("span");
  const time = element("p", { class: "transport-time" }, element("bdi", { dir: "ltr" }, clock, total));
  const line = timeline({
    ms,
    part,
    say,
    element,
    onChange(next, { isFinal }) {
      part = next;
      if (!isFinal) return draw();
      draft.set("loop", { part, isOn });
      tell();
      apply();
    },
  });
  const hint = element("p", { class: "transport-hint" });

  function press() {
    const id = player.current ?? trial.slots.find((slot) => player.mayPlay(slot.id))?.id;
    stage.log("click", id ?? null, { what: "pause" });
    if (id !== undefined) stage.switchTo(id);
  }

  /** @param {boolean} next */
  function turn(next) {
    isOn = next;
    draft.set("loop", { part, isOn });
    tell();
    apply();
  }

  function tell() {
    stage.log("change", null, { loop: isOn ? part.map(Math.round) : null });
  }

  /** What has not been heard whole plays whole: a part must not keep its slider closed. */
  function isWhole() {
    const id = player.current;
    return id !== null && trial.playback.watch === "whole" && !player.isWatched(id) && player.failure(id) === null;
  }

  const wanted = () => (isOn && !isWhole() ? part : null);
  const isApplied = () => String(wanted()) === String(player.region);

  function apply() {
    if (!isApplied()) player.setRegion(wanted());
    draw();
  }

  function draw() {
    const slot = trial.slots.find(({ id }) => id === player.current);
    play.toggleAttribute("hidden", player.isPlaying);
    pause.toggleAttribute("hidden", !player.isPlaying);
    playWord.classList.toggle("is-said", !player.isPlaying);
    pauseWord.classList.toggle("is-said", player.isPlaying);
    setAttribute(loop, "aria-pressed", String(isOn));
    line.draw({ at: player.position(), isOn, isHeld: isOn && isWhole() });
    letter.hidden = slot === undefined;
    if (slot !== undefined) {
      wear(letter, slot.colour);
      write(letter, stage.label(slot));
    }
    write(doing, slot === undefined ? note : say(player.isPlaying ? "transport.playing" : "transport.paused"));
    write(clock, seconds(player.position()));
    write(total, ` ${say("transport.of", { total: seconds(slot?.media.ms ?? ms) })}`);
    const values = { from: seconds(part[0]), to: seconds(part[1]), label: slot ? stage.label(slot) : "" };
    const key = !isOn ? "whole" : isWhole() ? "first" : "part";
    write(hint, [hasLoop && say(`transport.hint.${key}`, values), keeps()].filter(Boolean).join(" "));
  }

  function keeps() {
    return trial.playback.switching === "keep" && say("transport.keeps");
  }

  // A change starts the player anew, so it waits until the player has finished what it is telling of.
  let timer = 0;
  player.listen((what) => {
    draw();
    if (what === "tick" && timer === 0 && !isApplied())
      timer = setTimeout(() => {
        timer = 0;
        apply();
      });
  });
  apply();
  return element(
    "section",
    { class: "transport", "aria-label": say("transport.label") },
    element(
      "div",
      { class: "transport-box" },
      element("div", { class: "transport-row" }, reference, toggle, hasLoop && loop, now, time),
      line.element,
      hint,
    ),
  );
}

/** Return a time to the tenth of a second. @param {number} ms */
export function seconds(ms) {
  const tenths = Math.round(ms / 100);
  const rest = String((tenths % 600) / 10);
  return `${Math.floor(tenths / 600)}:${(rest.includes(".") ? rest : `${rest}.0`).padStart(4, "0")}`;
}
