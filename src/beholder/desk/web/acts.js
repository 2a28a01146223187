// What can be done: each act asks for its reason first, and is done by the desk as the command would do it.

import { element } from "../../web/element.js";
import { addressOf, send } from "./api.js";
import { ask } from "./dialog.js";
import { field } from "./parts.js";

/** @import { Child } from "../../web/types" */
/** @import { Desk, Json } from "./types" */

/** Return a field for a reason. @param {Desk} desk */
export function reasonField({ say }) {
  const input = element("textarea", { class: "field", rows: 3, name: "reason", required: true });
  return {
    element: element("label", { class: "labelled" }, element("span", {}, say("act.reason")), input),
    get value() {
      return input.value.trim();
    },
  };
}

/** Do something about a study; return what the desk says. @param {Desk} desk @param {{ [name: string]: Json }} act */
export async function act({ place }, act) {
  const id = crypto.randomUUID(); // done once, also where the reply is lost and it is sent again
  /** @typedef {{ words?: string | string[], problems?: string[], link?: string }} Reply */
  const { words = [], problems = [], link } = /** @type {Reply} */ (await send(addressOf(place.study, "acts"), { ...act, id }));
  return [words, problems, link ?? []].flat().join(" ");
}

/** Ask for an act about somebody, and do it. @param {Desk} desk @param {{ kind: string, who: string }} what */
export async function askForAct(desk, { kind, who }) {
  const { say } = desk;
  const reason = reasonField(desk);
  const isDone = await ask(
    desk,
    {
      title: say(`act.${kind}`),
      words: say(`act.${kind}.words`),
      does: say(`act.${kind}`),
      isGrave: kind === "shut_out" || kind === "leave_out",
      check: () => (reason.value === "" ? say("act.reason.missing") : null),
      run: () => act(desk, { kind, who, reason: reason.value }),
    },
    element("p", {}, element("code", {}, who)),
    reason.element,
  );
  if (isDone) desk.redraw();
}

/** Ask for an act about the whole study, and do it. @param {Desk} desk @param {"pause" | "paid" | "close"} kind */
export async function askAboutStudy(desk, kind) {
  const { say } = desk;
  const reason = reasonField(desk);
  const isDone = await ask(
    desk,
    {
      title: say(`act.${kind}`),
      words: say(`act.${kind}.words`),
      does: say(`act.${kind}.does`),
      isGrave: true,
      check: () => (reason.value === "" ? say("act.reason.missing") : null),
      run: () => act(desk, { kind, reason: reason.value }),
    },
    reason.element,
  );
  if (isDone) desk.redraw();
}

/** Ask for something that has to be typed to be done, such as an amount; then do it.
 *  @param {Desk} desk
 *  @param {{ title: string, words: Child, does: string, label: string, typed: string, run: (typed: string) => Promise<string>, isGrave?: boolean }} parts */
export async function askTyped(desk, { title, words, does, label, typed, run, isGrave = false }) {
  const { say } = desk;
  const { input, element: labelled } = field(label, { autocomplete: "off", name: "typed" });
  const value = () => /** @type {HTMLInputElement} */ (input).value.trim();
  return ask(
    desk,
    { title, words, does, isGrave, check: () => (value() === typed ? null : say("typed.wrong", { typed })), run: () => run(value()) },
    labelled,
  );
}
