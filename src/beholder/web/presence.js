// That a page is open: said every few seconds and when it is left, so that a server that has enough answers stays for it.

/** @import { Client } from "./client.js" */

/** @typedef {ReturnType<typeof openPresence>} Presence */

const SAY_EVERY_MS = 20_000;

/** Say that this page is open, until it is left or `end` is called. Whether the server hears it changes nothing here.
 *  @param {Client} client @param {string} tab */
export function openPresence(client, tab) {
  const over = new AbortController();
  /** @param {boolean} isOpen */
  const say = (isOpen) => void client.presence(tab, isOpen).catch(() => {});
  const timer = setInterval(() => say(true), SAY_EVERY_MS);
  addEventListener("pagehide", () => say(false), { signal: over.signal });
  // A page that comes back out of the browser's memory was hidden, not closed.
  addEventListener("pageshow", (event) => event.persisted && say(true), { signal: over.signal });
  say(true);
  return {
    /** There is nothing to wait for any more. */
    end() {
      clearInterval(timer);
      over.abort();
      say(false);
    },
  };
}
