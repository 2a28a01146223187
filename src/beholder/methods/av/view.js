/** @import { View, Words } from "../../web/types" */

/** Show one video, then ask about sound, picture and the whole: on one page, or each after a play of its own.
 *  @type {View} */
export default async function av(trial, stage) {
  const [slot] = trial.slots;
  await stage.load();
  if (trial.passes > 1) return stage.passes(/** @type {Words[]} */ (trial.extra["attend"] ?? []));
  await stage.play(slot.id);
  return stage.ask(slot.id);
}
