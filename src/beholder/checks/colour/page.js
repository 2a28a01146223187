// Colour vision: one plate after the other, each with the number that is read in it.

import { element } from "../../element.js";
import { pressed } from "../../frame/sheet.js";
import { stylesheet } from "../../stylesheet.js";
import { ask, CANNOT, placeFor, shownScale } from "../../check_kit/frame.js";
import { pictures, worse } from "../../check_kit/pictures.js";

/** @import { CheckPage } from "../../types" */

const NONE = "none";

/** @type {CheckPage} */
export default async function colour(step, page) {
  const { say, log } = page;
  await stylesheet("vision");
  /** @type {string[]} */
  const names = step.public["plates"];
  const plates = pictures(step, page, names, () => say("picture"));
  /** @type {{ [name: string]: string }} */
  const numbers = {};
  let scale = 1;
  for (const [place, name] of names.entries()) {
    const coming = plates[place];
    const field = element("input", {
      class: "field check-number",
      id: "number",
      type: "text",
      inputmode: step.public["is_text"] ? "text" : "numeric",
      maxlength: 40,
      autocomplete: "off",
      spellcheck: "false",
    });
    const none = element(
      "button",
      { class: "button", id: "none", type: "button", "aria-disabled": "true" },
      say("none"),
    );
    const asked = ask({ ...step, told: place === 0 ? step.told : null }, page, {
      title: say("title"),
      text: say("text"),
      isPlain: true,
      body: element(
        "div",
        { class: "check-beside" },
        element("div", { class: "check-surround" }, placeFor(step.public["size"], coming, say)),
        element(
          "div",
          { class: "check-fields plate-fields" },
          element("p", { class: "small soft" }, say("place", { place: place + 1, total: names.length })),
          element("label", { class: "check-label", for: "number" }, say("number"), field),
          none,
        ),
      ),
      coming,
      gap: () => (field.value.trim() ? null : { reason: say("left"), focus: () => field.focus() }),
      onShown: (refresh) => {
        field.addEventListener("input", refresh);
        field.addEventListener("keydown", ({ key }) => {
          if (key === "Enter") document.getElementById("next")?.click();
        });
        field.addEventListener("change", () => log.add("change", null, { what: name, value: field.value }));
        // A keyboard that slides over the plate comes only when it is asked for.
        if (place > 0 && !matchMedia("(pointer: coarse)").matches) field.focus({ preventScroll: true });
      },
    });
    const seen = coming.then((image) => {
      none.removeAttribute("aria-disabled");
      return pressed(none).then(() => image);
    });
    const way = await Promise.race([asked, seen.then(() => NONE)]);
    if (way === "cannot") return CANNOT;
    scale = worse(scale, shownScale(await coming));
    if (way === NONE) log.add("click", null, { what: "none" });
    numbers[name] = way === NONE ? NONE : field.value;
    scrollTo(0, 0);
  }
  return { numbers, scale };
}
