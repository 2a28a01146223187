// What the last page can show beside the thanks: how the person compares with the others, and the way back by itself.

import { element } from "../element.js";

/** @import { Page } from "../run.js" */
/** @import { CrowdResult, EndStep } from "../types" */

const TICK_MS = 1000;

/** Return how the person compares with the others so far. @param {CrowdResult} result @param {Page} page */
export function result({ agreement, questions = [] }, { say }) {
  const isEmpty = questions.length === 0;
  return element(
    "section",
    { class: "panel result", id: "result", "aria-labelledby": "result-title" },
    element("h2", { class: "result-title", id: "result-title" }, say("result.title")),
    agreement !== undefined &&
      element(
        "p",
        { id: "agreement" },
        agreement === null ? say("result.agreement.few") : say("result.agreement", { n: agreement }),
      ),
    !isEmpty && element("p", { class: "small soft" }, say("result.text")),
    questions.some(({ compared }) => compared) && element("p", { class: "small soft" }, say("result.compared")),
    questions.map(({ text, min, max, rows }, place) => {
      const share = (/** @type {number} */ value) => (max > min ? (value - min) / (max - min) : 0);
      return element(
        "table",
        { class: "result-table", "data-question": place + 1 },
        element("caption", {}, text),
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            element("td", {}),
            element("th", { scope: "col", class: "result-own" }, say("result.own")),
            element("th", { scope: "col", class: "result-others" }, say("result.others")),
          ),
        ),
        element(
          "tbody",
          {},
          rows.map(([own, others], row) =>
            element(
              "tr",
              {},
              element(
                "th",
                { scope: "row" },
                element(
                  "span",
                  { class: "result-row" },
                  element("span", { class: "result-number" }, say("result.row", { n: row + 1 })),
                  element(
                    "span",
                    { class: "result-line", "aria-hidden": "true", vars: { own: share(own), others: share(others) } },
                    element("span", { class: "result-mark result-mark-others" }),
                    element("span", { class: "result-mark result-mark-own" }),
                  ),
                ),
              ),
              element("td", {}, round(own)),
              element("td", {}, round(others)),
            ),
          ),
        ),
      );
    }),
    isEmpty && agreement === undefined && element("p", {}, say("result.few")),
  );
}

/** @param {number} value */
function round(value) {
  return String(Math.round(value * 10) / 10);
}

/** Return a line that counts down and then goes back to the platform. It stops for good where the person stays, or does
 *  something else on the page; without a connection it waits.
 *  @param {number} seconds @param {NonNullable<EndStep["return_url"]>} url @param {Page} page */
export function wayBack(seconds, url, { main, say, signal, status }) {
  // A timer is not read out every second; what it begins with is said once.
  const words = element("span", { id: "return-in", role: "timer" }, say("end.return.in", { n: seconds }));
  const stay = element("button", { class: "button", id: "stay", type: "button" }, say("end.stay"));
  const line = element("p", { class: "way-back" }, words, stay);
  status(say("end.return.in", { n: seconds }));
  const due = performance.now() + seconds * TICK_MS;
  const timer = setInterval(() => {
    const left = Math.ceil((due - performance.now()) / TICK_MS);
    if (left > 0) {
      words.textContent = say("end.return.in", { n: left });
    } else if (navigator.onLine) {
      stop();
      location.assign(url);
    }
  }, TICK_MS);
  /** @param {string} [what] to say then */
  function stop(what) {
    clearInterval(timer);
    if (what === undefined || !stay.isConnected) return;
    const hadFocus = document.activeElement === stay;
    stay.remove();
    words.textContent = what;
    status(what);
    // The button that was pressed is gone: what it left open is the way back.
    if (hadFocus) document.getElementById("return")?.focus({ preventScroll: true });
  }
  const halt = (/** @type {Event} */ event) => {
    // The link back goes there at once; whatever else is pressed, the person is still at it.
    if (event.target instanceof Element && event.target.closest("#return") === null) stop(say("end.stays"));
  };
  main.addEventListener("click", halt, { signal });
  signal.addEventListener("abort", () => stop());
  return line;
}
