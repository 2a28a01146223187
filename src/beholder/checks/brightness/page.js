// Brightness: count the shapes that are barely lighter than their squares.

import { element } from "../../element.js";
import { ask, CANNOT, placeFor, shownScale } from "../../check_kit/frame.js";
import { pictures } from "../../check_kit/pictures.js";

/** @import { CheckPage } from "../../types" */

const SHAPES = ["circles", "triangles"];
const MOST = 16;

/** @type {CheckPage} */
export default async function brightness(step, page) {
  const { say, log, main } = page;
  const [coming] = pictures(step, page, ["matrix"], () => say("picture"));
  /** @type {{ [shape: string]: HTMLInputElement }} */
  const fields = {};
  const rows = SHAPES.map((shape) => {
    fields[shape] = element("input", {
      class: "field check-number",
      id: shape,
      type: "text",
      inputmode: "numeric",
      maxlength: 2,
      autocomplete: "off",
    });
    fields[shape].value = String(log.values.get(shape) ?? "");
    return element("label", { class: "check-label", for: shape }, say(shape), fields[shape]);
  });
  const gap = () => {
    const open = SHAPES.find((shape) => !isCount(fields[shape].value));
    if (open === undefined) return null;
    const isWrong = fields[open].value.trim() !== "";
    return { reason: say(isWrong ? "number" : "left"), focus: () => fields[open].focus() };
  };
  const form = element("form", { class: "check-fields", novalidate: true }, rows);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter") /** @type {HTMLElement | null} */ (main.querySelector("#next"))?.click();
  });
  const way = await ask(step, page, {
    title: say("title"),
    text: say("text"),
    isPlain: true,
    body: element(
      "div",
      { class: "check-beside" },
      element("div", { class: "check-surround" }, placeFor(step.public["size"], coming, say)),
      form,
    ),
    coming,
    gap,
    onShown: (refresh) => {
      for (const shape of SHAPES)
        fields[shape].addEventListener("input", () => {
          log.values.set(shape, fields[shape].value);
          log.add("change", null, { what: shape, value: fields[shape].value });
          refresh();
        });
    },
  });
  if (way === "cannot") return CANNOT;
  const [circles, triangles] = SHAPES.map((shape) => Number(fields[shape].value));
  return { circles, triangles, scale: shownScale(await coming) };
}

/** @param {string} text */
function isCount(text) {
  return /^\s*\d{1,2}\s*$/.test(text) && Number(text) <= MOST;
}
