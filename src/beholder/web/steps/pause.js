// A break between two trials: as long as the person likes.

import { element, fill } from "../element.js";
import { actions, pressed, prose } from "../frame/sheet.js";

/** @import { Page } from "../run.js" */
/** @import { BreakStep, Json } from "../types" */

/** @param {BreakStep} step @param {Page} page @returns {Promise<Json>} */
export async function pause(step, { main, say, shelf }) {
  void shelf.prefetch(step.prefetch);
  const on = element("button", { class: "button button-primary", id: "next", type: "button" }, say("go-on"));
  fill(main, element("div", { class: "sheet" }, prose(step.text, say("pause.title")), actions(on)));
  await pressed(on);
  return {};
}
