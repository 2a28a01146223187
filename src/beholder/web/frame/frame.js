// What stands round every page: top bar, banner, foot, and the one voice for who cannot see.

import { openBanner } from "./banner.js";
import { element, fill, plain } from "../element.js";
import { contactLine } from "./help.js";
import { openTopbar } from "./topbar.js";

/** @import { Say, Words } from "../types" */

/** @typedef {ReturnType<typeof openFrame>} Frame */

/** Return the frame of the page, drawn into the body.
 *  @param {{ say: Say, title: string, onHelp: () => void, onTry: () => void }} parts */
export function openFrame({ say, title, onHelp, onTry }) {
  const voice = element("p", { class: "unseen", id: "status", role: "status" });
  const main = element("main", { id: "main" });
  const foot = element("footer", { class: "foot" });
  /** @param {Words} words */
  const status = (words) => {
    const text = plain(words);
    // The same words again are news as well.
    voice.textContent = voice.textContent === text ? `${text}\u00a0` : text;
  };
  const topbar = openTopbar({ say, title, onHelp });
  const banner = openBanner({ say, status, onTry });
  fill(document.body, topbar.element, banner.element, main, foot, voice);
  return {
    main,
    status,
    topbar,
    banner,
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
