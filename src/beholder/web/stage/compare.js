// Two or three of the same content, held against each other: how they are shown, and what is asked then.

import { scoreBallot, scoresBallot } from "./ballot.js";
import { showcase } from "./showcase.js";
import { card } from "./card.js";
import { choiceBallot, presentationOf } from "./choice.js";
import { stylesheet } from "../stylesheet.js";

/** @import { Answer, Stage, Trial } from "../types" */
/** @import { Ballot, Hooks } from "./ballot.js" */
/** @import { Transport } from "./showcase.js" */

/** Show all slots of a trial as its `presentation` says and ask about them: for a score of one slot where `rated`
 *  names it, or of `both`, else which one it is. `views` shows a pair in its views, where a study has them.
 *  @param {Trial} trial @param {Stage} stage @param {Transport | null} transport @param {string} [rated]
 *  @param {typeof import("./views.js").views} [views] @returns {Promise<Answer>} */
export async function compare(trial, stage, transport, rated, views) {
  const { player, say } = stage;
  await Promise.all([stylesheet("vote"), stylesheet("compare")]);
  const ids = trial.slots.map(({ id }) => id);
  const { medium } = trial.slots[0].media;
  const isStill = medium === "image" || medium === "text";
  const isFailed = () => ids.some((id) => player.failure(id) !== null);
  /** @type {(hooks: Hooks) => Ballot} */
  const make = (hooks) =>
    rated === undefined
      ? choiceBallot(trial, stage, hooks)
      : rated === "both"
        ? scoresBallot(trial, stage, hooks)
        : scoreBallot(trial, stage, rated, hooks);
  const nothing = { [rated === undefined ? "choices" : "scores"]: {} };
  if (rated !== undefined) nothing["scores"] = Object.fromEntries(trial.asked.map((asked) => [asked.id, {}]));
  const failed = say(`compare.failed.${medium}`);

  if (views !== undefined) return views(trial, stage, { make, nothing, failed });
  const isOnPage = presentationOf(trial) === "free" || (trial.together && isStill);
  if (isOnPage) return showcase(trial, stage, { make, nothing, failed, transport });

  /** @param {boolean} isAgain */
  async function show(isAgain) {
    if (trial.together) {
      const sound = trial.extra["sound"];
      await stage.sideBySide(ids, { sound: typeof sound === "string" ? sound : null, isAgain });
    } else {
      await stage.sequence(ids, { gap: Number(trial.extra["gap"] ?? 1), isAgain, passes: isAgain ? 1 : trial.passes });
    }
  }
  const isSeen = trial.playback.watch !== "none" && ids.every((id) => player.wholePlays(id) >= trial.passes);
  if (!isFailed() && !isSeen) await show(false);
  for (;;) {
    const answer = await card(trial, stage, {
      make: isFailed() ? null : make,
      again: ids.every((id) => player.mayPlay(id)) ? say(`card.again.${medium}`) : null,
      failed,
      nothing,
    });
    if (answer !== "again") return answer;
    stage.log("click", null, { what: "again" });
    await show(true);
  }
}
