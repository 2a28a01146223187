// Viewing distance: three pairs of pictures, one after the other; which of the two looks better?

import { element } from "../../element.js";
import { stylesheet } from "../../stylesheet.js";
import { ask, CANNOT, placeFor, shownScale } from "../../check_kit/frame.js";
import { pictures, worse } from "../../check_kit/pictures.js";

/** @import { Page } from "../../run.js" */
/** @import { CheckPage, CheckStep } from "../../types" */

/** In the order of the screen, with the key of each. */
const CHOICES = [
  { value: "a", key: "arrowleft", shown: "←" },
  { value: "none", key: "arrowdown", shown: "↓" },
  { value: "b", key: "arrowright", shown: "→" },
];

/** @type {CheckPage} */
export default async function distance(step, page) {
  const { log, say } = page;
  const pairs = Number(step.public["pairs"]);
  const numbers = Array.from({ length: pairs }, (_, place) => place + 1);
  const names = numbers.flatMap((number) => ["a", "b"].map((side) => `${side}${number}`));
  const images = pictures(step, page, names, ([side]) => say(`picture.${side}`));
  await stylesheet("vote");
  let better = /** @type {string[]} */ (log.values.get("better") ?? []);
  let scale = Number(log.values.get("scale") ?? 1);
  if (better.length >= pairs) better = []; // sent once, and not taken
  while (better.length < pairs) {
    const place = better.length;
    const shown = images.slice(2 * place, 2 * place + 2);
    const given = await compare(place === 0 ? step : { ...step, told: null }, page, place + 1, shown);
    if (given === "cannot") return CANNOT;
    // One picture out of its size spoils the whole attempt.
    scale = (await Promise.all(shown)).map(shownScale).reduce(worse, scale);
    better = [...better, given];
    log.values.set("better", better);
    log.values.set("scale", scale);
  }
  return { better, scale };
}

/** Show one pair until it is answered.
 *  @param {CheckStep} step @param {Page} page @param {number} number
 *  @param {Promise<HTMLImageElement>[]} images
 *  @returns {Promise<string>} */
async function compare(step, page, number, images) {
  const { say, log, keys, main } = page;
  const over = new AbortController();
  page.signal.addEventListener("abort", () => over.abort(), { signal: over.signal });
  const inputs = CHOICES.map(({ value }) =>
    element("input", { class: "choice-dot", type: "radio", name: "better", value, id: `better-${value}` }),
  );
  const chosen = () => inputs.find((input) => input.checked)?.value ?? null;
  const { cm, heights, held } = step.public;
  const figures = ["A", "B"].map((letter, side) =>
    element(
      "figure",
      { class: "pair-picture" },
      element("figcaption", {}, letter),
      placeFor(step.public["size"], images[side], say),
    ),
  );
  keys.bind(
    [
      ...CHOICES.map(({ key, shown, value }, place) => ({
        keys: [key],
        shown,
        label: say(`better.${value}`),
        run: () => inputs[place].click(),
      })),
      {
        keys: ["enter"],
        shown: say("keys.enter"),
        label: say("next"),
        run: () => /** @type {HTMLElement | null} */ (main.querySelector("#next"))?.click(),
      },
    ],
    over.signal,
  );
  const way = await ask(step, page, {
    title: say("title"),
    text: say(held ? "text.held" : cm === null ? "text" : "text.cm", { cm, heights }),
    isPlain: true,
    body: [
      element("div", { class: "check-surround pair-surround" }, figures),
      element(
        "div",
        { class: "pair-ask", role: "radiogroup", "aria-labelledby": "pair-question" },
        element(
          "p",
          { class: "pair-question" },
          element("span", { id: "pair-question" }, say("question")),
          element("span", { class: "small soft" }, say("place", { n: number, of: Number(step.public["pairs"]) })),
        ),
        element(
          "div",
          { class: "pair-choices" },
          inputs.map((input, place) =>
            element(
              "label",
              { class: "choice" },
              input,
              element("span", {}, say(`better.${input.value}`)),
              element("kbd", {}, CHOICES[place].shown),
            ),
          ),
        ),
      ),
    ],
    coming: Promise.all(images),
    gap: () => (chosen() === null ? { reason: say("left"), focus: () => inputs[0].focus() } : null),
    onShown: (refresh) => {
      for (const input of inputs)
        input.addEventListener("change", () => {
          log.add("change", null, { what: `pair ${number}`, value: input.value });
          refresh();
        });
    },
  }).finally(() => over.abort());
  return way === "cannot" ? way : (chosen() ?? "none");
}
