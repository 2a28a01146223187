/** @import { View } from "../../web/types" */

/** Show versions behind buttons beside their reference, and ask for a score of each while it is the last one played.
 *  @type {View} */
export default async function samviq(trial, stage) {
  await stage.load();
  const isStill = ["image", "text"].includes(trial.slots[0].media.medium);
  const hint = stage.say(isStill ? "samviq.hint.still" : "samviq.hint");
  return stage.board({ layout: "turns", onlyPlaying: true, hint });
}
