// Practice: what people read beside an example before they rate, and after an answer that was not expected.

import { element, fill } from "../element.js";
import { pressed } from "../frame/sheet.js";
import { stylesheet } from "../stylesheet.js";

/** @import { Page } from "../run.js" */
/** @import { Told, TrialStep } from "../types" */

/** Say that this is practice, and what it stands for, as long as the page is there; before another try, why.
 *  @param {TrialStep} step @param {Page} page */
export async function practise({ training, told }, page) {
  const { main, say, status, signal } = page;
  await stylesheet("training");
  if (training === undefined || signal.aborted) return;
  const place = say("training.place", { place: training.place, total: training.total });
  const anchor = training.anchor;
  const strip = element(
    "aside",
    { class: "practice", "aria-label": place },
    element("b", { class: "practice-place" }, place),
    anchor === null
      ? element("span", {}, say("training.text"))
      : element("span", {}, say("training.anchor"), " ", element("b", {}, anchor)),
  );
  main.before(strip);
  signal.addEventListener("abort", () => strip.remove());
  if (told) await word(told, page);
  else status(`${place}. ${anchor === null ? say("training.text") : `${say("training.anchor")} ${anchor}`}`);
}

/** @param {Told} told @param {Page} page */
async function word({ text, left }, { main, say, status, log }) {
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
        { class: "panel notice practice-word" },
        element(
          "div",
          { class: "lead" },
          element("h1", { tabindex: "-1" }, say("feedback.title")),
          text.split("\n").map((line) => element("p", {}, line)),
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
