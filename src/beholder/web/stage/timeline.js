// A line for the time of a clip, the head that plays, and two grips for the part that loops.

import { setAttribute, setVariable, write } from "../element.js";

/** @import { MakeElement, Say } from "../types" */

const LEAST_MS = 500;
const STEP_MS = 100;
const FINE_MS = 10; // with Shift
const LEAP_MS = 1000;

/** A part of a clip, in milliseconds. @typedef {[from: number, to: number]} Part */

/** Return the line. `onChange` hears of every move of a grip, and when it has come to rest. `wave`: what is drawn on it,
 *  and its name.
 *  @param {{ ms: number, part: Part, say: Say, element: MakeElement, wave: { drawing: HTMLElement, name: string } | null,
 *            onChange: (part: Part, how: { isFinal: boolean }) => void }} parts */
export function timeline({ ms, part, say, element, wave, onChange }) {
  const rail = element("div", { class: "timeline-rail" });
  const loop = element("div", { class: "timeline-loop" });
  const head = element("div", { class: "timeline-head" });
  const grips = /** @type {const} */ (["from", "to"]).map((end, place) => grip(end, place));
  const times = element("span", { class: "timeline-times", "aria-hidden": "true" });
  const node = element(
    "div",
    // Time runs from left to right in every language.
    {
      class: wave === null ? "timeline" : "timeline has-wave",
      dir: "ltr",
      role: "group",
      "aria-label": say("timeline.label"),
    },
    rail,
    loop,
    wave !== null && [
      wave.drawing,
      element("span", { class: "timeline-name", dir: "auto", "aria-hidden": "true" }, wave.name),
      times,
    ],
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
      "aria-keyshortcuts": end === "from" ? "," : ".",
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
      if (held === null) return;
      move(place, under(event.clientX - held, event.shiftKey ? FINE_MS : STEP_MS), { isFinal: false });
    });
    for (const name of ["pointerup", "pointercancel"]) {
      handle.addEventListener(name, () => {
        if (held === null) return;
        held = null;
        onChange(part, { isFinal: true });
      });
    }
    handle.addEventListener("keydown", (event) => {
      const next = moved(event, part[place]);
      if (next === null || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      move(place, next, { isFinal: true });
    });
    return handle;
  }

  /** @param {KeyboardEvent} event @param {number} at @returns {number | null} */
  function moved({ key, shiftKey }, at) {
    const step = shiftKey ? FINE_MS : STEP_MS;
    switch (key) {
      case "ArrowRight":
      case "ArrowUp":
        return at + step;
      case "ArrowLeft":
      case "ArrowDown":
        return at - step;
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

  /** @param {number} x in the window @param {number} step milliseconds */
  function under(x, step) {
    const { left, width } = rail.getBoundingClientRect();
    return Math.round((ms * (x - left)) / width / step) * step;
  }

  return {
    element: node,
    /** Put an end where it plays now; the other one gives way where the part would be too short.
     *  @param {"from" | "to"} end @param {number} at milliseconds */
    put(end, at) {
      const least = Math.min(LEAST_MS, ms);
      const [from, to] = part;
      if (end === "from") {
        const next = Math.round(Math.min(at, ms - least));
        part = [next, to < next + least ? ms : to];
      } else {
        const next = Math.round(Math.min(ms, Math.max(at, least)));
        part = [from > next - least ? 0 : from, next];
      }
      onChange(part, { isFinal: true });
    },
    /** Let the part be all of it again. */
    clear() {
      part = [0, ms];
      onChange(part, { isFinal: true });
    },
    /** @param {{ at: number, isOn: boolean, isHeld: boolean }} state */
    draw({ at, isOn, isHeld }) {
      setVariable(node, "--at", String(Math.min(100, (100 * at) / ms)));
      setVariable(node, "--from", String((100 * part[0]) / ms));
      setVariable(node, "--to", String((100 * part[1]) / ms));
      node.classList.toggle("is-held", isHeld);
      loop.hidden = times.hidden = !isOn;
      write(times, `${moment(part[0])} – ${moment(part[1])}`);
      grips.forEach((handle, place) => {
        handle.hidden = !isOn;
        setAttribute(handle, "aria-valuenow", String(part[place] / 1000));
        // Words have one decimal.
        const n = part[place] % STEP_MS === 0 ? part[place] / 1000 : (part[place] / 1000).toFixed(2);
        setAttribute(handle, "aria-valuetext", say("timeline.seconds", { n }));
      });
    },
  };
}

/** Return a time to the tenth of a second. @param {number} ms */
export function seconds(ms) {
  const tenths = Math.round(ms / 100);
  const rest = String((tenths % 600) / 10);
  return `${Math.floor(tenths / 600)}:${(rest.includes(".") ? rest : `${rest}.0`).padStart(4, "0")}`;
}

/** Return the time of an end of the part: finer where it was put with Shift, or while it played. @param {number} ms */
export function moment(ms) {
  const rounded = Math.round(ms / FINE_MS) * FINE_MS;
  if (rounded % STEP_MS === 0) return seconds(rounded);
  return `${Math.floor(rounded / 60_000)}:${((rounded % 60_000) / 1000).toFixed(2).padStart(5, "0")}`;
}
