// Sentences with a gap: one choice of a word for each. Only the server knows which one is right.

import { askChoices } from "../../check_kit/choices.js";

/** @import { CheckPage } from "../../types" */

/** @type {CheckPage} */
export default function language(step, page) {
  return askChoices(step, page);
}
