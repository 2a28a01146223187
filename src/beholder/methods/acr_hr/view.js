/** @import { View } from "../../web/types" */

/** Show one clip by itself, then ask about it: the hidden reference looks like any other.
 *  @type {View} */
export default async function acrHr(trial, stage) {
  const [slot] = trial.slots;
  await stage.load();
  await stage.play(slot.id);
  return stage.ask(slot.id);
}
