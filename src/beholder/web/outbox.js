// An answer waits here until the server has it, over reloads and closed tabs.

import { Declined, Unreachable } from "./client.js";

/** @import { Client } from "./client.js" */
/** @import { Patience } from "./patience.js" */
/** @import { Storage } from "./storage.js" */
/** @import { AnswerBody, Batch, Step, Stored } from "./types" */

/** @typedef {{ batch: Batch | null, answer: { key: string, body: AnswerBody } }} Held */
/** @typedef {ReturnType<typeof openOutbox>} Outbox */

/** Return the outbox of one session in this tab.
 *  @param {{ client: Client, patience: Patience,
 *            storage: Storage, session: string, tab: string, onChange: () => void }} parts */
export function openOutbox({ client, patience, storage, session, tab, onChange }) {
  const place = `outbox:${session}:${tab}`;
  /** @type {Held | null} */
  let held = null;

  /** Send the events, then the answer; return what the server said to it. @param {Held} what */
  async function deliver({ batch, answer }) {
    if (batch !== null) await patience.insist(() => client.events(batch)).catch(() => {}); // refused: the answer carries them all
    return patience.insist(() => client.answer(answer.key, answer.body));
  }

  return {
    /** Resolve when the server has stored the answer; reject with Declined when it says no.
     *  @param {string} key @param {AnswerBody} body
     *  @param {Batch | null} batch events that went out before and were not acknowledged
     *  @returns {Promise<Stored>} */
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
     *  @param {Batch} batch @param {{ leaving?: boolean }} [options] @returns {Promise<boolean>} */
    async send(batch, options) {
      try {
        await client.events(batch, options);
      } catch (error) {
        if (error instanceof Unreachable) {
          patience.reached(false);
          return false;
        }
      }
      patience.reached(true);
      return true;
    },
    /** Send what earlier pages of this session left behind; return the step after it, or null.
     *  @returns {Promise<Step | null>} */
    async recover() {
      /** @type {Step | null} */
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
    get waiting() {
      return held === null ? 0 : 1;
    },
  };
}
