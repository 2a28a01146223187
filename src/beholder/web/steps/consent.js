// Consent: the study's own text, and the choice.

import { element, fill } from "../element.js";
import { actions, pressed, prose } from "../frame/sheet.js";

/** @import { Page } from "../run.js" */
/** @import { ConsentStep, Json } from "../types" */

/** @param {ConsentStep} step @param {Page} page @returns {Promise<Json>} */
export async function consent(step, { main, say }) {
  const agree = element(
    "button",
    { class: "button button-primary", id: "agree", type: "button" },
    say("consent.agree"),
  );
  const decline = element("button", { class: "button", id: "decline", type: "button" }, say("consent.decline"));
  fill(main, element("div", { class: "sheet" }, prose(step.text, say("consent.title")), actions(agree, decline)));
  return Promise.race([pressed(agree).then(() => ({ agree: true })), pressed(decline).then(() => ({ agree: false }))]);
}
