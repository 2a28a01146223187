// A clip with its words: those that answer the question are marked while it plays.

/** @import { View } from "../../web/types" */

/** Show the clip and its words; return which of them were marked for each question.
 *  @type {View} */
export default async function wordSelect(trial, stage) {
  const [slot] = trial.slots;
  await stage.load();
  if (slot.media.medium === "text") await stage.play(slot.id);
  return stage.mark(slot.id);
}
