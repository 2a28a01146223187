// A clip and a field: what was understood of it is typed.

/** @import { View } from "../../web/types" */

/** Show the clip and a field for each question; return what was typed.
 *  @type {View} */
export default async function transcribe(trial, stage) {
  const [slot] = trial.slots;
  await stage.load();
  return stage.type(slot.id);
}
