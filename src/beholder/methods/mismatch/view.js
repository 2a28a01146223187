/** @import { View } from "../../web/types" */

/** Show A and B, each with what is heard or read with it, and ask in which the two fit better.
 *  @type {View} */
export default async function mismatch(trial, stage) {
  await stage.load();
  return stage.compare();
}
