// Consent: the study's own text, what the study needs of people and devices, and the choice.

import { element, fill } from "../element.js";
import { actions, pressed, prose } from "../frame/sheet.js";

/** @import { Page } from "../run.js" */
/** @import { ConsentStep, Json } from "../types" */

/** @param {ConsentStep} step @param {Page} page @returns {Promise<Json>} */
export async function consent(step, page) {
  const { main, say } = page;
  const agree = element(
    "button",
    { class: "button button-primary", id: "agree", type: "button" },
    say("consent.agree"),
  );
  const decline = element("button", { class: "button", id: "decline", type: "button" }, say("consent.decline"));
  fill(
    main,
    element(
      "div",
      { class: "sheet" },
      prose(step.text, say("consent.title")),
      needs(step, page),
      actions(agree, decline),
    ),
  );
  return Promise.race([pressed(agree).then(() => ({ agree: true })), pressed(decline).then(() => ({ agree: false }))]);
}

/** What is checked before the first rating, so that nobody starts who cannot go on. @param {ConsentStep} step @param {Page} page */
function needs({ needs = [], checks = null }, { say }) {
  if (needs.length === 0 && checks === null) return null;
  return element(
    "section",
    { class: "panel prose", id: "needs", "aria-labelledby": "needs-title" },
    element("h2", { id: "needs-title" }, say("consent.needs")),
    needs.length > 0 &&
      element(
        "ul",
        {},
        needs.map((line) => element("li", {}, line)),
      ),
    checks !== null && checks.senses !== null && element("p", {}, say(`consent.needs.${checks.senses}`)),
    checks !== null && element("p", { class: "small soft" }, say("consent.needs.time", { n: checks.minutes })),
  );
}
