// A check: the page of its own that each of them has, in words that came with the step.

import { fetched } from "../client.js";
import { speak } from "../words.js";

/** @import { Page } from "../run.js" */
/** @import { CheckPage, CheckStep, Json, Say } from "../types" */

/** @param {CheckStep} step @param {Page} page @returns {Promise<Json>} */
export async function check(step, page) {
  void page.shelf.prefetch(step.prefetch);
  const own = speak(page.language, step.words);
  /** @type {Say} */
  const say = (key, values) => (key in step.words ? own.say(key, values) : page.say(key, values));
  /** @type {{ default: CheckPage }} */
  const view = await page.patience.insist(() => fetched(import(`../checks/${step.check}/page.js`)));
  // A picture or sound that has not come makes the page wait and begin again.
  return page.patience.insist(() => view.default(step, { ...page, say }));
}
