// How a page is operated: every click, and where a study asks for it how each press came about.

import { element } from "./element.js";

/** @import { Log } from "./log.js" */
/** @import { Json, Say } from "./types" */

/** @typedef {ReturnType<typeof openPresses>} Presses */

const CONTROLS = "button, a[href], input, select, textarea, label, summary";
const FIELDS = "textarea, select, input:not([type=radio], [type=checkbox], [type=range], [type=button])";
// What drivers leave in a page for themselves; `navigator.webdriver` is the one that the standard asks for.
const MARKS = [
  "__nightmare", "_phantom", "callPhantom", "callSelenium", "_Selenium_IDE_Recorder", "__webdriver_evaluate",
  "__selenium_evaluate", "__driver_evaluate", "__fxdriver_evaluate", "domAutomationController", "__pwInitScripts",
  "__playwright__binding__",
]; // prettier-ignore

/** Log every click that no button logs itself: on fields, whatever it changes, and beside controls, with the name of
 *  what is there.
 *  @param {Log} log @param {AbortSignal} signal */
export function watchClicks(log, signal) {
  let before = 0;
  addEventListener("click", () => (before = log.events.length), { capture: true, signal });
  addEventListener(
    "click",
    ({ target, detail }) => {
      if (!(target instanceof Element) || target.closest("[inert]")) return;
      const control = target.closest(CONTROLS);
      const isField = control?.matches("input, select, textarea") ?? false;
      // A label hands its click on to its field; arrow keys click radio buttons, and log that they are keys.
      if (control?.matches("label") || (isField ? detail === 0 : control !== null && log.events.length > before)) return;
      log.add("click", slotOf(target), { what: control === null ? "beside" : "control", on: nameOf(control ?? target) });
    },
    { signal },
  );
}

/** @param {Element} node */
function slotOf(node) {
  const holder = node.closest("[data-slot]");
  return (holder instanceof HTMLElement && holder.dataset["slot"]) || null;
}

/** @param {Element} node */
function nameOf(node) {
  const named = node.closest("[id], [class]") ?? node;
  return named.id || named.classList[0] || named.localName;
}

/** Return a watch over how the page is operated: never which key, nothing of what is typed, and no path of the pointer,
 *  only how far it went and in how many steps.
 *  @param {Say} say */
export function openPresses(say) {
  /** @type {Log | null} */
  let log = null;
  let moves = 0;
  /** @type {[number, number] | null} */
  let last = null;
  let at = [NaN, NaN];
  let isActing = false; // while the browser handles what somebody did, to which our own code may add a click
  /** @type {Map<string, number>} */
  const down = new Map();
  const listening = { capture: true, passive: true };

  /** @param {{ [name: string]: Json }} data */
  function add(data) {
    const isAway = document.hidden || !document.hasFocus();
    log?.add("press", null, isAway ? { ...data, away: true } : data);
  }
  function act() {
    isActing = true;
    setTimeout(() => (isActing = false));
  }

  addEventListener(
    "pointermove",
    ({ pointerType, screenX, screenY }) => {
      // Browsers tell of a move too when the page moves under a pointer that stands still.
      if (pointerType === "mouse" && (screenX !== at[0] || screenY !== at[1])) moves += 1;
      at = [screenX, screenY];
    },
    listening,
  );
  addEventListener(
    "pointerdown",
    (event) => {
      if (!event.isTrusted) return;
      act();
      const { pointerType: by, screenX, screenY } = event;
      if (by !== "mouse") return add({ by: by || "pen" });
      const gone = last === null ? null : Math.round(Math.hypot(screenX - last[0], screenY - last[1]));
      add({ by, moves, gone, off: offCentre(event) });
      [last, moves, at] = [[screenX, screenY], 0, [screenX, screenY]];
    },
    listening,
  );
  addEventListener(
    "keydown",
    ({ code, isTrusted, repeat, isComposing, target }) => {
      if (!isTrusted) return;
      act();
      // Keyboards on a touch screen have no code, and let go at once.
      if (code && !repeat && !isComposing && !isField(target)) down.set(code, performance.now());
    },
    listening,
  );
  addEventListener(
    "keyup",
    ({ code, isTrusted }) => {
      if (!isTrusted) return;
      act();
      const since = down.get(code);
      down.delete(code);
      if (since !== undefined) add({ by: "key", held: Math.round(performance.now() - since) });
    },
    listening,
  );
  // By a program in the page, or, where the browser vouches for it, by a screen reader or a voice.
  addEventListener(
    "click",
    ({ isTrusted, detail, target }) => {
      if (isActing || isField(target) || (target instanceof Element && target.closest("[inert]"))) return;
      if (!isTrusted) add({ by: "none", trusted: false });
      else if (detail === 0) add({ by: "none" });
      if (isTrusted) act();
    },
    listening,
  );
  addEventListener(
    "change",
    ({ isTrusted, target }) => {
      if (!isTrusted && !isActing && !isField(target)) add({ by: "none", trusted: false });
    },
    listening,
  );
  addEventListener(
    "paste",
    ({ clipboardData, target }) => {
      if (isField(target)) add({ by: "paste", letters: clipboardData?.getData("text").length ?? 0 });
    },
    listening,
  );

  // Nobody can see, hear, reach or press them; a program that presses all that a page has does.
  const met = () => add({ by: "none", decoy: true });
  const decoys = element(
    "div",
    { class: "unseen", "aria-hidden": "true", inert: true, on: { click: met, change: met } },
    element("button", { class: "button button-primary", type: "button", tabindex: "-1" }, say("next")),
    element("input", { type: "radio", name: "answer", value: "5", tabindex: "-1", autocomplete: "off" }),
  );

  return {
    decoys,
    /** Log what happens from now on as part of a step. @param {Log} into @param {AbortSignal} signal */
    watch(into, signal) {
      log = into;
      const driver = marks();
      if (driver.length > 0) into.add("measure", null, { driver });
      signal.addEventListener("abort", () => {
        if (log === into) log = null;
      });
    },
  };
}

/** Return by what this browser says that a program drives it. @returns {string[]} */
function marks() {
  const told = MARKS.filter((name) => name in window || name in document);
  if (navigator.webdriver) told.unshift("webdriver");
  if (navigator.userAgent.includes("Headless")) told.push("headless");
  return told;
}

/** Return how far from the middle of a control it was pressed, in pixels; null beside controls and on sliders.
 *  @param {PointerEvent} event */
function offCentre({ target, clientX, clientY }) {
  const control = target instanceof Element ? target.closest(CONTROLS) : null;
  if (control === null || control.matches("[type=range]")) return null;
  const { x, y, width, height } = control.getBoundingClientRect();
  return Math.round(Math.max(Math.abs(clientX - x - width / 2), Math.abs(clientY - y - height / 2)));
}

/** @param {EventTarget | null} target */
function isField(target) {
  return target instanceof Element && target.matches(FIELDS);
}
