// What several pages draw with: panels, figures, statuses, tables, empty states.

import { element } from "../../web/element.js";
import { shape } from "./shapes.js";

/** @import { Child, Attributes } from "../../web/types" */
/** @import { Desk } from "./types" */

/** @typedef {"pass" | "fail" | "attention" | "unknown" | "now"} Status */

/** Return a panel with a heading. @param {string} title @param {{ name?: string, aside?: Child, foot?: Child }} parts
 *  @param {...Child} children */
export function panel(title, { name = "", aside = null, foot = null }, ...children) {
  const id = `panel-${name || title.toLowerCase().replaceAll(/\W+/g, "-")}`;
  return element(
    "section",
    { class: `panel${name ? ` panel-${name}` : ""}`, "aria-labelledby": id },
    element("div", { class: "panel-head" }, element("h2", { id }, title), aside),
    ...children,
    foot === null ? null : element("div", { class: "panel-foot" }, foot),
  );
}

/** Return a number with what it is. @param {string} name @param {Child} value @param {{ small?: Child, note?: Child, wide?: boolean }} [more]
 *  @param {...Child} children */
export function figure(name, value, { small = null, note = null, wide = false } = {}, ...children) {
  return element(
    "div",
    { class: `figure${wide ? " figure-wide" : ""}` },
    element("h2", {}, name),
    element("p", { class: "figure-value" }, value, small === null ? null : [" ", element("small", {}, small)]),
    ...children,
    note === null ? null : element("div", { class: "figure-note" }, note),
  );
}

/** Return words with a shape that says the same: colour never says it alone. @param {Status} kind @param {Child} words */
export function status(kind, words) {
  return element("span", { class: `status status-${kind}` }, shape(kind), element("span", {}, words));
}

/** Return a meter. @param {string} label @param {number} value @param {number} of */
export function meter(label, value, of) {
  const share = of > 0 ? Math.min(100, (100 * value) / of) : 0;
  return element(
    "div",
    {
      class: "meter", role: "progressbar", "aria-label": label, "aria-valuemin": 0, "aria-valuemax": of,
      "aria-valuenow": value,
    }, // prettier-ignore
    element("span", { class: "meter-fill", vars: { value: share } }),
  );
}

/** Return a word in a frame. @param {string} state @param {string} words */
export const pill = (state, words) => element("span", { class: `pill pill-${state}` }, words);

/** Return a table with heads; cells that are numbers stand right. `label` says what it is.
 *  @param {string} label @param {string[]} heads @param {Child[][]} rows @param {{ names?: number, class?: string }} [how]
 *  `names`: how many columns from the left are words */
export function table(label, heads, rows, { names = 1, class: kind = "" } = {}) {
  const place = (/** @type {number} */ column) => (column < names ? null : "is-number");
  return element(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
    element(
      "table",
      { class: `table ${kind}` },
      element("thead", {}, element("tr", {}, heads.map((head, at) => element("th", { scope: "col", class: place(at) }, head)))),
      element(
        "tbody",
        {},
        rows.map((cells) =>
          element(
            "tr",
            {},
            cells.map((cell, at) =>
              at === 0 ? element("th", { scope: "row" }, cell) : element("td", { class: place(at) }, cell),
            ),
          ),
        ),
      ),
    ),
  );
}

/** Return names with values. @param {[string, Child][]} pairs */
export const facts = (pairs) =>
  element(
    "dl",
    { class: "facts" },
    pairs.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))),
  );

/** Return what a page says where there is nothing yet. @param {string} title @param {Child} words @param {...Child} children */
export const empty = (title, words, ...children) =>
  element("div", { class: "empty" }, shape("unknown"), element("h2", {}, title), element("p", {}, words), ...children);

/** Return the heading of a page. @param {string} title @param {...Child} children */
export const head = (title, ...children) =>
  element("div", { class: "page-head" }, element("h1", {}, title), ...children);

/** Return that conditions are under code names, or that robots rehearse. @param {Desk} desk
 *  @param {{ blinded: boolean, population?: string }} document */
export function marks({ say }, { blinded, population }) {
  return element(
    "p",
    { class: "page-marks" },
    blinded ? pill("blinded", say("blinded")) : pill("open", say("unblinded")),
    population === "robots" ? pill("robots", say("robots")) : null,
  );
}

/** Return a button. @param {Child} words @param {() => void} press @param {Attributes} [more] */
export const button = (words, press, { class: kind = "", ...more } = {}) =>
  element("button", { class: `button ${kind}`, type: "button", on: { click: press }, ...more }, words);

/** Return a text field with its label. @param {string} label @param {Attributes} attributes */
export function field(label, attributes) {
  const input = element("input", { class: "field", ...attributes });
  return { input, element: element("label", { class: "labelled" }, element("span", {}, label), input) };
}

/** Return a field for several lines with its label. @param {string} label @param {string} value @param {Attributes} attributes */
export function lines(label, value, attributes) {
  const input = element("textarea", { class: "field", rows: 4, ...attributes });
  input.value = value;
  return { input, element: element("label", { class: "labelled" }, element("span", {}, label), input) };
}

/** Return a choice with its label. @param {string} label @param {[string, string][]} options @param {string} value
 *  @param {(value: string) => void} change */
export function choice(label, options, value, change) {
  const select = element(
    "select",
    { class: "field", on: { change: () => change(select.value) } },
    options.map(([name, words]) => element("option", { value: name, selected: name === value }, words)),
  );
  return { select, element: element("label", { class: "labelled" }, element("span", {}, label), select) };
}
