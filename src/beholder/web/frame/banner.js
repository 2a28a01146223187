// What the connection does, in a place of its own in the top bar: nothing on the page moves when it comes or goes.

import { element, fill } from "../element.js";
import { icon } from "../icons.js";

/** @import { Say } from "../types" */

/** Return the banner. @param {{ say: Say, status: (text: string) => void, onTry: () => void }} parts */
export function openBanner({ say, status, onTry }) {
  const headline = element("b");
  const detail = element("span");
  const again = element(
    "button",
    { class: "button", id: "try-now", type: "button", on: { click: onTry } },
    say("offline.try"),
  );
  const sign = element("span", { class: "banner-sign" });
  const node = element(
    "div",
    { class: "banner", hidden: true },
    sign,
    element("p", {}, headline, " ", detail),
    again,
  );
  let said = "";
  return {
    element: node,
    /** Say how the connection is, or another word of the page, or nothing.
     *  @param {{ isOnline: boolean, isReached: boolean, waiting: number, notice: string | null }} state */
    show({ isOnline, isReached, waiting, notice }) {
      const isAway = !isReached;
      node.hidden = !isAway && notice === null;
      node.dataset["kind"] = isAway ? (isOnline ? "unreachable" : "offline") : "notice";
      again.hidden = !isAway;
      fill(sign, icon(isAway ? "offline" : "attention"));
      if (isAway) {
        const where = say(isOnline ? "offline.there" : "offline.here");
        headline.textContent = waiting > 0 ? `${where} ${say("offline.waiting", { n: waiting })}` : where;
        detail.textContent = waiting > 0 ? say("offline.safe", { n: waiting }) : say("offline.go-on");
      } else {
        headline.textContent = notice ?? "";
        detail.textContent = "";
      }
      const words = node.hidden ? "" : `${headline.textContent} ${detail.textContent}`;
      if (words !== said && words !== "") status(words);
      said = words;
    },
  };
}
