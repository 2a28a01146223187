// Getting the clips of a page: measured bytes, an honest word when they do not come, and a way on.

import { element, fill } from "./element.js";
import { MediaError } from "./media.js";

/** @import { Log } from "./log.js" */
/** @import { Shelf } from "./media.js" */
/** @import { Player, Say, Slot, Trial } from "./types" */

const PATIENCE_MS = 200; // what comes faster needs no page of its own
const MEGA = 1e6;

/** Fetch all media of a trial and hand them to the player; slots that will not come are failed there.
 *  @param {{ trial: Trial, main: HTMLElement, shelf: Shelf, say: Say,
 *            status: (text: string) => void, label: (slot: Slot) => string, page: number, signal: AbortSignal,
 *            log: Log,
 *            player: Player & { attach(id: string, url: string): Promise<string | null>,
 *                               fail(id: string, what: string): void } }} parts */
export async function load({ trial, main, shelf, say, status, label, page, signal, log, player }) {
  const slots = trial.slots.filter(({ id }) => player.failure(id) === null);
  const total = slots.reduce((sum, { media }) => sum + media.bytes, 0);
  const got = new Map(slots.map(({ id }) => [id, 0]));
  const ready = new Set();
  const spurned = new Set(); // came once, and could not be shown
  const begun = performance.now();
  const sheet = draw({ slots, label, say });

  /** @param {"loading" | "offline" | "stuck"} state */
  function show(state) {
    const sum = [...got.values()].reduce((a, b) => a + b, 0);
    const seconds = (performance.now() - begun) / 1000;
    const left = sum > 0 && seconds > 1 ? Math.ceil(((total - sum) * seconds) / sum) : null;
    const pace = state === "offline" ? say("loading.waits") : state === "stuck" || left === null ? "" : say("loading.left", { n: left });
    fill(sheet.title, say(state === "offline" ? "loading.offline" : "loading.title", { page }));
    fill(sheet.text, say("loading.text", { n: slots.length }));
    fill(sheet.percent, say("loading.percent", { share: Math.floor((100 * sum) / total) }));
    const megabytes = { got: (sum / MEGA).toFixed(1), total: (total / MEGA).toFixed(1) };
    fill(sheet.bytes, say("loading.bytes", megabytes), element("br"), pace);
    sheet.fill.style.setProperty("--value", String((100 * sum) / total));
    sheet.meter.setAttribute("aria-valuenow", String(Math.floor((100 * sum) / total)));
    sheet.meter.classList.toggle("is-paused", state !== "loading");
    slots.forEach(({ id, media }, place) => {
      sheet.pieces[place].style.setProperty("--value", String((100 * (got.get(id) ?? 0)) / media.bytes));
      sheet.pieces[place].classList.toggle("is-done", ready.has(id));
    });
    const count = say("loading.ready", { ready: ready.size, n: slots.length });
    sheet.list.setAttribute("aria-label", count);
    fill(sheet.note, state === "stuck" ? say("loading.stuck") : `${count} ${say("loading.leave")}`);
    sheet.again.hidden = state !== "stuck";
  }

  const timer = setTimeout(() => {
    if (signal.aborted || ready.size === slots.length) return;
    fill(main, sheet.element);
    show("loading");
    status(sheet.title.textContent ?? "");
  }, PATIENCE_MS);

  /** @param {Slot} slot @param {boolean} isLast whether giving up is the next thing to do */
  async function fetchOne(slot, isLast) {
    const { id, media } = slot;
    const started = performance.now();
    try {
      for (;;) {
        const url = await shelf.get(media, (bytes) => {
          got.set(id, bytes);
          show(navigator.onLine ? "loading" : "offline");
        });
        const problem = await player.attach(id, url);
        if (problem !== null && !spurned.has(id)) {
          spurned.add(id);
          shelf.spurn(media);
          continue;
        }
        log.add("load", id, { ms: Math.round(performance.now() - started), bytes: media.bytes });
        ready.add(id);
        if (problem !== null) player.fail(id, problem);
        return;
      }
    } catch (error) {
      if (!(error instanceof MediaError)) return;
      if (isLast) player.fail(id, "load");
    }
  }

  let isLast = false;
  for (;;) {
    const open = slots.filter(({ id }) => !ready.has(id) && player.failure(id) === null);
    if (open.length === 0 || signal.aborted) break;
    for (const slot of open) await fetchOne(slot, isLast);
    const stuck = slots.filter(({ id }) => !ready.has(id) && player.failure(id) === null);
    if (stuck.length === 0) break;
    if (!navigator.onLine) {
      show("offline");
      await once(signal, [window, "online"]);
      continue;
    }
    fill(main, sheet.element);
    show("stuck");
    status(say("loading.stuck"));
    await once(signal, [sheet.again, "click"], [window, "online"]);
    isLast = true;
  }
  clearTimeout(timer);
}

/** @param {AbortSignal} signal @param {...[EventTarget, string]} what @returns {Promise<void>} */
function once(signal, ...what) {
  return new Promise((resolve) => {
    for (const [target, name] of what) target.addEventListener(name, () => resolve(), { once: true, signal });
    signal.addEventListener("abort", () => resolve());
  });
}

/** @param {{ slots: Slot[], label: (slot: Slot) => string, say: Say }} parts */
function draw({ slots, label, say }) {
  const title = element("h1", { id: "loading-title", tabindex: "-1" });
  const text = element("p");
  const percent = element("p", { class: "loading-percent" });
  const bytes = element("p", { class: "small soft loading-bytes" });
  const filled = element("span", { class: "meter-fill" });
  const meter = element(
    "div",
    {
      class: "meter",
      role: "progressbar",
      "aria-valuemin": 0,
      "aria-valuemax": 100,
      "aria-labelledby": "loading-title",
    },
    filled,
  );
  const pieces = slots.map((slot) => element("li", { class: "piece" }, element("span", {}, label(slot))));
  const list = element("ol", { class: "pieces", vars: { pieces: Math.min(8, slots.length) } }, pieces);
  const note = element("p", { class: "small soft" });
  const again = element(
    "button",
    { class: "button button-primary", id: "try-again", type: "button", hidden: true },
    say("loading.again"),
  );
  const node = element(
    "div",
    { class: "sheet sheet-middle" },
    element(
      "section",
      { class: "panel loading", "aria-labelledby": "loading-title" },
      element("div", { class: "lead" }, title, text),
      element("div", { class: "loading-figures" }, percent, bytes),
      meter,
      list,
      note,
      again,
    ),
  );
  return { element: node, title, text, percent, bytes, fill: filled, meter, pieces, list, note, again };
}
