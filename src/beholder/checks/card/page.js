// The size of a pixel: an outline is set to the size of a bank card, twice from different beginnings.

import { element } from "../../element.js";
import { pressed } from "../../frame/sheet.js";
import { stylesheet } from "../../stylesheet.js";
import { ask } from "../../check_kit/frame.js";

/** @import { Page } from "../../run.js" */
/** @import { CheckPage, CheckStep } from "../../types" */

const LEAST = 100;
const MOST = 760;
const WIDEST = 1100;
const VAST = 2400; // a screen with so many CSS pixels may have small ones
const NARROW = 600; // such a window shows the card upright: a phone is narrower than a card is long

/** @type {CheckPage} */
export default async function card(step, page) {
  await stylesheet("vision");
  /** @type {number[]} */
  const starts = step.public["starts"];
  /** @type {number[]} */
  const widths = [];
  for (const [place, start] of starts.entries()) {
    if (place === 2 && Math.max(...widths) / Math.min(...widths) - 1 <= step.public["apart"]) break;
    const width = await setting(step, page, start, place);
    if (width === null) return { none: true };
    widths.push(width);
    scrollTo(0, 0);
  }
  // Fingers can enlarge a page as well.
  return { widths, dpr: devicePixelRatio * (visualViewport?.scale ?? 1), moved: true };
}

/** Let the outline be set once; null: there is no card.
 *  @param {CheckStep} step @param {Page} page @param {number} start @param {number} place
 *  @returns {Promise<number | null>} */
async function setting(step, page, start, place) {
  const { say, log } = page;
  const isVast = screen.width >= VAST && innerWidth > WIDEST;
  const grain = devicePixelRatio >= 2 ? 0.5 : 1;
  let isMoved = false;
  const outline = element("div", {
    class: innerWidth < NARROW ? "card-outline is-upright" : "card-outline",
    vars: { shape: step.public["shape"] },
  });
  const slider = element("input", {
    class: "card-slider",
    id: "width",
    type: "range",
    min: LEAST,
    max: isVast ? WIDEST : MOST,
    step: grain,
    value: start,
    "aria-label": say("slider"),
  });
  const draw = () => {
    outline.style.setProperty("--long", `${slider.value}px`);
    slider.setAttribute("aria-valuetext", say("pixels", { n: slider.value }));
  };
  draw();
  const button = (/** @type {"smaller" | "larger"} */ word, /** @type {string} */ sign) =>
    element("button", { class: "button card-nudge", id: word, type: "button", "aria-label": say(word) }, sign);
  const [smaller, larger] = [button("smaller", "−"), button("larger", "+")];
  const none = element("button", { class: "button card-none", id: "none", type: "button" }, say("none"));
  const asked = ask({ ...step, told: place === 0 ? step.told : null }, page, {
    title: say("title"),
    text: say(["text", "again", "third"][place]),
    isPlain: true,
    body: element(
      "div",
      { class: isVast ? "card is-vast" : "card" },
      element("div", { class: "card-tools" }, smaller, slider, larger),
      none,
      element("div", { class: "check-surround card-desk" }, outline),
    ),
    gap: () => (isMoved ? null : { reason: say("left"), focus: () => slider.focus() }),
    onShown: (refresh) => {
      const moved = () => {
        isMoved = true;
        draw();
        refresh();
      };
      const note = () => log.add("change", null, { what: "width", value: Number(slider.value) });
      const nudge = (/** @type {number} */ by) => () => {
        slider.value = String(Number(slider.value) + by);
        note();
        moved();
      };
      slider.addEventListener("input", moved);
      slider.addEventListener("change", note);
      smaller.addEventListener("click", nudge(-grain));
      larger.addEventListener("click", nudge(grain));
    },
  });
  const way = await Promise.race([asked, pressed(none).then(() => null)]);
  return way === null ? null : Number(slider.value);
}
