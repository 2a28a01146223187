// Two videos beside each other want a wide window: a word before them where it is narrow.

import { element, fill } from "../element.js";

/** @import { Stage } from "../types" */

const NARROW_PX = 900;

/** Resolve when the window is wide enough for two clips beside each other, or the person goes on as it is.
 *  @param {Stage} stage @returns {Promise<void>} */
export async function turned({ main, say, signal }) {
  const isNarrow = () => innerWidth < NARROW_PX && innerWidth < innerHeight;
  if (!isNarrow()) return;
  const on = element("button", { class: "button", id: "next", type: "button" }, say("compare.turn.not"));
  fill(
    main,
    element(
      "div",
      { class: "surround" },
      element(
        "section",
        { class: "vote vote-short" },
        element("h1", { tabindex: "-1" }, say("compare.turn")),
        element("p", { class: "soft" }, say("compare.turn.text")),
        element("div", { class: "vote-foot" }, on),
      ),
    ),
  );
  const over = new AbortController();
  await new Promise((resolve) => {
    on.addEventListener("click", resolve);
    addEventListener("resize", () => isNarrow() || resolve(null), { signal: over.signal });
    signal.addEventListener("abort", resolve, { signal: over.signal });
  });
  over.abort();
}
