/** @import { Scale, View } from "../../web/types" */

/** Show two versions beside their reference, one of which is the reference again, and ask for a grade of each.
 *  @type {View} */
export default async function bs1116(trial, stage) {
  await stage.load();
  const [first, last] = trial.slots.filter((slot) => slot.rated).map((slot) => stage.label(slot));
  /** @param {Scale} scale */
  const most = (scale) => stage.figure(scale, scale.max);
  return stage.board({
    layout: "turns",
    onlyPlaying: false,
    hint: stage.say("bs1116.hint", { first, last, most: most(trial.asked[0].scale) }),
    rule: (scores, scale) => (scores.includes(scale.max) ? null : stage.say("bs1116.rule", { most: most(scale) })),
  });
}
