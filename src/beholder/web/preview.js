// The researcher's look at any step: a mark that cannot be missed, and a picker.

import { element } from "./element.js";

/** @import { Say } from "./types" */

/** Return the preview's bar.
 *  @param {{ say: Say, steps: { key: string, label: string }[], onPick: (key: string) => void }} parts */
export function openPreview({ say, steps, onPick }) {
  const picker = element(
    "select",
    { id: "preview-step", class: "field", on: { change: () => onPick(picker.value) } },
    steps.map(({ key, label }) => element("option", { value: key }, label)),
  );
  return {
    element: element(
      "aside",
      { class: "preview", "aria-label": say("preview.label") },
      element("b", {}, say("preview")),
      element("label", {}, element("span", {}, say("preview.step")), picker),
    ),
    /** @param {string} key */
    setStep(key) {
      picker.value = key;
    },
  };
}
