// Media, fetched whole before a page starts, and those of the next page while this one is rated.

import { isReachable } from "../client.js";

/** @import { Media } from "../types" */

/** @typedef {{ got: number, state: "waiting" | "loading" | "ready" | "stuck" | "failed" }} Progress */
/** @typedef {{ chunks: BlobPart[], got: number, blob: Promise<Blob> | null, cache: RequestCache, address: string,
 *              hear: Set<(got: number) => void> }} Piece */
/** @typedef {ReturnType<typeof openShelf>} Shelf */

const SILENT_TRIES = 3;
const WAIT_MS = 700;

/** The server has the clip, and it will not come. */
export class MediaError extends Error {}

/** Where the clip lies, nobody answers now. */
class Away extends TypeError {}

/** Return the shelf on which clips lie while they are needed. */
export function openShelf() {
  /** @type {Map<string, Piece>} */
  const pieces = new Map();
  const line = openLine();
  let order = 0;

  /** @param {Media} media @param {RequestCache} [cache] @returns {Piece} */
  function piece(media, cache = "default") {
    const known = pieces.get(media.url);
    if (known !== undefined) return known;
    /** @type {Piece} */
    const made = { chunks: [], got: 0, blob: null, cache, address: media.signed ?? media.url, hear: new Set() };
    pieces.set(media.url, made);
    return made;
  }

  /** @param {Media} media @returns {Promise<Blob>} */
  function fetchWhole(media) {
    const it = piece(media);
    it.blob ??= insist(media, it, line).catch((error) => {
      it.blob = null; // the next attempt starts with what has come so far
      throw error;
    });
    return it.blob;
  }

  return {
    /** Resolve with a file that is wholly here. Rejects with MediaError, or TypeError off line.
     *  @param {Media} media @param {(got: number) => void} hear bytes so far
     *  @returns {Promise<Blob>} */
    async get(media, hear) {
      const it = piece(media);
      it.hear.add(hear);
      hear(it.got);
      try {
        return await fetchWhole(media);
      } finally {
        it.hear.delete(hear);
      }
    },
    /** Drop everything that neither this page nor the next needs.
     *  @param {Media[]} needed */
    keep(needed) {
      const urls = new Set(needed.map((media) => media.url));
      for (const url of [...pieces.keys()]) if (!urls.has(url)) pieces.delete(url);
    },
    /** Forget a clip that is of no use; the next `get` fetches it anew, past the browser's own cache.
     *  @param {Media} media */
    spurn(media) {
      pieces.delete(media.url);
      piece(media, "reload");
    },
    /** Fetch one after the other, quietly; a later call takes over.
     *  @param {Media[]} list */
    async prefetch(list) {
      const mine = ++order;
      for (const media of list) {
        if (mine !== order) return;
        await fetchWhole(media).catch(() => {}); // its own page will try again, and say so
      }
    },
    /** What has come over the line, and how long that took; what the browser had already is left out.
     *  @returns {{ bytes: number, ms: number }} */
    arrived: () => line.arrived(),
    /** Begin to measure anew. */
    measureAfresh: () => line.clear(),
  };
}

/** @typedef {ReturnType<typeof openLine>} Line */

/** Return what counts bytes, and the time in which any were on their way. */
function openLine() {
  let [bytes, ms, active, since] = [0, 0, 0, 0];
  const pass = () => {
    const now = performance.now();
    if (active > 0) ms += now - since;
    since = now;
  };
  return {
    /** Count what `read` tells of; returns what it does. @template T @param {string} url
     *  @param {(count: (more: number) => void) => Promise<T>} read @returns {Promise<T>} */
    async count(url, read) {
      let own = 0;
      const start = performance.now();
      pass();
      active += 1;
      try {
        return await read((more) => {
          own += more;
          bytes += more;
        });
      } finally {
        pass();
        active -= 1;
        const entry = performance.getEntriesByName(new URL(url, location.href).href, "resource").at(-1);
        if (isFromCache(entry) && entry.startTime >= start - 1) {
          bytes = Math.max(0, bytes - own); // it was in the browser's own cache
          ms = Math.max(0, ms - (performance.now() - start));
        }
      }
    },
    arrived() {
      pass();
      return { bytes, ms };
    },
    clear() {
      pass();
      [bytes, ms] = [0, 0];
    },
  };
}

/** @param {PerformanceEntry | undefined} entry @returns {entry is PerformanceResourceTiming} */
function isFromCache(entry) {
  // Of another origin browsers tell neither size nor times.
  return entry instanceof PerformanceResourceTiming && entry.transferSize === 0 && entry.responseStart > 0;
}

/** @param {Media} media @param {Piece} it @param {Line} line @returns {Promise<Blob>} */
async function insist(media, it, line) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await line.count(it.address, (count) => fetchOnce(media, it, count));
    } catch (error) {
      if (!navigator.onLine) throw new TypeError("offline");
      if (it.address !== media.url) {
        it.address = media.url; // the signature has run out, perhaps: our server leads there by a fresh one
        attempt -= 1;
      } else if (attempt < SILENT_TRIES) await new Promise((resolve) => setTimeout(resolve, WAIT_MS * 2 ** attempt));
      else if (error instanceof MediaError || (isOurs(media, error) && (await isReachable()))) {
        throw new MediaError(String(error));
      } else throw error;
    }
  }
}

/** Whether what went wrong is of our own server alone, and of no bucket. @param {Media} media @param {unknown} error */
const isOurs = (media, error) => media.signed === undefined && !(error instanceof Away);

/** @param {Media} media @param {Piece} it @param {(more: number) => void} count @returns {Promise<Blob>} */
async function fetchOnce(media, it, count) {
  const answer = await fetch(it.address, {
    cache: it.cache,
    ...(it.got > 0 ? { headers: { Range: `bytes=${it.got}-` } } : {}),
  });
  const isAway = answer.status === 429 || answer.status === 503 || (answer.status >= 500 && media.signed !== undefined);
  if (isAway) throw new Away(`HTTP ${answer.status}`);
  if (!answer.ok || answer.body === null) throw new MediaError(`HTTP ${answer.status}`);
  if (answer.status !== 206) Object.assign(it, { chunks: [], got: 0 });
  const reader = answer.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    it.chunks.push(value);
    it.got += value.byteLength;
    count(value.byteLength);
    for (const hear of it.hear) hear(it.got);
  }
  if (it.got !== media.bytes) {
    const got = it.got;
    if (got > media.bytes) Object.assign(it, { chunks: [], got: 0 });
    throw new MediaError(`${got} of ${media.bytes} bytes`);
  }
  const blob = new Blob(it.chunks, { type: answer.headers.get("Content-Type") ?? "" });
  it.chunks = [];
  return blob;
}
