// Many versions of one content, one slider each: HEMVIP. With a reference, that one has a button and no slider.

/** @import { View } from "../../web/types" */

/** Ask for one value per version and question; return them all.
 *  @type {View} */
export default async function parallel(trial, stage) {
  await stage.load();
  return stage.board({ layout: trial.extra["layout"] === "rows" ? "rows" : "turns", onlyPlaying: false, hint: null });
}
