// A text to read, then on.

import { fetched } from "../client.js";
import { element, fill } from "../element.js";
import { actions, pressed, prose } from "../frame/sheet.js";

/** @import { Page } from "../run.js" */
/** @import { Json, TextStep } from "../types" */

/** @param {TextStep} step @param {Page} page @returns {Promise<Json>} */
export async function text(step, page) {
  const { trial } = step;
  if (trial !== undefined) {
    const { examples } = await page.patience.insist(() => fetched(import("./examples.js")));
    return examples(step, trial, page);
  }
  const { main, say, shelf } = page;
  void shelf.prefetch(step.prefetch);
  const on = element("button", { class: "button button-primary", id: "next", type: "button" }, say("go-on"));
  fill(main, element("div", { class: "sheet" }, prose(step.text, say("text.title")), actions(on)));
  await pressed(on);
  return {};
}
