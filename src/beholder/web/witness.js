// What happens to the window while a page is shown: hidden, left, shrunk, touched.

/** @import { Log } from "./log.js" */
/** @import { AnswerBody, Json } from "./types" */

/** Log what happens to the window until the signal ends.
 *  @param {Log} log @param {AbortSignal} signal */
export function witness(log, signal) {
  document.addEventListener("visibilitychange", () => log.add("visibility", null, { hidden: document.hidden }), {
    signal,
  });
  document.addEventListener(
    "fullscreenchange",
    () => log.add("fullscreen", null, { on: document.fullscreenElement !== null }),
    { signal },
  );
  addEventListener("focus", () => log.add("focus", null, { has: true }), { signal });
  addEventListener("blur", () => log.add("focus", null, { has: false }), { signal });
}

/** Return a function that tells by what the person last acted.
 *  @returns {() => AnswerBody["input"]} */
export function watchInput() {
  /** @type {AnswerBody["input"]} */
  let input = matchMedia("(pointer: coarse)").matches ? "touch" : "mouse";
  addEventListener(
    "pointerdown",
    (event) => {
      input = event.pointerType === "mouse" ? "mouse" : "touch";
    },
    { capture: true, passive: true },
  );
  addEventListener(
    "keydown",
    () => {
      input = "keyboard";
    },
    { capture: true, passive: true },
  );
  return () => input;
}

/** Return what the study has to know about the device; nothing that would tell one person from another.
 *  @returns {Json} */
export function device() {
  return {
    screen: [screen.width, screen.height],
    viewport: [innerWidth, innerHeight],
    dpr: devicePixelRatio,
    touch: navigator.maxTouchPoints > 0,
    pointer: matchMedia("(pointer: fine)").matches
      ? "fine"
      : matchMedia("(pointer: coarse)").matches
        ? "coarse"
        : "none",
    language: navigator.language,
    timezone_offset: new Date().getTimezoneOffset(),
    platform:
      /** @type {{ userAgentData?: { platform?: string } }} */ (navigator).userAgentData?.platform ??
      navigator.platform,
    browser: browser(),
  };
}

/**
 * The name and major version of the browser; others call themselves Chrome as well, and are asked for first.
 * @returns {string}
 */
function browser() {
  for (const name of ["Firefox", "Edg", "OPR", "Chrome", "Version"]) {
    const found = new RegExp(`${name}/(\\d+)`).exec(navigator.userAgent);
    if (found) return `${name} ${found[1]}`;
  }
  return "";
}
