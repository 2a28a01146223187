// The researcher's look at any step: a mark that cannot be missed, and a picker.

import { element } from "../element.js";
import { icon } from "../icons.js";

/** @import { Say } from "../types" */

/** Return the preview's bar.
 *  @param {{ say: Say, steps: { key: string, label: string }[], onPick: (key: string) => void }} parts */
export function openPreview({ say, steps, onPick }) {
  const picker = element(
    "select",
    { id: "preview-step", class: "field", on: { change: () => pick(picker.value) } },
    steps.map((step) => element("option", { value: step.key }, labelOf(step))),
  );
  const back = turn("back", -1);
  const next = turn("next", 1);

  /** @param {{ key: string, label: string }} step */
  function labelOf({ key, label }) {
    const [kind, first, second] = key.split(":");
    const isPage = kind === "text" && second !== undefined;
    const isMany = kind === "trial" || kind === "training" || kind === "break" || isPage;
    const isBetween = kind === "questions" && second !== undefined;
    const place = isPage || isBetween ? second : first;
    const total = steps.filter((other) => other.key.startsWith(`${kind}:`)).length;
    const words = say(`preview.${isMany ? kind : isBetween ? `${kind}:${first}` : key}`, { place, total });
    return words.startsWith("preview.") ? label : words; // a kind that has no words yet
  }

  /** @param {"back" | "next"} name @param {number} by */
  function turn(name, by) {
    return element(
      "button",
      {
        class: "button",
        id: `preview-${name}`,
        type: "button",
        "aria-label": say(`preview.${name}`),
        on: {
          click: () => {
            const step = steps[picker.selectedIndex + by];
            if (step !== undefined) pick(step.key);
          },
        },
      },
      icon("back"),
    );
  }

  /** @param {string} key */
  function pick(key) {
    show(key);
    onPick(key);
  }

  /** @param {string} key */
  function show(key) {
    picker.value = key;
    back.setAttribute("aria-disabled", String(picker.selectedIndex <= 0));
    next.setAttribute("aria-disabled", String(picker.selectedIndex === steps.length - 1));
  }

  return {
    element: element(
      "aside",
      { class: "preview", "aria-label": say("preview.label") },
      element("b", {}, say("preview")),
      element(
        "div",
        { class: "preview-steps" },
        element("label", {}, element("span", {}, say("preview.step")), picker),
        back,
        next,
      ),
    ),
    setStep: show,
  };
}
