// Waiting for the server: again and again, with growing pauses, at once when the connection is back.

import { Unreachable } from "./client.js";

/** @typedef {ReturnType<typeof openPatience>} Patience */

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 20_000;

/** Return the patience of a page. @param {() => void} onChange whenever the server comes or goes */
export function openPatience(onChange) {
  let hasAnswer = true;
  /** @type {Set<() => void>} */
  const sleepers = new Set();
  const wakeAll = () => [...sleepers].forEach((wake) => wake());
  addEventListener("online", () => {
    wakeAll();
    onChange();
  });
  addEventListener("offline", onChange);

  /** @param {boolean} value */
  function reached(value) {
    if (value === hasAnswer) return;
    hasAnswer = value;
    onChange();
  }

  /** @param {number} ms @returns {Promise<void>} */
  function rest(ms) {
    return new Promise((resolve) => {
      const timer = setTimeout(wake, ms);
      function wake() {
        clearTimeout(timer);
        sleepers.delete(wake);
        resolve();
      }
      sleepers.add(wake);
    });
  }

  return {
    reached,
    /** Ask until there is an answer; anything but Unreachable is one.
     *  @template T @param {() => Promise<T>} ask @returns {Promise<T>} */
    async insist(ask) {
      for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
        try {
          const answer = await ask();
          reached(true);
          return answer;
        } catch (error) {
          if (!(error instanceof Unreachable)) {
            reached(true);
            throw error;
          }
          reached(false);
          // A little chance, so that a room full of people does not come back in one moment.
          await rest(error.waitMs ?? wait * (0.8 + 0.4 * Math.random()));
        }
      }
    },
    /** Do not wait any longer before the next attempt. */
    tryNow: wakeAll,
    get isReached() {
      return hasAnswer && navigator.onLine;
    },
  };
}
