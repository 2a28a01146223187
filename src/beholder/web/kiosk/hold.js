// A button that works when it is held: nobody sends the next participant in by accident.

import { element } from "../element.js";

const HOLD_MS = 2000;

/** Return the button with its explanation. @param {string} word @param {string} text @param {() => void} onHeld */
export function holdable(word, text, onHeld) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const button = element(
    "button",
    { class: "button hold", id: "next-participant", type: "button", "aria-describedby": "hold-text" },
    element("span", {}, word),
  );
  const press = () => {
    if (timer !== undefined) return;
    button.classList.add("is-held");
    timer = setTimeout(() => {
      button.disabled = true;
      onHeld();
    }, HOLD_MS);
  };
  const release = () => {
    clearTimeout(timer);
    timer = undefined;
    button.classList.remove("is-held");
  };
  button.addEventListener("pointerdown", press);
  for (const name of ["pointerup", "pointerleave", "pointercancel", "keyup", "blur"])
    button.addEventListener(name, release);
  button.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") press();
  });
  button.addEventListener("contextmenu", (event) => event.preventDefault()); // a long press on a touch screen
  return element("div", { class: "holding" }, button, element("p", { class: "small soft", id: "hold-text" }, text));
}
