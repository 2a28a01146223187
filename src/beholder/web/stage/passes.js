// One clip, several times: before each play what to attend to, and after it one question.

import { ask } from "./card.js";

/** @import { Answer, Stage, Trial, Words } from "../types" */

/** Play the only slot once for each question, and ask one after each play; return all answers after the last.
 *  `attend`: what to attend to in each play. `show`: plays it.
 *  @param {Trial} trial @param {Stage} stage @param {Words[]} attend
 *  @param {(how: { title: string, isAgain: boolean }) => Promise<void>} show @returns {Promise<Answer>} */
export async function passes(trial, stage, attend, show) {
  const { draft, player } = stage;
  const [slot] = trial.slots;
  /** @type {Answer} */
  const given = { scores: /** @type {any} */ (draft.get("scores")) ?? {} };
  for (let place = Number(draft.get("pass") ?? 0); place < trial.asked.length; ) {
    if (player.failure(slot.id) === null && Number(draft.get("plays") ?? 0) <= place) {
      const values = { place: place + 1, n: trial.asked.length };
      const title = stage.say("passes.title", { ...values, attend: attend[place] ?? trial.asked[place].text });
      await show({ title, isAgain: false });
      draft.set("plays", place + 1);
    }
    // What will not play is told once, about all questions.
    if (player.failure(slot.id) !== null) return /** @type {Answer} */ (await ask(trial, stage, slot.id));
    const answer = await ask({ ...trial, asked: [trial.asked[place]] }, stage, slot.id);
    if (answer === "again") {
      stage.log("click", slot.id, { what: "again" });
      await show({ title: "", isAgain: true });
      continue;
    }
    given.scores = { ...given.scores, ...answer.scores };
    draft.set("pass", ++place);
  }
  return given;
}
