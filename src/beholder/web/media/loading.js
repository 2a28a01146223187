// Getting the media of a page: measured bytes, an honest word when they do not come, and a way on.

import { fetched } from "../client.js";
import { fill } from "../element.js";
import { MediaError } from "./shelf.js";

/** @import { Log } from "../log.js" */
/** @import { Shelf } from "./shelf.js" */
/** @import { Patience } from "../patience.js" */
/** @import { Player, Say, Slot, Trial } from "../types" */
/** @import { Waiting } from "./waiting.js" */

const PATIENCE_MS = 200; // what comes faster needs no page of its own
const PAUSE_MS = 4000; // between attempts while nobody answers
const LONGEST_WAIT_MS = 180_000; // after which there is a way on without it

/** Fetch all media of a trial and hand them to the player; slots that will not come are failed there.
 *  @param {{ trial: Trial, main: HTMLElement, shelf: Shelf, say: Say,
 *            status: (text: string) => void, label: (slot: Slot) => string, page: number,
 *            contact: string | null, patience: Patience, signal: AbortSignal, log: Log,
 *            player: Player & { attach(id: string, blob: Blob): Promise<string | null>,
 *                               fail(id: string, what: string): void } }} parts */
export async function load({ trial, main, shelf, say, status, label, page, contact, patience, signal, log, player }) {
  const slots = trial.slots.filter(({ id }) => player.failure(id) === null);
  const got = new Map(slots.map(({ id }) => [id, 0]));
  const ready = new Set();
  /** What would not come, or could not be shown, and why. @type {Map<string, string>} */
  const stuck = new Map();
  const isKept = trial.playback.skip === false; // no way on without it
  let tries = 0;
  const begun = performance.now();
  /** What nobody answers for. @type {Set<string>} */
  const away = new Set();
  /** Since when. @type {number | null} */
  let awaySince = null;
  /** @type {Waiting | null} */
  let sheet = null;

  /** @param {"loading" | "offline" | "stuck"} state */
  const show = (state) => sheet?.show({ state, got, ready, tries });
  /** Put the page of waiting up, which most people never see. @param {"loading" | "offline" | "stuck"} state */
  async function wait(state) {
    const { waiting } = await patience.insist(() => fetched(import("./waiting.js")));
    const isNew = sheet === null;
    const mine = (sheet ??= waiting({ slots, label, say, page, contact: isKept ? contact : null, isKept, begun }));
    if (signal.aborted || (state === "loading" && (!isNew || ready.size === slots.length || tries > 0))) return mine;
    show(state);
    fill(main, mine.element);
    status((state === "stuck" ? mine.note : mine.title).textContent ?? "");
    return mine;
  }

  const timer = setTimeout(() => {
    if (!signal.aborted && ready.size < slots.length) void wait("loading");
  }, PATIENCE_MS);

  /** @param {Slot} slot */
  async function fetchOne({ id, media }) {
    const started = performance.now();
    stuck.delete(id);
    away.delete(id);
    try {
      for (let isFirst = tries === 0; ; isFirst = false) {
        const blob = await shelf.get(media, (bytes) => {
          const isComing = bytes > (got.get(id) ?? 0);
          got.set(id, bytes);
          if (isComing || awaySince === null) show(navigator.onLine ? "loading" : "offline");
        });
        const problem = await player.attach(id, blob);
        if (problem === null) break;
        shelf.spurn(media); // came, and could not be shown: fetched anew, once without a word
        if (isFirst) continue;
        stuck.set(id, problem);
        return;
      }
      log.add("load", id, { ms: Math.round(performance.now() - started), bytes: media.bytes });
      ready.add(id);
    } catch (error) {
      if (error instanceof MediaError) stuck.set(id, "load");
      else away.add(id);
    }
  }

  for (;;) {
    for (const slot of slots) if (!ready.has(slot.id) && !signal.aborted) await fetchOne(slot);
    if (ready.size === slots.length || signal.aborted) break;
    if (!navigator.onLine) {
      const back = once(signal, [window, "online"]);
      void wait("offline");
      await back;
      continue;
    }
    awaySince = away.size > 0 ? (awaySince ?? performance.now()) : null;
    if (awaySince !== null && performance.now() - awaySince < LONGEST_WAIT_MS) {
      // Where it lies, nobody answers: no fault of anything here, and tried again without a word of failure.
      clearTimeout(timer);
      await wait("offline");
      await pause(signal, PAUSE_MS);
      continue;
    }
    for (const id of away) stuck.set(id, "load");
    tries += 1;
    if (isKept) for (const [id, what] of stuck) log.add("error", id, { what, again: true });
    clearTimeout(timer); // it would say "loading" over this
    const { again, report } = await wait("stuck");
    const done = await once(signal, [again, "click"], [report, "click"], [window, "online"]);
    if (done !== report) continue;
    log.add("click", null, { what: "report" });
    for (const [id, what] of stuck) player.fail(id, what);
    break;
  }
  clearTimeout(timer);
}

/** Resolve after a while, or when the connection is back. @param {AbortSignal} signal @param {number} ms */
async function pause(signal, ms) {
  const over = new AbortController();
  signal.addEventListener("abort", () => over.abort(), { signal: over.signal });
  const timer = setTimeout(() => over.abort(), ms);
  await once(over.signal, [window, "online"]);
  clearTimeout(timer);
  over.abort();
}

/** Resolve with where it happened, or null at the end. @param {AbortSignal} signal @param {...[EventTarget, string]} what
 *  @returns {Promise<EventTarget | null>} */
function once(signal, ...what) {
  return new Promise((resolve) => {
    for (const [target, name] of what) target.addEventListener(name, () => resolve(target), { once: true, signal });
    signal.addEventListener("abort", () => resolve(null));
  });
}
