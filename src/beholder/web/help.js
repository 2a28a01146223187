// Help, one key away: the instructions, all keys and their switch, whom to ask, and the way out.

import { element, fill } from "./element.js";
import { markup } from "./markup.js";

/** @import { Keys } from "./keys.js" */
/** @import { Arrival, Say } from "./types" */

/** Return the help of a page. Before the arrival it knows no study, and no way out is needed.
 *  @param {{ say: Say, keys: Keys, onOpen: () => void }} parts */
export function openHelp({ say, keys, onOpen }) {
  const dialog = element("dialog", { class: "help", "aria-labelledby": "help-title" });
  /** @type {Arrival["study"] | null} */
  let study = null;
  /** @type {(() => Promise<void>) | null} */
  let onWithdraw = null;

  /** @param {{ isWithdrawing?: boolean }} [how] */
  function show({ isWithdrawing = false } = {}) {
    if (dialog.open) dialog.close();
    onOpen();
    fill(dialog, isWithdrawing ? confirm() : content());
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

  function content() {
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
    return [
      heading("help"),
      study !== null && study.instructions !== "" && element("section", { class: "prose" }, markup(study.instructions)),
      element(
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
      ),
      study !== null &&
        element(
          "section",
          { class: "help-part" },
          contactLine(study.contact, say),
          onWithdraw !== null &&
            element(
              "p",
              {},
              element(
                "button",
                { class: "button", id: "withdraw", type: "button", on: { click: () => show({ isWithdrawing: true }) } },
                say("withdraw"),
              ),
            ),
        ),
    ];
  }

  function confirm() {
    const sure = element(
      "button",
      { class: "button button-grave", id: "withdraw-sure", type: "button" },
      say("withdraw.sure"),
    );
    sure.addEventListener("click", async () => {
      sure.setAttribute("aria-disabled", "true");
      await onWithdraw?.();
      dialog.close();
    });
    return [
      heading("withdraw"),
      element("p", {}, say("withdraw.text")),
      element(
        "div",
        { class: "actions" },
        element(
          "button",
          { class: "button", id: "withdraw-not", type: "button", on: { click: () => dialog.close() } },
          say("withdraw.not"),
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
    /** @param {Arrival["study"]} found @param {(() => Promise<void>) | null} withdraw */
    setStudy(found, withdraw) {
      study = found;
      onWithdraw = withdraw;
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
