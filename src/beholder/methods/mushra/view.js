// A reference, and unnamed versions of it: one slider each, and one of them is the reference again.

/** @import { View } from "../../web/types" */

/** Ask for one value per unnamed version and question; return them all.
 *  @type {View} */
export default async function mushra(trial, stage) {
  await stage.load();
  const rated = trial.slots.filter((slot) => slot.rated);
  const onlyPlaying = trial.extra["rate_only_playing"] === true;
  const isStill = ["image", "text"].includes(trial.slots[0].media.medium);
  const hint = stage.say("mushra.hint", {
    first: stage.label(rated[0]),
    last: stage.label(rated[rated.length - 1]),
    most: trial.asked[0].scale.max,
  });
  const playing = stage.say(isStill ? "mushra.hint.playing.still" : "mushra.hint.playing");
  return stage.board({ layout: "turns", onlyPlaying, hint: onlyPlaying ? `${hint} ${playing}` : hint });
}
