// A line for the time of a clip, the head that plays, and two grips for the part that loops.

import { setAttribute, setVariable } from "../element.js";

/** @import { MakeElement, Say } from "../types" */

const LEAST_MS = 500;
const STEP_MS = 100;
const LEAP_MS = 1000;

/** A part of a clip, in milliseconds. @typedef {[from: number, to: number]} Part */

/** Return the line. `onChange` hears of every move of a grip, and when it has come to rest.
 *  @param {{ ms: number, part: Part, say: Say, element: MakeElement,
 *            onChange: (part: Part, how: { isFinal: boolean }) => void }} parts */
export function timeline({ ms, part, say, element, onChange }) {
  const rail = element("div", { class: "timeline-rail" });
  const loop = element("div", { class: "timeline-loop" });
  const head = element("div", { class: "timeline-head" });
  const grips = /** @type {const} */ (["from", "to"]).map((end, place) => grip(end, place));
  const node = element(
    "div",
    // Time runs from left to right in every language.
    { class: "timeline", dir: "ltr", role: "group", "aria-label": say("timeline.label") },
    rail,
    loop,
    head,
    grips,
  );

  /** @param {"from" | "to"} end @param {number} place 0 or 1 */
  function grip(end, place) {
    const handle = element("div", {
      class: `timeline-grip timeline-${end}`,
      role: "slider",
      tabindex: 0,
      "aria-label": say(`timeline.${end}`),
      "aria-orientation": "horizontal",
      "aria-valuemin": 0,
      "aria-valuemax": ms / 1000,
    });
    /** Where on the grip it was taken hold of. @type {number | null} */
    let held = null;
    handle.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      event.preventDefault();
      handle.focus();
      handle.setPointerCapture(event.pointerId);
      held = event.clientX - edge(place);
    });
    handle.addEventListener("pointermove", (event) => {
      if (held !== null) move(place, under(event.clientX - held), { isFinal: false });
    });
    for (const name of ["pointerup", "pointercancel"]) {
      handle.addEventListener(name, () => {
        if (held === null) return;
        held = null;
        onChange(part, { isFinal: true });
      });
    }
    handle.addEventListener("keydown", (event) => {
      const next = moved(event.key, part[place]);
      if (next === null || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      move(place, next, { isFinal: true });
    });
    return handle;
  }

  /** @param {string} key @param {number} at @returns {number | null} */
  function moved(key, at) {
    switch (key) {
      case "ArrowRight":
      case "ArrowUp":
        return at + STEP_MS;
      case "ArrowLeft":
      case "ArrowDown":
        return at - STEP_MS;
      case "PageUp":
        return at + LEAP_MS;
      case "PageDown":
        return at - LEAP_MS;
      case "Home":
        return 0;
      case "End":
        return ms;
      default:
        return null;
    }
  }

  /** @param {number} place @param {number} at milliseconds @param {{ isFinal: boolean }} how */
  function move(place, at, how) {
    const [from, to] = part;
    const least = Math.min(LEAST_MS, ms);
    part =
      place === 0
        ? [Math.round(Math.max(0, Math.min(at, to - least))), to]
        : [from, Math.round(Math.min(ms, Math.max(at, from + least)))];
    onChange(part, how);
  }

  /** Where an end of the part is in the window. @param {number} place */
  function edge(place) {
    const { left, width } = rail.getBoundingClientRect();
    return left + (width * part[place]) / ms;
  }

  /** @param {number} x in the window */
  function under(x) {
    const { left, width } = rail.getBoundingClientRect();
    return Math.round((ms * (x - left)) / width / STEP_MS) * STEP_MS;
  }

  return {
    element: node,
    /** @param {{ at: number, isOn: boolean, isHeld: boolean }} state */
    draw({ at, isOn, isHeld }) {
      setVariable(node, "--at", String(Math.min(100, (100 * at) / ms)));
      setVariable(node, "--from", String((100 * part[0]) / ms));
      setVariable(node, "--to", String((100 * part[1]) / ms));
      node.classList.toggle("is-held", isHeld);
      loop.hidden = !isOn;
      grips.forEach((handle, place) => {
        handle.hidden = !isOn;
        setAttribute(handle, "aria-valuenow", String(part[place] / 1000));
        setAttribute(handle, "aria-valuetext", say("timeline.seconds", { n: part[place] / 1000 }));
      });
    },
  };
}
