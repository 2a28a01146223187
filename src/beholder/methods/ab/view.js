/** @import { View } from "../../web/types" */

/** Show A and B, and ask which one it is.
 *  @type {View} */
export default async function ab(trial, stage) {
  await stage.load();
  return stage.compare();
}
