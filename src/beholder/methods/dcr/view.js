/** @import { View } from "../../web/types" */

/** Show the reference and the processed one, then ask what the change does.
 *  @type {View} */
export default async function dcr(trial, stage) {
  await stage.load();
  return stage.compare(trial.slots.find(({ rated }) => rated)?.id);
}
