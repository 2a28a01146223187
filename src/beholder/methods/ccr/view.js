/** @import { View } from "../../web/types" */

/** Show two, then ask how the second compares with the first.
 *  @type {View} */
export default async function ccr(trial, stage) {
  await stage.load();
  return stage.compare();
}
