// A trial: the method's own view on a fresh stage.

import { fetched } from "../client.js";
import { openStage } from "../stage.js";

/** @import { Page } from "../run.js" */
/** @import { Json, TrialStep, View } from "../types" */

/** @param {TrialStep} step @param {Page} page @returns {Promise<Json>} */
export async function trial(step, page) {
  page.shelf.keep([...step.trial.slots.map(({ media }) => media), ...step.prefetch]);
  /** @type {{ default: View }} */
  const view = await page.patience.insist(() => fetched(import(`../methods/${step.method}/view.js`)));
  const answer = await view.default(step.trial, openStage(step, page));
  return /** @type {Json} */ (answer);
}
