// A station of a laboratory: waits for its next participant, lets them begin, and waits again when they are done.

import { connectLab } from "../client.js";
import { element, fill } from "../element.js";
import { notice, pressed } from "../frame/sheet.js";
import { stylesheet } from "../stylesheet.js";
import { holdable } from "./hold.js";

/** @import { Patience } from "../patience.js" */
/** @import { Say, Station } from "../types" */

const EVERY_MS = 2000;
const AGAIN = "beholder:again";

/** What the rest of the page may ask of a station.
 *  @typedef {{ params: Record<string, string>, name: string, leave: (isCalled: boolean) => HTMLElement,
 *              print: () => HTMLElement, comeAgain: () => void }} Kiosk */

/** Resolve when the participant of this station begins or goes on.
 *  @param {number} station @param {{ say: Say, main: HTMLElement, patience: Patience }} parts @returns {Promise<Kiosk>} */
export async function openKiosk(station, { say, main, patience }) {
  await stylesheet("kiosk");
  const lab = connectLab(new URLSearchParams(location.search).get("key") ?? "");
  document.body.dataset["kind"] = "kiosk";
  let here = await patience
    .insist(() => lab.station(station))
    .catch((error) => {
      fill(main, notice(say("closed.no_key"), say("lab.key")));
      console.info(error.message);
      return new Promise(() => {});
    });
  const wantsMore = sessionStorage.getItem(AGAIN) === String(here.number);
  sessionStorage.removeItem(AGAIN);
  if (here.state !== "ended" || wantsMore) {
    here = await begun();
    void document.documentElement.requestFullscreen?.().catch(() => {}); // a kiosk that is full already, or may not
  }
  watch();

  /** @type {Record<string, string>} */
  const params =
    here.resume && !wantsMore ? { resume: here.resume } : { seat: /** @type {string} */ (here.seat) };
  return {
    params,
    name: nameOf(here),
    /** Return the way to the next participant, for the experimenter's hand. @param {boolean} isCalled already */
    leave: (isCalled) =>
      element(
        "section",
        { class: "kiosk-leave" },
        !isCalled && element("p", { class: "kiosk-call" }, say("lab.call")),
        next(),
      ),
    print: () =>
      element(
        "button",
        { class: "button", id: "print-receipt", type: "button", on: { click: () => print() } },
        say("lab.print"),
      ),
    comeAgain: () => sessionStorage.setItem(AGAIN, String(here.number)),
  };

  /** @param {Station} at */
  function nameOf({ number }) {
    return say("lab.participant", { number: String(number) });
  }

  function next() {
    return holdable(say("lab.next"), say("lab.next.hold"), async () => {
      await patience.insist(() => lab.next(station, here.number));
      location.reload();
    });
  }

  /** Show who is expected until they press the button; return the station as it is then. @returns {Promise<Station>} */
  async function begun() {
    for (;;) {
      const shown = here;
      const over = new AbortController();
      const go = draw(shown);
      const changed = poll((now) => now.number !== shown.number || now.state !== shown.state, over.signal);
      const fresh = await Promise.race([go, changed]);
      over.abort();
      if (fresh === null) return here;
      here = fresh;
    }
  }

  /** @param {Station} at @returns {Promise<null>} when it is pressed */
  function draw(at) {
    const isOn = at.state === "under_way";
    const go =
      at.number !== null &&
      element(
        "button",
        { class: "button button-primary kiosk-go", id: "begin", type: "button" },
        say(isOn ? "lab.go-on" : "lab.begin"),
      );
    fill(
      main,
      element(
        "div",
        { class: "sheet sheet-middle kiosk" },
        element("p", { class: "kiosk-station soft" }, say("lab.station", { station: String(station) })),
        at.number !== null && element("h1", { class: "kiosk-number", tabindex: "-1" }, nameOf(at)),
        at.number === null
          ? element("h1", { class: "kiosk-free", tabindex: "-1" }, say("lab.free"))
          : element("p", { class: "kiosk-text" }, say(isOn ? "lab.under_way" : "lab.ready")),
        go || next(),
      ),
    );
    return go ? pressed(go).then(() => null) : new Promise(() => {});
  }

  /** Resolve with the station when something is so.
   *  @param {(now: Station) => boolean} isSo @param {AbortSignal} [signal] @returns {Promise<Station>} */
  async function poll(isSo, signal) {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
      if (signal?.aborted) return new Promise(() => {});
      const now = await lab.station(station).catch(() => null); // away: the page goes on, and so does this
      if (now !== null && isSo(now) && !signal?.aborted) return now;
    }
  }

  /** Turn to whoever the operator sends next. */
  function watch() {
    const { number } = here;
    void poll((now) => now.number !== number).then(() => location.reload());
  }
}
