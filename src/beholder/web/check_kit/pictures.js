// The pictures of a check: all of them are on their way before the first is shown.

import { picture } from "./frame.js";

/** @import { Page } from "../run.js" */
/** @import { CheckStep } from "../types" */

/** Return pictures of the step in this order, each as soon as it is there.
 *  @param {CheckStep} step @param {Page} page @param {string[]} names @param {(name: string) => string} label
 *  @returns {Promise<HTMLImageElement>[]} */
export function pictures(step, page, names, label) {
  return names.map((name) => {
    const coming = page.patience.insist(() => picture(step, name, label(name)));
    coming.catch(() => {}); // whoever waits for it hears of it
    return coming;
  });
}

/** Return the scale that is farther from 1. @param {number} one @param {number} other */
export function worse(one, other) {
  return Math.abs(other - 1) > Math.abs(one - 1) ? other : one;
}
