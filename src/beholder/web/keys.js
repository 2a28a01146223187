// Single keys: who listens to which, and the switch that turns them all off.

/** @import { Storage } from "./storage.js" */
/** @import { Binding } from "./types" */

/** @typedef {ReturnType<typeof openKeys>} Keys */

/** Return the keyboard of the page.
 *  @param {Storage} storage keeps the switch */
export function openKeys(storage) {
  /** @type {Set<Binding>} */
  const bound = new Set();
  let isOn = storage.get("keys") !== false;

  document.addEventListener("keydown", (event) => {
    if (!isOn || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (document.querySelector("dialog[open]") !== null) return;
    const key = nameOf(event);
    if (isTyping(event.target) || isPressed(event.target, key)) return;
    for (const binding of bound) {
      if (!binding.keys.includes(key)) continue;
      event.preventDefault();
      binding.run(key);
      return;
    }
  });

  return {
    /** Listen to keys until the signal ends. @param {Binding[]} bindings @param {AbortSignal} signal */
    bind(bindings, signal) {
      for (const binding of bindings) bound.add(binding);
      signal.addEventListener("abort", () => bindings.forEach((binding) => bound.delete(binding)));
    },
    /** @returns {Binding[]} */
    list: () => [...bound],
    get isOn() {
      return isOn;
    },
    set isOn(value) {
      isOn = value;
      storage.set("keys", value);
    },
  };
}

/** @param {KeyboardEvent} event */
function nameOf(event) {
  if (/^[\x20-\x7e]$/.test(event.key) && /[a-z0-9 ?]/i.test(event.key)) return event.key.toLowerCase();
  // French rows of digits and Greek or Arabic letters: go by the place of the key.
  const place = /^(?:Key|Digit|Numpad)([A-Z0-9])$/.exec(event.code);
  return place !== null && !event.shiftKey && event.key.length === 1 ? place[1].toLowerCase() : event.key.toLowerCase();
}

/** @param {EventTarget | null} target */
function isTyping(target) {
  if (!(target instanceof HTMLElement)) return false;
  return target.matches(
    "textarea, select, [contenteditable], input:not([type=range], [type=radio], [type=checkbox], [type=button])",
  );
}

const PRESSED = "button, a[href], summary, input[type=checkbox]";

/** Whether Space or Enter already mean something there: Space also chooses an answer that is not chosen yet.
 *  @param {EventTarget | null} target @param {string} key */
function isPressed(target, key) {
  if (!(target instanceof HTMLElement)) return false;
  if (key === " " && target.matches("input[type=radio]:not(:checked)")) return true;
  return (key === " " || key === "enter") && target.matches(PRESSED);
}
