/** @import { View } from "../../web/types" */

/** Show two in turn, twice, then ask for a score of each.
 *  @type {View} */
export default async function dscqs(trial, stage) {
  await stage.load();
  return stage.compare("both");
}
