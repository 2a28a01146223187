/** Show one clip, then ask for a thumb.
 *  @type {import("../../../src/beholder/web/types").View} */
export default async function thumbs(trial, stage) {
  const [slot] = trial.slots;
  await stage.load();
  await stage.play(slot.id);
  return stage.ask(slot.id);
}
