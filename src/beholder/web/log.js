// The log and the draft of one step: what happened on the page, and what is half done. Both survive a reload, and what
// the server has heard of them another device.

/** @import { Outbox } from "./outbox.js" */
/** @import { Storage } from "./storage.js" */
/** @import { AnswerBody, Batch, Event, EventKind, Json, KeptDraft } from "./types" */

/** @typedef {{ tab: string, shown_ms: number, events: Event[], stored: number, tried: number,
 *              values: Record<string, Json>, revision: number, told: number }} Draft */
/** @typedef {ReturnType<typeof openLog>} Log */

const SAVE_EVERY_MS = 400;
const SEND_EVERY_MS = 25_000;
const TELL_AFTER_MS = 5000; // what somebody has just set or written goes to the server so soon
const CROWDED = 3000; // so many events, and small ones are left out: an answer must stay under 256 kB
const SMALL = new Set(["change", "key", "click", "press", "focus"]);
const LEAVING_BYTES = 60_000; // browsers carry at most 64 kB after a page has gone

/** Return the log of a step, continued where an earlier page left it.
 *  @param {{ key: string, session: string, tab: string, storage: Storage,
 *            outbox: Outbox, signal: AbortSignal, isQuiet: boolean,
 *            elsewhere: KeptDraft | null }} parts `elsewhere`: what the server has of this person's page */
export function openLog({ key, session, tab, storage, outbox, signal, isQuiet, elsewhere }) {
  const place = `draft:${session}:${key}`;
  for (const name of storage.names()) if (name.startsWith("draft:") && name !== place) storage.remove(name);

  let kept = /** @type {Draft | null} */ (storage.get(place));
  if (elsewhere !== null && elsewhere.key === key && elsewhere.revision > (kept?.revision ?? 0)) {
    const { shown_ms, events, values, revision } = elsewhere;
    kept = { tab, shown_ms, events, values, revision, stored: 0, tried: 0, told: revision };
  }
  /** @type {Draft} */
  const draft = {
    tab, shown_ms: Date.now(), events: [], stored: 0, tried: 0, values: {}, revision: 0, told: 0, ...kept,
  }; // prettier-ignore
  if (draft.tab !== tab) Object.assign(draft, { tab, stored: 0, tried: 0 }); // counted per tab
  const last = draft.events.at(-1)?.[0] ?? 0;
  const begun = Math.max(last, Date.now() - draft.shown_ms) - performance.now();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let saving;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let telling;

  function save() {
    clearTimeout(saving);
    saving = undefined;
    if (!signal.aborted) storage.set(place, draft);
  }
  function saveSoon() {
    saving ??= setTimeout(save, SAVE_EVERY_MS);
  }

  /** A batch that was tried once keeps its ends, so that sending it again changes nothing.
   *  @returns {Batch | null} */
  function batch() {
    if (draft.tried <= draft.stored) return null;
    return { key, tab, from: draft.stored, events: draft.events.slice(draft.stored, draft.tried) };
  }

  /** @param {{ leaving?: boolean }} [options] */
  async function send({ leaving = false } = {}) {
    if (isQuiet) return;
    if (draft.tried <= draft.stored) draft.tried = draft.events.length;
    save();
    clearTimeout(telling);
    telling = undefined;
    const { revision, shown_ms, values } = draft;
    const isNew = revision > draft.told;
    const tried = batch() ?? (isNew ? { key, tab, from: draft.stored, events: [] } : null);
    if (tried === null) return;
    const body = isNew ? { ...tried, draft: { revision, shown_ms, values } } : tried;
    if (leaving && JSON.stringify(body).length > LEAVING_BYTES) return;
    const end = draft.tried;
    if (await outbox.send(body, { leaving })) {
      draft.stored = Math.max(draft.stored, end);
      draft.told = Math.max(draft.told, revision);
    }
    saveSoon();
  }

  const timer = setInterval(send, SEND_EVERY_MS);
  addEventListener(
    "pagehide",
    () => {
      add("visibility", null, { hidden: true });
      send({ leaving: true });
    },
    { signal },
  );
  // A phone that is put away may never come back to this page.
  document.addEventListener(
    "visibilitychange",
    () => {
      if (document.visibilityState === "hidden") void send({ leaving: true });
    },
    { signal },
  );
  signal.addEventListener("abort", () => {
    clearInterval(timer);
    clearTimeout(telling);
    clearTimeout(saving);
  });

  /** @param {EventKind} kind @param {string | null} slot @param {Json} data */
  function add(kind, slot, data) {
    if (signal.aborted || (draft.events.length > CROWDED && SMALL.has(kind))) return;
    draft.events.push([Math.round(begun + performance.now()), kind, slot, data]);
    saveSoon();
  }

  return {
    add,
    /** Everything so far, also from before a reload. @returns {readonly Event[]} */
    get events() {
      return draft.events;
    },
    values: {
      /** @param {string} name @returns {Json | undefined} */
      get: (name) => draft.values[name],
      /** @param {string} name @param {Json} value */
      set(name, value) {
        draft.values[name] = value;
        draft.revision += 1;
        saveSoon();
        telling ??= setTimeout(send, TELL_AFTER_MS);
      },
    },
    /** Return the body of an answer that is given now, and the batch that has to go before it.
     *  @param {Json} answer @param {AnswerBody["input"]} input
     *  @returns {{ body: AnswerBody, batch: Batch | null }} */
    seal(answer, input) {
      save();
      const body = {
        answer,
        events: [...draft.events],
        from: Math.max(draft.tried, draft.stored),
        tab,
        shown_ms: draft.shown_ms,
        sent_ms: Date.now(),
        input,
      };
      return { body, batch: batch() };
    },
    /** Forget the draft: the step is over. */
    close() {
      clearTimeout(telling);
      clearTimeout(saving);
      storage.remove(place);
    },
  };
}
