// Help, one key away: the instructions, all keys and their switch, whom to ask, and the way out.

import { element, fill } from "../element.js";
import { markup } from "../markup.js";

/** @import { Keys } from "../keys.js" */
/** @import { Arrival, Say } from "../types" */

/** The way out: its words, by the key that they begin with, and what it does.
 *  @typedef {{ word: string, run: () => Promise<void> }} WayOut */

/** Return the help of a page. Before the arrival it knows no study, and no way out is needed.
 *  @param {{ say: Say, keys: Keys, hasKeys: () => boolean, onOpen: () => void }} parts */
export function openHelp({ say, keys, hasKeys, onOpen }) {
  const dialog = element("dialog", { class: "help", "aria-labelledby": "help-title" });
  /** @type {Arrival["study"] | null} */
  let study = null;
  /** @type {WayOut | null} */
  let wayOut = null;

  /** @param {{ isWithdrawing?: boolean }} [how] */
  function show({ isWithdrawing = false } = {}) {
    if (dialog.open) dialog.close();
    onOpen();
    fill(dialog, isWithdrawing && wayOut !== null ? confirm(wayOut) : content());
    dialog.showModal();
    dialog.querySelector("h2")?.focus();
  }

  /** @param {string} key */
  function heading(key) {
    return element(
      "header",
      { class: "help-head" },
      element("h2", { id: "help-title", tabindex: "-1" }, say(key)),
      element(
        "button",
        { class: "button", id: "help-close", type: "button", on: { click: () => dialog.close() } },
        say("help.close"),
      ),
    );
  }

  /** The keys of this page, for who may have a keyboard. */
  function keyList() {
    const bindings = [...keys.list(), { keys: ["?"], shown: "?", label: say("help.key") }];
    const isOn = element("input", {
      type: "checkbox",
      role: "switch",
      class: "switch",
      id: "keys-switch",
      checked: keys.isOn,
      on: {
        change: () => {
          keys.isOn = isOn.checked;
        },
      },
    });
    return element(
      "section",
      { class: "help-part" },
      element("h3", {}, say("help.keys")),
      element(
        "dl",
        { class: "help-keys" },
        bindings.map(({ shown, label }) =>
          element("div", {}, element("dt", {}, element("kbd", {}, shown)), element("dd", {}, label)),
        ),
      ),
      element("label", { class: "switch-row" }, isOn, element("span", {}, say("help.switch"))),
    );
  }

  function content() {
    return [
      heading("help"),
      study !== null && study.instructions !== "" && element("section", { class: "prose" }, markup(study.instructions)),
      hasKeys() && keyList(),
      study !== null &&
        element(
          "section",
          { class: "help-part" },
          contactLine(study.contact, say),
          wayOut !== null &&
            element(
              "p",
              {},
              element(
                "button",
                { class: "button", id: "withdraw", type: "button", on: { click: () => show({ isWithdrawing: true }) } },
                say(wayOut.word),
              ),
            ),
        ),
    ];
  }

  /** @param {WayOut} way */
  function confirm({ word, run }) {
    const sure = element(
      "button",
      { class: "button button-grave", id: "withdraw-sure", type: "button" },
      say(`${word}.sure`),
    );
    sure.addEventListener("click", async () => {
      sure.setAttribute("aria-disabled", "true");
      await run();
      dialog.close();
    });
    return [
      heading(word),
      element("p", {}, say(`${word}.text`)),
      element(
        "div",
        { class: "actions" },
        element(
          "button",
          { class: "button", id: "withdraw-not", type: "button", on: { click: () => dialog.close() } },
          say(`${word}.not`),
        ),
        sure,
      ),
    ];
  }

  document.addEventListener("keydown", (event) => {
    if (event.key !== "?" || !keys.isOn || event.ctrlKey || event.metaKey || event.altKey) return;
    if (
      event.target instanceof HTMLElement &&
      event.target.matches("textarea, input:not([type=range], [type=radio], [type=checkbox])")
    )
      return;
    event.preventDefault();
    if (dialog.open) dialog.close();
    else show();
  });

  return {
    element: dialog,
    show,
    /** @param {Arrival["study"]} found @param {WayOut | null} way */
    setStudy(found, way) {
      study = found;
      wayOut = way;
    },
  };
}

/** Return whom to ask, as a line with a link where there is one. @param {string | null} contact @param {Say} say */
export function contactLine(contact, say) {
  if (contact === null || contact === "") return null;
  const isMail = /^\S+@\S+$/.test(contact);
  const isWeb = /^https?:\/\//.test(contact);
  const who =
    isMail || isWeb
      ? element(
          "a",
          { href: isMail ? `mailto:${contact}` : contact, target: "_blank", rel: "noopener noreferrer" },
          contact,
        )
      : contact;
  return element("p", { class: "contact" }, say("contact"), " ", who);
}
