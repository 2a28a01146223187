// The desk: one page at a time, by its address. Links inside it draw the next page without loading everything anew.

import { element, fill } from "../../web/element.js";
import { speak } from "../../web/words.js";
import { Refusal, read } from "./api.js";
import { drawBar } from "./bar.js";

/** @import { Desk, Me, Page, Place } from "./types" */

/** @type {{ [name: string]: () => Promise<{ default: Page }> }} */
const PAGES = {
  studies: () => import("./pages/studies.js"),
  now: () => import("./pages/now.js"),
  people: () => import("./pages/people.js"),
  person: () => import("./pages/person.js"),
  replay: () => import("./pages/replay.js"),
  decisions: () => import("./pages/decisions.js"),
  results: () => import("./pages/results.js"),
  study: () => import("./pages/study.js"),
};

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const bar = /** @type {HTMLElement} */ (document.getElementById("bar"));
const told = /** @type {HTMLElement} */ (document.getElementById("told"));
const said = /** @type {HTMLElement} */ (document.getElementById("said"));

/** Return which page an address is. @param {URL} address @returns {Place} */
function placeOf({ pathname, searchParams }) {
  const [area = "", study = "", page = "now", person = "", session = ""] = pathname
    .split("/")
    .slice(1)
    .map(decodeURIComponent);
  const place = { page: "studies", study: "", person: "", session: "", query: searchParams };
  if (area !== "studies" || study === "") return place;
  const name = page === "people" ? (session ? "replay" : person ? "person" : "people") : page || "now";
  return { ...place, page: name in PAGES ? name : "now", study, person, session };
}

const words = await (await fetch(new URL("./words/en.json", import.meta.url))).json();
const { say } = speak("en", words);
let drawing = new AbortController();

/** @returns {Promise<Me | null>} */
async function whoIsThere() {
  try {
    return await read("/api/me", AbortSignal.timeout(20_000));
  } catch (error) {
    if (error instanceof Refusal && error.status === 401) {
      location.assign("/login");
      return null;
    }
    throw error;
  }
}

/** Draw the page of the present address. @param {Me} me @param {{ isNew: boolean }} how */
async function draw(me, { isNew }) {
  drawing.abort();
  drawing = new AbortController();
  const { signal } = drawing;
  const place = placeOf(new URL(location.href));
  /** @type {Desk} */
  const desk = {
    me,
    say,
    place,
    signal,
    go(address, { replace = false } = {}) {
      history[replace ? "replaceState" : "pushState"](null, "", address);
      void draw(me, { isNew: true });
    },
    announce(text) {
      said.textContent = text;
    },
    tell(text) {
      if (!text) return;
      fill(told, element("p", {}, text), element("button", { class: "button button-quiet", type: "button", on: { click: () => fill(told) } }, say("told.close")));
    },
    redraw: () => void draw(me, { isNew: false }),
  };
  if (isNew) fill(told);
  drawBar(bar, desk);
  main.dataset["page"] = place.page;
  main.setAttribute("aria-busy", "true");
  if (isNew) fill(main, element("p", { class: "waits" }, say("waits")));
  try {
    const page = await /** @type {() => Promise<{ default: Page }>} */ (PAGES[place.page])();
    if (!signal.aborted) await page.default(main, desk);
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof Refusal && error.status === 401) return location.assign("/login");
    fill(main, trouble(error, desk));
  } finally {
    if (!signal.aborted) {
      main.removeAttribute("aria-busy");
      const heading = main.querySelector("h1");
      const title = heading?.textContent?.trim() ?? "";
      document.title = title ? `${title} · Beholder desk` : "Beholder desk";
      if (isNew) {
        main.focus({ preventScroll: true });
        scrollTo(0, 0);
      }
    }
  }
}

/** @param {unknown} error @param {Desk} desk */
function trouble(error, { say, redraw }) {
  const text = error instanceof Error ? error.message : String(error);
  return element(
    "section",
    { class: "panel trouble" },
    element("h1", {}, say("trouble.title")),
    element("p", {}, text),
    element("button", { class: "button", type: "button", on: { click: redraw } }, say("trouble.again")),
  );
}

const me = await whoIsThere();
if (me !== null) {
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (!(link instanceof HTMLAnchorElement) || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || link.target || link.hasAttribute("download"))
      return;
    const address = new URL(link.href);
    const isOfDesk = address.pathname === "/" || address.pathname.startsWith("/studies/");
    if (address.origin !== location.origin || !isOfDesk || link.getAttribute("href")?.startsWith("#")) return;
    event.preventDefault();
    history.pushState(null, "", address);
    void draw(me, { isNew: true });
  });
  addEventListener("popstate", () => void draw(me, { isNew: true }));
  await draw(me, { isNew: true });
}
