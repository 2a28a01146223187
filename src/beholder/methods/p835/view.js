/** @import { View } from "../../web/types" */

/** Play one recording three times, and ask about voice, background and the whole, one after each play.
 *  @type {View} */
export default async function p835(trial, stage) {
  await stage.load();
  return stage.passes(/** @type {import("../../web/types").Words[]} */ (trial.extra["attend"] ?? []));
}
