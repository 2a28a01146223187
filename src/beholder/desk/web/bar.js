// The bar on top: which study, its pages, who is logged in.

import { element, fill } from "../../web/element.js";
import { icon } from "../../web/icons.js";
import { send } from "./api.js";

/** @import { Desk } from "./types" */

/** Each page with the scope that it needs. */
const TABS = [
  ["now", "now"],
  ["people", "people"],
  ["decisions", "decisions"],
  ["results", "results"],
  ["study", "study"],
];

/** Return the address of a page. @param {string} study @param {...string} parts */
export const pathOf = (study, ...parts) => `/${["studies", study, ...parts].map(encodeURIComponent).join("/")}`;

/** @param {HTMLElement} bar @param {Desk} desk */
export function drawBar(bar, { me, say, place }) {
  const here = place.page === "person" || place.page === "replay" ? "people" : place.page;
  const tabs = TABS.filter(([, scope]) => me.scopes.includes(scope ?? "")).map(([page]) =>
    element(
      "a",
      {
        class: "tab",
        href: pathOf(place.study, ...(page === "now" ? [] : [page ?? ""])),
        "aria-current": here === page ? "page" : null,
      },
      say(`tab.${page}`),
    ),
  );
  const home = element(
    "a",
    { class: "home", href: "/?all" },
    icon("mark"),
    element("span", { class: "home-words" }, place.study || say("tab.studies")),
    place.study ? element("span", { class: "unseen" }, ` – ${say("tab.studies")}`) : null,
  );
  const leave = element(
    "button",
    {
      class: "button button-quiet",
      type: "button",
      on: { click: () => void send("/api/logout", {}).finally(() => location.assign("/login")) },
    },
    say("leave"),
  );
  fill(
    bar,
    home,
    place.study ? element("nav", { class: "tabs", "aria-label": say("tab.label") }, tabs) : null,
    element(
      "div",
      { class: "bar-side" },
      element("span", { class: "live", id: "live" }),
      element("span", { class: "who" }, element("b", {}, me.name), ` · ${say(`role.${me.role}`)}`),
      leave,
    ),
  );
}

/** Tell whether what is shown is live, and since when. @param {Desk} desk @param {boolean} isLive @param {string} at */
export function tellLive({ say }, isLive, at) {
  const live = document.getElementById("live");
  if (live === null) return;
  live.classList.toggle("is-live", isLive);
  fill(live, element("i", { "aria-hidden": "true" }), say(isLive ? "live" : "live.not", { at }));
}
