// The grey room in which stimuli are shown by themselves: names stand outside the picture, never over it.

import { element, fill } from "../element.js";
import { sizeTo } from "./screen.js";
import { zoom } from "./zoom.js";

/** @import { Show } from "./theatre.js" */
/** @import { Slot, Stage, Trial } from "../types" */

const NAME_PX = 40; // what a name and the room around it take

/** Return what a slot is called while it is shown. @param {Trial} trial @param {Stage} stage @param {Show} show
 *  @param {Slot} slot @returns {string} */
export function caption(trial, { say, label }, { slots, way, passes }, slot) {
  if (way === "one") return "";
  if (slot.label !== null && /^[a-z]/.test(slot.label)) return label(slot);
  const hasReference = slots.some((one) => one.label === "reference");
  if (hasReference && slots.length === 2) return say(way === "sequence" ? "theatre.rate" : "theatre.rated");
  if (passes > 1) return label(slot); // then its scale has that letter
  if (way === "sequence") return say(`theatre.place.${slots.indexOf(slot) + 1}`);
  if (slots.length !== 2 || slots.some((one) => one.label !== null && /^[a-z]/.test(one.label))) return label(slot);
  return say(slots.indexOf(slot) === 0 ? "theatre.left" : "theatre.right");
}

/** Return the room for a show. @param {Trial} trial @param {Stage} stage @param {Show} show */
export function cinema(trial, stage, show) {
  const { say, player } = stage;
  const { slots, way } = show;
  const { medium, width, height } = slots[0].media;
  const { size, sound } = trial.playback;
  const isStill = medium === "image" || medium === "text";
  const share = size === "native" ? 1 : parseFloat(size) / 100;
  const shown = { width: (width * share) / devicePixelRatio, height: (height * share) / devicePixelRatio };
  /** Whether a name beside the picture would make it smaller than the study says. */
  const isTight =
    way === "sequence" &&
    medium === "video" &&
    size !== "fit" &&
    shown.width <= screen.width &&
    shown.height > screen.height - 2 * NAME_PX;

  const figures = slots.map((slot) => {
    const name = caption(trial, stage, show, slot);
    const node = player.node(slot.id);
    node.classList.remove("is-shown");
    const place = element("div", { class: "cinema-place" }, node);
    const figure = element(
      "figure",
      { class: "cinema-figure" },
      name !== "" && !isTight && element("figcaption", { class: "cinema-name" }, name),
      place,
    );
    sizeTo(figure, size, slot.media);
    return { slot, figure, place };
  });
  const names = element("p", { class: "cinema-next" });
  const fill_ = element("span", { class: "meter-fill" });
  const meter =
    medium === "audio" &&
    element(
      "div",
      { class: "meter", role: "progressbar", "aria-label": say("theatre.meter"), "aria-valuemin": 0, "aria-valuemax": 100 },
      fill_,
    );
  const on = element("button", { class: "button button-primary", id: "next", type: "button", hidden: true }, say("go-on"));
  const silent = medium === "video" && sound === "off" && way === "together" && say("screen.silent");
  const tools = medium === "image" && zoom(figures.map(({ place }) => place), stage);
  const buttons = stage.marks?.buttons();
  const foot =
    (isStill || silent || buttons) &&
    element("div", { class: "cinema-foot" }, tools, silent && element("p", {}, silent), buttons, on);
  const room = element("div", { class: "cinema-show" }, figures.map(({ figure }) => figure), way === "sequence" && names);
  const node = element("div", { class: `cinema cinema-${medium} cinema-${way}${buttons ? " cinema-marked" : ""}`, hidden: true }, room, meter, foot);
  /** @type {(() => void) | null} */
  let cut = null;
  let isAtRest = false;

  return {
    element: node,
    isTight,
    /** Whether nothing goes on by itself now. */
    get isAtRest() {
      return isAtRest;
    },
    /** @param {Slot[]} seen */
    show(seen) {
      [isAtRest, on.hidden] = [false, true];
      fill(names);
      for (const { slot, figure } of figures) figure.classList.toggle("is-shown", seen.includes(slot));
      this.draw();
    },
    draw() {
      const slot = slots.find(({ id }) => id === player.current);
      const value = slot === undefined ? 0 : (100 * player.position()) / slot.media.ms;
      fill_.style.setProperty("--value", String(value));
      if (meter) meter.setAttribute("aria-valuenow", String(Math.round(value)));
    },
    /** Nothing but grey for some seconds. @param {number} seconds @param {Slot} coming @returns {Promise<void>} */
    rest(seconds, coming) {
      for (const { figure } of figures) figure.classList.remove("is-shown");
      fill(names, isTight && caption(trial, stage, show, coming));
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, seconds * 1000);
        cut?.();
        cut = () => clearTimeout(timer);
        stage.signal.addEventListener("abort", () => clearTimeout(timer));
      });
    },
    /** Resolve when the person has looked for as long as they like. @returns {Promise<void>} */
    goOn() {
      [isAtRest, on.hidden] = [true, false];
      on.focus({ preventScroll: true });
      return new Promise((resolve) => on.addEventListener("click", () => resolve(), { once: true }));
    },
  };
}
