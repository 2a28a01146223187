// Consent: the study's own text, and one button.

import { element, fill } from "../element.js";
import { actions, pressed, prose } from "../sheet.js";

/** @param {import("../types").ConsentStep} step @param {import("../run.js").Page} page @returns {Promise<import("../types").Json>} */
export async function consent(step, { main, say }) {
  const agree = element("button", { class: "button button-primary", id: "agree", type: "button" }, say("consent.agree"));
  fill(main, element("div", { class: "sheet" }, prose(step.text, say("consent.title")), actions(agree, element("p", { class: "reason" }, say("consent.hint")))));
  await pressed(agree);
  return { agree: true };
}
