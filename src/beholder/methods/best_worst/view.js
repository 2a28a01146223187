/** @import { View } from "../../web/types" */

/** Show all versions of one content and ask for the best and the worst of them.
 *  @type {View} */
export default async function bestWorst(trial, stage) {
  await stage.load();
  return stage.order({ isList: false });
}
