/** @import { View } from "../../web/types" */

/** Show A, B and X, and ask which of the two is closer to X, or the same.
 *  @type {View} */
export default async function abx(trial, stage) {
  await stage.load();
  return stage.compare();
}
