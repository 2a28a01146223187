// The bar on every page: who asks, how far, is it saved, help.

import { element, fill } from "../element.js";
import { icon } from "../icons.js";

/** @import { Say, Step } from "../types" */

const MOST_SEGMENTS = 24;

/** Return the top bar, with a place for the banner.
 *  @param {{ say: Say, title: string, onHelp: () => void, banner: HTMLElement }} parts */
export function openTopbar({ say, title, onHelp, banner }) {
  const name = element("span", {}, title);
  const progress = element("div", { class: "progress", role: "group", "aria-label": say("progress.label") });
  const saved = element("span", { class: "saved", hidden: true });
  const help = element(
    "button",
    { class: "button button-quiet", id: "help", type: "button", on: { click: onHelp } },
    icon("help"),
    element("span", { class: "button-word" }, say("help")),
  );
  const bar = element(
    "header",
    { class: "topbar" },
    element("div", { class: "topbar-study" }, icon("mark"), name),
    progress,
    banner,
    element("div", { class: "topbar-side" }, saved, help),
  );
  return {
    element: bar,
    /** @param {string} text */
    setTitle(text) {
      name.textContent = text;
    },
    /** @param {Step} step */
    setStep({ kind, progress: [place, total] }) {
      progress.hidden = kind === "end" || total < 1;
      fill(
        progress,
        element("span", {}, sentence(say("progress.page", { page: "\u0001", total }), place)),
        segments(place, total),
      );
    },
    /** @param {{ waiting: number, isReached: boolean, isAny: boolean, isAll: boolean }} state */
    setSaved({ waiting, isReached, isAny, isAll }) {
      saved.hidden = waiting === 0 && !isAny;
      saved.classList.toggle("is-waiting", waiting > 0);
      const words =
        waiting > 0
          ? say(isReached ? "saved.sending" : "saved.waiting", { n: waiting })
          : say(isAll ? "saved.all" : "saved");
      fill(
        saved,
        icon(waiting > 0 && !isReached ? "offline" : "tick"),
        element("span", { class: "saved-word" }, words),
      );
    },
  };
}

/** @param {string} text @param {number} number */
function sentence(text, number) {
  const [before, after] = text.split("\u0001");
  return [before, element("b", {}, number), after];
}

/** @param {number} place @param {number} total */
function segments(place, total) {
  if (total > MOST_SEGMENTS)
    return element(
      "span",
      { class: "meter progress-meter", "aria-hidden": "true" },
      element("span", { class: "meter-fill", vars: { value: (100 * place) / total } }),
    );
  return element(
    "ol",
    { class: "progress-steps", "aria-hidden": "true", vars: { many: total } },
    Array.from({ length: total }, (_, at) =>
      element("li", { class: at + 1 < place ? "is-done" : at + 1 === place ? "is-now" : null }),
    ),
  );
}
