// Consent: the study's own text, what the study needs of people and devices, and the choice.

import { element, fill } from "../element.js";
import { actions, pressed, prose } from "../frame/sheet.js";
import { addressIn } from "../words.js";

/** @import { Page } from "../run.js" */
/** @import { ConsentStep, Json } from "../types" */

/** @param {ConsentStep} step @param {Page} page @returns {Promise<Json>} */
export async function consent(step, page) {
  const { main, say, study } = page;
  /** @type {{ [name: string]: Json }} */
  const told = study.languages.length > 0 ? { language: study.language, language_from: study.language_from } : {};
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
      choice(page),
      prose(step.text, say("consent.title")),
      needs(step, page),
      actions(agree, decline),
    ),
  );
  return Promise.race([
    pressed(agree).then(() => ({ agree: true, ...told })),
    pressed(decline).then(() => ({ agree: false, ...told })),
  ]);
}

/** The languages of the study, each by the name that its speakers know; nothing where there is one.
 *  @param {Page} page */
function choice({ say, study, status }) {
  if (study.languages.length === 0) return null;
  const options = study.languages.map(({ code, name, direction }) =>
    element("option", { value: code, lang: code, dir: direction, selected: code === study.language }, name),
  );
  /** @param {Event} event */
  const change = (event) => {
    const code = /** @type {HTMLSelectElement} */ (event.currentTarget).value;
    status(say("language.loading"));
    location.assign(addressIn(code, { isChosen: true }));
  };
  return element(
    "p",
    { class: "languages" },
    element("label", { for: "language" }, say("language")),
    element("select", { id: "language", "aria-describedby": "language-note", on: { change } }, options),
    element("span", { class: "small soft", id: "language-note" }, say("language.text")),
  );
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
