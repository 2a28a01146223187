// An answer waits here until the server has it, over reloads and closed tabs.

import { Declined, Unreachable } from "./client.js";

/** @typedef {{ batch: import("./types").Batch | null, answer: { key: string, body: import("./types").AnswerBody } }} Held */
/** @typedef {ReturnType<typeof openOutbox>} Outbox */

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 20_000;

/** Return the outbox of one session in this tab.
 *  @param {{ client: import("./client.js").Client, storage: import("./storage.js").Storage, session: string, tab: string,
 *            onChange: () => void }} parts */
export function openOutbox({ client, storage, session, tab, onChange }) {
  const place = `outbox:${session}:${tab}`;
  /** @type {Held | null} */
  let held = null;
  let isReached = true;
  /** @type {(() => void) | null} */
  let wake = null;
  addEventListener("online", () => { wake?.(); onChange(); });
  addEventListener("offline", onChange);

  /** @param {boolean} value */
  function reached(value) {
    const isNews = value !== isReached;
    isReached = value;
    if (isNews) onChange();
  }

  /** @template T @param {() => Promise<T>} send @returns {Promise<T>} */
  async function insist(send) {
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      try {
        const answer = await send();
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
  }

  /** @param {number} ms @returns {Promise<void>} */
  function rest(ms) {
    return new Promise((resolve) => {
      const timer = setTimeout(done, ms);
      function done() {
        clearTimeout(timer);
        wake = null;
        resolve();
      }
      wake = done;
    });
  }

  /** Send the events, then the answer; return what the server said to it. @param {Held} what */
  async function deliver({ batch, answer }) {
    if (batch !== null) await insist(() => client.events(batch)).catch(() => {}); // refused: the answer carries them all
    return insist(() => client.answer(answer.key, answer.body));
  }

  return {
    /** Resolve when the server has stored the answer; reject with Declined when it says no.
     *  @param {string} key @param {import("./types").AnswerBody} body
     *  @param {import("./types").Batch | null} batch events that went out before and were not acknowledged
     *  @returns {Promise<import("./types").Stored>} */
    async submit(key, body, batch) {
      held = { batch, answer: { key, body } };
      storage.set(place, held);
      onChange();
      try {
        return await deliver(held);
      } finally {
        held = null;
        storage.remove(place);
        onChange();
      }
    },
    /** Resolve to whether the batch is off our hands: stored, or refused.
     *  @param {import("./types").Batch} batch @param {{ leaving?: boolean }} [options] @returns {Promise<boolean>} */
    async send(batch, options) {
      try {
        await client.events(batch, options);
        reached(true);
      } catch (error) {
        if (error instanceof Unreachable) {
          reached(false);
          return false;
        }
      }
      return true;
    },
    /** Send what earlier pages of this session left behind; return the step after it, or null.
     *  @returns {Promise<import("./types").Step | null>} */
    async recover() {
      /** @type {import("./types").Step | null} */
      let step = null;
      for (const name of storage.names().filter((name) => name.startsWith(`outbox:${session}:`))) {
        held = /** @type {Held | null} */ (storage.get(name));
        onChange();
        try {
          if (held !== null) step = (await deliver(held)).step;
        } catch (error) {
          if (!(error instanceof Declined)) throw error;
          step = error.step ?? step;
        }
        held = null;
        storage.remove(name);
      }
      onChange();
      return step;
    },
    /** Do not wait any longer before the next attempt. */
    tryNow() {
      wake?.();
    },
    /** Wait until the server answers: for reads, with the same patience.
     *  @template T @param {() => Promise<T>} ask @returns {Promise<T>} */
    insist,
    get waiting() {
      return held === null ? 0 : 1;
    },
    get isOnline() {
      return navigator.onLine;
    },
    get isReached() {
      return isReached && navigator.onLine;
    },
  };
}
