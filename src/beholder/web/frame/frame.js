// What stands round every page: top bar, banner, reminder, foot, and the one voice for who cannot see.

import { openBanner } from "./banner.js";
import { element, fill, plain } from "../element.js";
import { contactLine } from "./help.js";
import { markup } from "../markup.js";
import { openTopbar } from "./topbar.js";

/** @import { Say, Words } from "../types" */

/** @typedef {ReturnType<typeof openFrame>} Frame */

/** Return the frame of the page, drawn into the body.
 *  @param {{ say: Say, title: string, onHelp: () => void, onTry: () => void }} parts */
export function openFrame({ say, title, onHelp, onTry }) {
  const voice = element("p", { class: "unseen", id: "status", role: "status" });
  const reminder = element("aside", { class: "reminder prose", id: "reminder", "aria-label": say("reminder"), hidden: true });
  // What the page says before any script has come stays until there is something else to show.
  const main = element("main", { id: "main" }, document.querySelector("main > .first"));
  const foot = element("footer", { class: "foot" });
  /** @param {Words} words */
  const status = (words) => {
    const text = plain(words);
    // The same words again are news as well.
    voice.textContent = voice.textContent === text ? `${text}\u00a0` : text;
  };
  const banner = openBanner({ say, status, onTry });
  const topbar = openTopbar({ say, title, onHelp, banner: banner.element });
  fill(document.body, topbar.element, reminder, main, foot, voice);
  return {
    main,
    status,
    topbar,
    banner,
    /** @param {string} html safe HTML of the study; empty where a page has no reminder */
    setReminder(html) {
      reminder.hidden = html === "";
      fill(reminder, html === "" ? null : markup(html));
    },
    /** @param {{ contact: string | null, word: string, onWithdraw: (() => void) | null }} parts */
    setFoot({ contact, word, onWithdraw }) {
      fill(
        foot,
        contactLine(contact, say),
        onWithdraw !== null &&
          element("button", { class: "link", id: "stop", type: "button", on: { click: onWithdraw } }, say(word)),
      );
    },
  };
}
