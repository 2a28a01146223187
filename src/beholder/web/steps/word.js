// A word on the answer before, read until the person tries again.

import { element, fill } from "../element.js";
import { paragraphs, pressed } from "../frame/sheet.js";

/** @import { Page } from "../run.js" */
/** @import { Told } from "../types" */

/** Show what was found, and resolve when it was read.
 *  @param {Told} told @param {Page} page @param {"feedback.title" | "again.title"} title */
export async function word({ text, left }, { main, say, status, log }, title = "feedback.title") {
  const state = document.body.dataset["state"] ?? "";
  document.body.dataset["state"] = "ready";
  const again = element(
    "button",
    { class: "button button-primary", id: "try-again", type: "button" },
    say("training.again"),
  );
  fill(
    main,
    element(
      "div",
      { class: "sheet sheet-middle" },
      element(
        "section",
        { class: "panel notice" },
        element(
          "div",
          { class: "lead" },
          element("h1", { tabindex: "-1" }, say(title)),
          paragraphs(text),
          element("p", { class: "small soft" }, say("check.left", { n: left })),
        ),
        again,
      ),
    ),
  );
  main.querySelector("h1")?.focus({ preventScroll: true });
  status(text);
  await pressed(again);
  log.add("click", null, { what: "again" });
  main.replaceChildren();
  document.body.dataset["state"] = state;
}
