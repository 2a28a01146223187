/** @import { View } from "../../web/types" */

/** Show all versions of one content and put them in order.
 *  @type {View} */
export default async function rank(trial, stage) {
  await stage.load();
  return stage.order({ isList: true });
}
