// A quiz: one choice for each question. Only the server knows which one is right.

import { askChoices } from "../../check_kit/choices.js";

/** @import { CheckPage } from "../../types" */

/** @type {CheckPage} */
export default function questions(step, page) {
  return askChoices(step, page);
}
