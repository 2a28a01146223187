// Tones: count them, the soft ones too.

import { element } from "../../element.js";
import { listen, next } from "../../check_kit/listening.js";

/** @import { CheckPage } from "../../types" */
/** @import { MakeField } from "../../check_kit/listening.js" */

/** @type {CheckPage} */
export default async function tones(step, page) {
  const { say, log, main } = page;
  const most = Number(step.public["most"]);
  const length = Number(step.public["seconds"]);
  /** @type {MakeField} */
  const make = (change) => {
    const input = element("input", {
      class: "field check-number",
      id: "count",
      type: "number",
      inputmode: "numeric",
      min: 0,
      max: most,
      step: 1,
      autocomplete: "off",
      on: {
        input: () => {
          log.add("change", null, { what: "count", value: input.value });
          change();
        },
        keydown: (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && next(main),
      },
    });
    const meter = element(
      "span",
      { class: "meter listen-meter", "aria-hidden": "true" },
      element("span", { class: "meter-fill" }),
    );
    return {
      node: element(
        "div",
        { class: "listen-count" },
        meter,
        element("label", { class: "check-label", for: "count" }, say("count"), input),
      ),
      keys: [],
      value: () => (isCount(input.value, most) ? Number(input.value) : null),
      focus: () => input.focus(),
      open: () => {}, // counting along is fine
      follow(seconds) {
        if (seconds === null) return; // it stays where the sound ended
        meter.style.setProperty("--value", String(Math.min(100, Math.max(0, (100 * seconds) / length))));
      },
    };
  };
  return listen(step, page, "counts", make);
}

/** @param {string} text @param {number} most */
function isCount(text, most) {
  return /^\d{1,2}$/.test(text.trim()) && Number(text) <= most;
}
