// What is shown once by itself, then small beside the statements about it.

/** @import { View } from "../../web/types" */

/** Show what it is about, then ask for an answer to every statement; return them all.
 *  @type {View} */
export default async function likert(trial, stage) {
  await stage.load();
  const ids = trial.slots.map(({ id }) => id);
  if (trial.together) await stage.sideBySide(ids, { sound: heard(trial) });
  else await stage.play(ids[0]);
  return stage.survey({ sound: heard(trial) });
}

/** Return the slot that is heard. @param {import("../../web/types").Trial} trial */
function heard({ extra, slots }) {
  const named = slots.find(({ id, label }) => extra["sound"] === id || extra["sound"] === label);
  return named?.id ?? slots.find(({ rated }) => !rated)?.id ?? slots[0].id;
}
