// The line between two pictures in the same place: dragged by mouse, pen and finger, and moved by keys as a slider.

import { element, setAttribute, setVariable } from "../element.js";

/** @import { Say } from "../types" */
/** @import { Json } from "../types" */

const STEP = 1; // percent of the width
const LEAP = 10;
const REST_MS = 400; // after a key the line has come to rest

/** Return the line. `onMove` hears of every move; `onRest` when it has come to rest: where, and how far it was on the way.
 *  @param {{ say: Say, names: string[], at: number, onMove: (at: number) => void,
 *            onRest: (told: { [name: string]: Json }) => void }} parts */
export function wipe({ say, names, at, onMove, onRest }) {
  const [first, second] = names;
  const handle = element("div", {
    class: "wipe-handle",
    role: "slider",
    tabindex: 0,
    "aria-label": say("views.wipe.label", { first, second }),
    "aria-orientation": "horizontal",
    "aria-valuemin": 0,
    "aria-valuemax": 100,
  });
  const node = element("div", { class: "wipe", dir: "ltr" }, handle);
  /** How far it was since it last came to rest. @type {[low: number, high: number] | null} */
  let reach = null;
  let timer = 0;
  /** Where on the handle it was taken hold of. @type {number | null} */
  let held = null;

  /** @param {number} to */
  function move(to) {
    const next = Math.round(Math.max(0, Math.min(100, to)));
    if (next === at) return;
    reach ??= [at, at];
    at = next;
    reach = [Math.min(reach[0], at), Math.max(reach[1], at)];
    onMove(at);
  }
  function rest() {
    clearTimeout(timer);
    if (reach === null) return;
    const [low, high] = reach;
    reach = null;
    onRest({ line: at, low, high });
  }
  /** @param {number} x in the window */
  function under(x) {
    const { left, width } = node.getBoundingClientRect();
    return (100 * (x - left)) / width;
  }

  node.addEventListener("pointerdown", (event) => {
    if (!event.isPrimary || event.button !== 0) return;
    event.preventDefault();
    handle.focus({ preventScroll: true });
    node.setPointerCapture(event.pointerId);
    // Taken by its handle it stays under the finger; elsewhere it comes to it.
    held = event.target === handle ? under(event.clientX) - at : 0;
    move(under(event.clientX) - held);
  });
  node.addEventListener("pointermove", (event) => {
    if (held !== null) move(under(event.clientX) - held);
  });
  for (const name of ["pointerup", "pointercancel"]) {
    node.addEventListener(name, () => {
      held = null;
      rest();
    });
  }
  handle.addEventListener("keydown", (event) => {
    const step = event.shiftKey ? LEAP : STEP;
    /** @type {{ [key: string]: number }} */
    const places = {
      ArrowRight: at + step, ArrowUp: at + step, ArrowLeft: at - step, ArrowDown: at - step,
      PageUp: at + LEAP, PageDown: at - LEAP, Home: 0, End: 100,
    }; // prettier-ignore
    const to = places[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    move(to);
    clearTimeout(timer);
    timer = setTimeout(rest, REST_MS);
  });

  return {
    element: node,
    handle,
    rest,
    /** @param {{ at: number, isOn: boolean }} state */
    draw({ at, isOn }) {
      node.hidden = !isOn;
      setVariable(node, "--line", String(at));
      setAttribute(handle, "aria-valuenow", String(at));
      setAttribute(handle, "aria-valuetext", say("views.wipe.value", { first, second, left: at, right: 100 - at }));
    },
  };
}
