/** @import { View } from "../../web/types" */

/** Show one clip by itself, then ask about it.
 *  @type {View} */
export default async function acr(trial, stage) {
  const [slot] = trial.slots;
  await stage.load();
  await stage.play(slot.id);
  return stage.ask(slot.id);
}
