// The end: the code first, then the receipt.

import { isReachable } from "../client.js";
import { element, fill } from "../element.js";
import { contactLine } from "../frame/help.js";
import { icon } from "../icons.js";
import { markup } from "../markup.js";
import { result, wayBack } from "./result.js";
import { timeOf } from "../words.js";

/** @import { Page } from "../run.js" */
/** @import { EndStep, Words } from "../types" */

const KNOWN = new Set([
  "completed",
  "screened_out",
  "wrong_device",
  "no_consent",
  "failed_checks",
  "technical",
  "withdrawn",
]);

/** @param {EndStep} step @param {Page} page @returns {Promise<never>} */
export async function end(step, page) {
  const { main, say } = page;
  const outcome = KNOWN.has(step.outcome) ? step.outcome : "technical";
  const isDone = outcome === "completed";
  const lead = isDone && say(page.kiosk === null ? leadOf(step) : "lab.end");
  const words = step.text !== "" && element("section", { class: "panel prose" }, markup(step.text));
  const isKept = !["withdrawn", "no_consent"].includes(outcome);
  const isTakenBack = page.kiosk === null && (step.code !== null || step.return_url !== null);
  const more = isDone && step.again !== null && another(step.again, page);
  const isFirst = more && step.again?.before_return === true; // returning ends the visit
  fill(
    main,
    element(
      "div",
      { class: "sheet sheet-end" },
      element(
        "div",
        { class: "lead" },
        element("h1", { tabindex: "-1" }, say(`end.${outcome}`)),
        lead && element("p", {}, lead),
      ),
      !isDone && words,
      isFirst && more,
      isTakenBack && code(step, page),
      isDone && words,
      step.result !== undefined && result(step.result, page),
      !isFirst && more,
      isKept && step.receipt !== null && receipt(step, step.receipt, page),
      page.kiosk !== null && page.kiosk.leave(isDone),
    ),
  );
  return new Promise(() => {}); // nothing comes after it
}

/** Return which words tell what is left to do. @param {EndStep} step */
function leadOf({ code, return_url, again }) {
  if (again?.before_return) return "end.completed.choice";
  if (return_url === null) return code === null ? "end.completed.text" : "end.completed.code";
  return code === null ? "end.completed.return" : "end.completed.code.return";
}

/** @param {EndStep} step @param {Page} page */
function code(step, page) {
  const { say, status } = page;
  // Who did not take part needs no code to keep where there is a way back.
  const isKept = step.return_url === null || !["withdrawn", "no_consent"].includes(step.outcome);
  const shown = isKept ? step.code : null;
  const value = shown !== null && element("p", { class: "code-value", id: "code", translate: "no" }, shown);
  const word = element("span", {}, say("end.copy"));
  const sign = element("span", { class: "code-sign" }, icon("copy"));
  const copy =
    shown !== null &&
    element(
      "button",
      { class: step.return_url === null ? "button button-primary" : "button", id: "copy", type: "button" },
      sign,
      word,
    );
  if (copy) {
    copy.addEventListener("click", async () => {
      const isCopied = await copyText(shown ?? "", value || null);
      word.textContent = say(isCopied ? "end.copied" : "end.marked");
      if (isCopied) fill(sign, icon("tick"));
      status(word.textContent);
    });
  }
  const back =
    step.return_url !== null &&
    element("a", { class: "button button-primary", id: "return", href: step.return_url }, say("end.return"));
  return element(
    "section",
    { class: "panel code", "aria-labelledby": "code-title" },
    element(
      "h2",
      { class: "code-title", id: "code-title" },
      say(shown === null ? "end.return.title" : step.outcome === "completed" ? "end.code" : "end.code.other"),
    ),
    value,
    element("div", { class: "code-buttons" }, back, copy),
    step.return_url !== null && step.return_after !== undefined && wayBack(step.return_after, step.return_url, page),
  );
}

/** @param {NonNullable<EndStep["again"]>} again @param {Page} page */
function another({ url, minutes, number, of, earns, bonus, before_return }, { say, kiosk }) {
  const which = earns === null ? say("end.again.which", { number, of }) : say("end.again.earns", { number, of, sum: earns });
  return element(
    "section",
    { class: "panel again", "aria-labelledby": "again-title" },
    element("h2", { id: "again-title" }, say("end.again.title")),
    element("p", {}, say("end.again.text")),
    element("p", { id: "again-which" }, which),
    bonus !== null && element("p", { id: "again-bonus" }, say("end.again.bonus", { n: bonus[0], sum: bonus[1] })),
    before_return && element("p", { id: "again-before" }, say("end.again.before")),
    url === null
      ? element("p", { id: "again-own" }, say("end.again.own"))
      : element(
          "a",
          {
            class: "button",
            id: "again",
            href: kiosk === null ? url : location.href,
            on: { click: () => kiosk?.comeAgain() },
          },
          say("end.again", { n: minutes }),
        ),
  );
}

/** @param {string} text @param {HTMLElement | null} node */
async function copyText(text, node) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    if (node !== null) getSelection()?.selectAllChildren(node); // not allowed: marked, ready for Ctrl C
    return false;
  }
}

/** @param {EndStep} step @param {string} number @param {Page} page */
function receipt(step, number, { say, study, language, kiosk }) {
  /** @type {[string, string][]} */
  const rows = [["end.study", study.title]];
  if (step.ended_at !== null)
    rows.push([step.outcome === "completed" ? "end.finished" : "end.ended", timeOf(step.ended_at, language)]);
  rows.push(["end.answers", String(step.answers)]);
  if (step.seconds !== null) {
    const whole = Math.round(step.seconds);
    const [minutes, seconds] = [Math.floor(whole / 60), whole % 60];
    rows.push(["end.time", minutes > 0 ? say("end.minutes", { minutes, seconds }) : say("end.seconds", { seconds })]);
  }
  rows.push(["end.number", number]);
  const save = element(
    "button",
    {
      class: "button button-quiet",
      id: "save-receipt",
      type: "button",
      on: {
        click: () =>
          saveText(
            `${study.name}-receipt.txt`,
            [say("end.receipt"), ...rows.map(([key, value]) => `${say(key)}: ${value}`), study.contact ?? ""].join(
              "\n",
            ),
          ),
      },
    },
    icon("down"),
    say("end.save"),
  );
  const away = element("div", { class: "small", id: "erase-away", role: "status" });
  return element(
    "section",
    { class: "panel receipt", "aria-labelledby": "receipt-title" },
    element(
      "div",
      { class: "receipt-head" },
      element("h2", { id: "receipt-title" }, say("end.receipt")),
      kiosk === null ? save : kiosk.print(),
    ),
    element(
      "dl",
      {},
      rows.map(([key, value]) =>
        element(
          "div",
          {},
          element("dt", {}, say(key)),
          element("dd", key === "end.number" ? { id: "receipt", translate: "no" } : {}, value),
        ),
      ),
    ),
    element(
      "p",
      { class: "small soft" },
      say("end.erase"),
      " ",
      kiosk === null && erasureLink(`/forget#${number}`, say("end.erase.link"), () =>
        fill(away, element("p", {}, say("end.erase.away")), contactLine(study.contact, say)),
      ),
    ),
    away,
  );
}

/** Return the link to erasure; where the server has stopped, this page stays and tells what else can be done.
 *  @param {string} href @param {Words} text @param {() => void} onAway */
function erasureLink(href, text, onAway) {
  const link = element("a", { id: "forget", href }, text);
  link.addEventListener("click", async (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // to another tab: this page stays anyway
    event.preventDefault();
    if (await isReachable()) location.assign(link.href);
    else onAway();
  });
  return link;
}

/** @param {string} name @param {string} text */
function saveText(name, text) {
  const url = URL.createObjectURL(new Blob([text + "\n"], { type: "text/plain;charset=utf-8" }));
  const link = element("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
