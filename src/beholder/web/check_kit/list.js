// The look at the device: one list, measured row by row. Only a row with something to mend or to ask is opened.

import { element, fill } from "../element.js";
import { pressed } from "../frame/sheet.js";
import { stylesheet } from "../stylesheet.js";
import { sign } from "./signs.js";

/** @import { Page } from "../run.js" */
/** @import { Child, CheckStep, Json, ListRow } from "../types" */

export const CANNOT = { cannot: true };

/** What a check does in its row. `measure` gets the room under its words and resolves with the answer; `asks`: it puts
 *  a question there, which is answered in place of pressing "Check again"; `isChanged`: the device is no longer the one
 *  that was told about, so nobody needs to press; `more`: what helps to mend it.
 *  @typedef {{ measure: (room: HTMLElement) => Promise<Json>, asks?: boolean, isChanged?: boolean,
 *              more?: Child }} Look */

/** @typedef {ListRow["state"] | "asks"} Shown */

/** Show the list with the row at hand, and resolve with what was measured there.
 *  @param {CheckStep} step @param {Page} page @param {Look} look @returns {Promise<Json>} */
export async function list(step, page, look) {
  const { main, say, status, log } = page;
  await stylesheet("checklist");
  const told = look.isChanged || step.told?.text === "" ? null : step.told;
  const isOpen = told !== null || look.asks === true;
  const found = step.list.find(({ name }) => name === step.check)?.state ?? "now";
  const isWarned = told !== null && found === "attention";
  /** @type {Shown} */
  let state = told === null ? (look.asks ? "asks" : "now") : found;
  if (told !== null && found === "unknown") state = look.asks ? "asks" : "fail"; // worth another try
  const room = element("div", { class: "look-room" });
  const words = { asks: "list.ask", now: "list.text", attention: "list.warn", fail: "list.fix" };
  const lead = element("p", {}, say(words[/** @type {keyof typeof words} */ (state)] ?? "list.text"));
  const heading = element("h1", { tabindex: "-1" }, say("list.title"));
  const rows = step.list.map((one) =>
    one.name === step.check
      ? row({ ...one, text: told?.text ?? "" }, state, { told, room }, page)
      : row(one, one.state, null, page),
  );
  fill(
    main,
    element(
      "div",
      { class: "sheet sheet-list" },
      element("div", { class: "lead" }, heading, lead),
      element("ol", { class: "panel looks" }, rows),
      element("p", { class: "small soft" }, say("list.foot")),
    ),
  );
  // Rows that pass by themselves must not throw a reader back to the heading each time.
  const isFirst = step.list.every(({ state }) => state === "todo" || state === "now");
  if (isFirst || isOpen) heading.focus({ preventScroll: true });
  if (told !== null) {
    status(told.text);
    rows[step.list.findIndex(({ name }) => name === step.check)]?.scrollIntoView({ block: "nearest" });
  }
  if (told === null) return look.measure(room);
  const ways = element("div", { class: "look-ways" });
  const out = step.gate && !isWarned && leave(page);
  if (look.asks) {
    const question = element("div");
    fill(room, look.more, question, out && out.element);
    return Promise.race([look.measure(question), ...(out ? [out.done] : [])]);
  }
  const again = button("again", !isWarned, say("list.check-again"));
  const on = isWarned && button("next", true, say("go-on"));
  fill(ways, on, again);
  fill(room, look.more, ways, out && out.element);
  const way = await Promise.race([
    pressed(again).then(() => "again"),
    ...(on ? [pressed(on).then(() => "on")] : []),
    ...(out ? [out.done.then(() => "on")] : []),
  ]);
  log.add("click", null, { what: way === "again" ? "again" : "next" });
  if (way === "on") return CANNOT;
  const item = room.closest("li");
  if (item instanceof HTMLElement) mark(item, "now", false, say);
  fill(room);
  status(say("list.now"));
  return look.measure(room);
}

/** @param {ListRow} one @param {Shown} state @param {{ told: CheckStep["told"], room: HTMLElement } | null} here
 *  @param {Page} page */
function row(one, state, here, { say }) {
  const told = here?.told ?? null;
  const node = element(
    "li",
    { class: "look", "data-name": one.name },
    element("span", { class: "look-sign" }),
    element(
      "div",
      { class: "look-body" },
      element("h2", { class: "look-name" }, one.title),
      one.text !== "" && element("p", { class: "look-found" }, one.text),
      told !== null && state === "fail" && element("p", { class: "small soft" }, say("check.left", { n: told.left })),
      here?.room,
    ),
    element("p", { class: "look-word" }),
  );
  mark(node, state, told !== null || state === "asks", say);
  return node;
}

/** Give a row its state: a shape, a word, a colour.
 *  @param {HTMLElement} node @param {Shown} state @param {boolean} isOpen @param {Page["say"]} say */
function mark(node, state, isOpen, say) {
  node.dataset["state"] = state;
  node.toggleAttribute("data-open", isOpen);
  if (state === "now" || isOpen) node.setAttribute("aria-current", "step");
  else node.removeAttribute("aria-current");
  fill(/** @type {Element} */ (node.querySelector(".look-sign")), sign(state));
  fill(/** @type {Element} */ (node.querySelector(".look-word")), say(`list.${state}`));
}

/** @param {string} id @param {boolean} isPrimary @param {string} word */
export function button(id, isPrimary, word) {
  return element("button", { class: `button${isPrimary ? " button-primary" : ""}`, id, type: "button" }, word);
}

/** The way out for somebody who cannot mend it: pressed, and pressed again to confirm.
 *  @param {Page} page @returns {{ element: HTMLElement, done: Promise<Json> }} */
function leave({ say }) {
  const cannot = element("button", { class: "link", id: "cannot", type: "button" }, say("check.cannot"));
  const yes = element("button", { class: "button", id: "cannot-sure", type: "button" }, say("check.cannot.sure"));
  const node = element("p", { class: "small soft look-out" }, cannot);
  const done = (async () => {
    await pressed(cannot);
    fill(node, say("check.cannot.text"), " ", yes);
    yes.focus();
    await pressed(yes);
    return CANNOT;
  })();
  return { element: node, done };
}
