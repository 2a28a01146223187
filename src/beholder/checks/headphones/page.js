// Headphones: three tones, one after the other; which is the softest?

import { listen } from "../../check_kit/listening.js";
import { tilesOf } from "../../check_kit/tiles.js";

/** @import { CheckPage } from "../../types" */

/** @type {CheckPage} */
export default async function headphones(step, page) {
  /** @type {[number, number][]} */
  const intervals = step.public["intervals"];
  const tiles = intervals.map((sounds, place) => ({
    value: place + 1,
    word: String(place + 1),
    label: page.say("tile", { n: place + 1 }),
    keys: [String(place + 1)],
    shown: String(place + 1),
    sounds,
  }));
  return listen(step, page, "chosen", tilesOf(page, tiles));
}
