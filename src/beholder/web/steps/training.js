// Practice: what people read beside an example before they rate, and after an answer that was not expected.

import { element, plain } from "../element.js";
import { stylesheet } from "../stylesheet.js";
import { word } from "./word.js";

/** @import { Page } from "../run.js" */
/** @import { TrialStep } from "../types" */

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
  else status(`${place}. ${anchor === null ? say("training.text") : `${say("training.anchor")} ${plain(anchor)}`}`);
}
