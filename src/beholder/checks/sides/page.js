// Sides: is a sound on the left, on the right, or in the middle?

import { listen } from "../../check_kit/listening.js";
import { tilesOf } from "../../check_kit/tiles.js";

/** @import { CheckPage } from "../../types" */

/** @type {CheckPage} */
export default async function sides(step, page) {
  const { say } = page;
  return listen(
    step,
    page,
    "sides",
    tilesOf(page, [
      { value: "left", word: say("left-side"), keys: ["arrowleft"], shown: "←" },
      { value: "middle", word: say("middle"), keys: ["arrowdown"], shown: "↓" },
      { value: "right", word: say("right-side"), keys: ["arrowright"], shown: "→" },
      { value: "nothing", word: say("nothing"), keys: ["0"], shown: "0", isWide: true },
    ]),
  );
}
