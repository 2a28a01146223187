// A calm page with one column: a heading, a panel, the way on.

import { element } from "../element.js";
import { hasHeading, markup } from "../markup.js";

/** @import { Words } from "../types" */

/** Return a text of the study on a panel, under our heading unless it brings its own.
 *  @param {string} html @param {string} title */
export function prose(html, title) {
  const nodes = markup(html);
  const isTitled = hasHeading(nodes);
  const isEmpty = nodes.childNodes.length === 0;
  const own = nodes.firstElementChild;
  if (isTitled && own instanceof HTMLElement) own.tabIndex = -1;
  return [
    !isTitled && element("div", { class: "lead" }, element("h1", { tabindex: "-1" }, title)),
    !isEmpty && element("section", { class: "panel prose" }, nodes),
  ];
}

/** Return the foot of a calm page: why not yet, and the button. @param {HTMLElement} button @param {HTMLElement | null} reason */
export function actions(button, reason = null) {
  return element("div", { class: "actions" }, reason ?? element("span"), button);
}

/** Resolve when a button is pressed. @param {HTMLElement} button @returns {Promise<void>} */
export function pressed(button) {
  return new Promise((resolve) => button.addEventListener("click", () => resolve(), { once: true }));
}

/** Return a page that only tells something, a paragraph for each line. @param {string} title @param {Words} text @param {HTMLElement | null} [button] */
export function notice(title, text, button = null) {
  return element(
    "div",
    { class: "sheet sheet-middle" },
    element(
      "section",
      { class: "panel notice" },
      element("div", { class: "lead" }, element("h1", { tabindex: "-1" }, title), paragraphs(text)),
      button,
    ),
  );
}

/** Return a paragraph for each line of words. @param {Words} words */
export function paragraphs(words) {
  /** @type {Words[][]} */
  const lines = [[]];
  for (const one of Array.isArray(words) ? words : [words]) {
    const [first, ...rest] = typeof one === "string" ? one.split("\n") : [one];
    lines.at(-1)?.push(first);
    lines.push(...rest.map((line) => [line]));
  }
  return lines.map((line) => element("p", {}, line));
}
