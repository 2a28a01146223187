// Looking closer at images: one factor and one place for all of them, so that flipping compares the same spot.

import { element } from "../element.js";

/** @import { Stage } from "../types" */

const FACTORS = [1, 1.5, 2, 3, 4, 6, 8];

/** Return buttons that enlarge what is in some places, all alike; keys + - 0 do the same.
 *  @param {HTMLElement[]} places @param {Pick<Stage, "say" | "log" | "keys" | "signal" | "player">} stage */
export function zoom(places, { say, log, keys, signal, player }) {
  let step = 0;
  /** @param {number} to @param {"click" | "key"} by */
  function set(to, by) {
    const before = FACTORS[step];
    step = Math.max(0, Math.min(FACTORS.length - 1, to));
    const ratio = FACTORS[step] / before;
    if (ratio === 1) return;
    log(by, player.current, { what: "zoom", factor: FACTORS[step] });
    for (const place of places) {
      const [x, y] = [place.scrollLeft + place.clientWidth / 2, place.scrollTop + place.clientHeight / 2];
      place.style.setProperty("--zoom", String(FACTORS[step]));
      place.classList.toggle("is-zoomed", step > 0);
      place.tabIndex = step > 0 ? 0 : -1; // the arrow keys move it
      place.scrollTo(x * ratio - place.clientWidth / 2, y * ratio - place.clientHeight / 2);
    }
    draw();
  }
  /** @param {string} name @param {string} sign @param {() => number} to */
  const button = (name, sign, to) =>
    element(
      "button",
      { class: "button zoom-button", type: "button", "aria-label": say(`zoom.${name}`), on: { click: () => set(to(), "click") } },
      sign,
    );
  const [out, whole, closer] = [
    button("out", "−", () => step - 1),
    button("whole", "1 ×", () => 0),
    button("in", "+", () => step + 1),
  ];
  function draw() {
    whole.textContent = `${FACTORS[step]} ×`;
    out.setAttribute("aria-disabled", String(step === 0));
    closer.setAttribute("aria-disabled", String(step === FACTORS.length - 1));
  }
  draw();

  // What is looked at in one place is looked at in all.
  for (const place of places) {
    place.tabIndex = -1;
    place.addEventListener("scroll", () => {
      for (const other of places) if (other !== place) other.scrollTo(place.scrollLeft, place.scrollTop);
    });
    drag(place);
  }
  // After the view has bound its own: a method may use these keys for something else.
  setTimeout(() => {
    if (signal.aborted) return;
    keys(
      [
        { keys: ["+", "="], shown: "+", label: say("zoom.in"), run: () => set(step + 1, "key") },
        { keys: ["-"], shown: "−", label: say("zoom.out"), run: () => set(step - 1, "key") },
        { keys: ["0"], shown: "0", label: say("zoom.whole"), run: () => set(0, "key") },
      ],
      signal,
    );
  });
  return element("div", { class: "zoom", role: "group", "aria-label": say("zoom") }, out, whole, closer);
}

/** Move a place by its content, with a mouse; fingers can. @param {HTMLElement} place */
function drag(place) {
  place.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse" || !place.classList.contains("is-zoomed")) return;
    place.setPointerCapture(event.pointerId);
    const over = new AbortController();
    place.addEventListener("pointermove", (move) => place.scrollBy(-move.movementX, -move.movementY), {
      signal: over.signal,
    });
    for (const name of ["pointerup", "pointercancel"]) {
      place.addEventListener(name, () => over.abort(), { signal: over.signal });
    }
  });
}
