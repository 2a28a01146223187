/** @import { View } from "../../web/types" */

/** Show two, then ask which one it is.
 *  @type {View} */
export default async function pair(trial, stage) {
  await stage.load();
  return stage.compare();
}
