// What statements are about, small beside them: it plays again and again once it has been seen.

import { isStill } from "./column.js";
import { fill } from "../element.js";

/** @import { Slot, Stage, Trial } from "../types" */

/** Return the place for the clip of a survey, or for clips on one clock.
 *  @param {Trial} trial @param {Stage} stage @param {{ sound: string | null }} parts */
export function beside(trial, stage, { sound }) {
  const { element, icon, player, say } = stage;
  const shown = trial.slots.filter(({ id }) => player.failure(id) === null);
  const { medium } = trial.slots[0].media;
  const isLooping = trial.playback.loop !== "off";
  const [play, pause] = [icon("play"), icon("pause")];
  const word = element("span");
  const button = element(
    "button",
    { class: "button", id: "pause", type: "button", on: { click: () => press() } },
    play,
    pause,
    word,
  );

  const mayPlay = () => shown.length > 0 && shown.every(({ id }) => player.mayPlay(id));
  function start() {
    if (!mayPlay()) return;
    if (trial.together) void player.together(shown.map(({ id }) => id), { sound });
    else void player.play(shown[0].id);
  }
  function press() {
    stage.log("click", shown[0].id, { what: "pause" });
    if (player.isPlaying) player.pause();
    else start();
  }
  function draw() {
    button.hidden = shown.length === 0 || isStill(medium) || !(player.isPlaying || mayPlay());
    play.toggleAttribute("hidden", player.isPlaying);
    pause.toggleAttribute("hidden", !player.isPlaying);
    fill(word, say(player.isPlaying ? "transport.pause" : "transport.play"));
  }
  player.listen((what) => {
    if (what !== "tick") draw();
  });
  draw();
  if (isLooping && !matchMedia("(prefers-reduced-motion: reduce)").matches) queueMicrotask(start);

  return element(
    "aside",
    { class: `survey-clip survey-${medium}`, "aria-label": say("survey.clip") },
    element("div", { class: "survey-frames" }, shown.map(framed)),
    element("div", { class: "survey-controls" }, button),
  );

  /** @param {Slot} slot */
  function framed(slot) {
    const { width, height } = slot.media;
    return element(
      "figure",
      { class: "survey-frame", vars: { ratio: width / height || 16 / 9 } },
      trial.together && element("figcaption", {}, stage.label(slot)),
      player.node(slot.id),
    );
  }
}
