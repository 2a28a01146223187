// A trial: the method's own view on a fresh stage, with the tracks that its media need.

import { fetched } from "../client.js";
import { openStage } from "../stage/stage.js";

/** @import { Kit } from "../media/player.js" */
/** @import { Page } from "../run.js" */
/** @import { HandSet } from "../separate/hand_set.js" */
/** @import { OpenTracks } from "../media/tracks/track" */
/** @import { Json, Trial, TrialStep, View } from "../types" */

/** @type {{ [medium: string]: () => Promise<{ openTracks: OpenTracks }> }} */
const TRACKS = {
  video: () => import("../media/tracks/video.js"),
  audio: () => import("../media/tracks/audio.js"),
  image: () => import("../media/tracks/still.js"),
  text: () => import("../media/tracks/still.js"),
};

/** @param {TrialStep} step @param {Page} page @returns {Promise<Json>} */
export async function trial(step, page) {
  page.shelf.keep([...step.trial.slots.map(({ media }) => media), ...step.prefetch]);
  if (step.training) await (await page.patience.insist(() => fetched(import("./training.js")))).practise(step, page);
  else if (step.told) {
    const { word } = await page.patience.insist(() => fetched(import("./word.js")));
    await word(step.told, page, "again.title");
  }
  const isApart = step.trial.stage === "separate";
  /** @type {[{ default: View }, Kit, HandSet | null]} */
  const [view, kit, handSet] = await Promise.all([
    page.patience.insist(() => fetched(import(`../methods/${step.method}/view.js`))),
    isApart ? { open: new Map(), follow: null } : page.patience.insist(() => fetched(kitFor(step.trial))),
    isApart ? besideStage(step, page) : null,
  ]);
  const answer = await view.default(step.trial, openStage(step, page, kit, handSet));
  return /** @type {Json} */ (answer);
}

/** Return what stands here for the player of another device. @param {TrialStep} step @param {Page} page */
async function besideStage(step, page) {
  const { openHandSet } = await page.patience.insist(() => fetched(import("../separate/hand_set.js")));
  return openHandSet(step, page);
}

/** Return what the media of a trial need. @param {Trial} trial @returns {Promise<Kit>} */
export async function kitFor({ slots, together }) {
  /** @type {Kit} */
  const kit = { open: new Map(), follow: null };
  for (const medium of new Set(slots.map(({ media }) => media.medium))) {
    kit.open.set(medium, (await TRACKS[medium]()).openTracks);
  }
  if (together && kit.open.has("video")) kit.follow = (await import("../media/tracks/pace.js")).follow;
  return kit;
}
