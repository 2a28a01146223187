// A trial: the method's own view on a fresh stage.

import { Unreachable } from "../client.js";
import { openStage } from "../stage.js";

/** @param {import("../types").TrialStep} step @param {import("../run.js").Page} page @returns {Promise<import("../types").Json>} */
export async function trial(step, page) {
  page.shelf.keep([...step.trial.slots.map(({ media }) => media), ...step.prefetch]);
  /** @type {{ default: import("../types").View }} */
  const view = await page.patience.insist(() => import(`../methods/${step.method}/view.js`).catch((error) => {
    throw error instanceof TypeError ? new Unreachable(String(error)) : error;
  }));
  const answer = await view.default(step.trial, openStage(step, page));
  return /** @type {import("../types").Json} */ (answer);
}
