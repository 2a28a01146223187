// Requests to the desk: documents as JSON, and acts; what goes wrong comes as problems in words.

/** @import { Json } from "./types" */

/** What the desk refused, or could not do. */
export class Refusal extends Error {
  /** @param {number} status @param {{ where: string, what: string, allowed: string, fix: string }[]} problems */
  constructor(status, problems) {
    super(problems.map(sentence).join(" ") || `HTTP ${status}`);
    this.status = status;
    this.problems = problems;
  }
}

/** @param {{ where?: string, what?: string, allowed?: string, fix?: string }} problem */
function sentence({ where = "", what = "", allowed = "", fix = "" }) {
  const head = [where, what].filter(Boolean).join(" ");
  return [head && `${head}.`, allowed && `Allowed: ${allowed}.`, fix].filter(Boolean).join(" ");
}

/** Return a document of the desk; raise Refusal where there is none. @template T
 *  @param {string} address @param {AbortSignal} signal @returns {Promise<T>} */
export async function read(address, signal) {
  const reply = await fetch(address, { signal, headers: { accept: "application/json" } });
  return /** @type {T} */ (await body(reply));
}

/** Do something; return what the desk says about it. @template T
 *  @param {string} address @param {Json} value @param {"POST" | "DELETE" | "PUT"} [method] @returns {Promise<T>} */
export async function send(address, value, method = "POST") {
  const reply = await fetch(address, {
    method,
    headers: { accept: "application/json", "content-type": "application/json" },
    body: method === "DELETE" ? null : JSON.stringify(value),
  });
  return /** @type {T} */ (await body(reply));
}

/** @param {Response} reply @returns {Promise<unknown>} */
async function body(reply) {
  const value = /** @type {any} */ (await reply.json().catch(() => ({})));
  if (reply.ok) return value;
  throw new Refusal(reply.status, Array.isArray(value.problems) ? value.problems : []);
}

/** Return the address of what the desk tells of a study. @param {string} study @param {string} what */
export const addressOf = (study, what) => `/api/studies/${encodeURIComponent(study)}/${what}`;

/** Return a query, without what is empty. @param {{ [name: string]: string | number }} values */
export function queryOf(values) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== "") query.set(name, String(value));
  const text = query.toString();
  return text ? `?${text}` : "";
}

/** Hear every new document of a study as it changes, until the signal; ask now and then where there is no stream.
 *  @template T @param {string} study @param {AbortSignal} signal
 *  @param {(document: T) => void} hear @param {(isLive: boolean) => void} tell whether the stream is there */
export function follow(study, signal, hear, tell) {
  const source = new EventSource(addressOf(study, "stream"));
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let asking;
  const ask = async () => {
    try {
      hear(await read(addressOf(study, "now"), signal));
    } catch {
      tell(false);
    }
    if (!signal.aborted) asking = setTimeout(ask, 15_000);
  };
  source.onopen = () => {
    clearTimeout(asking);
    asking = undefined;
    tell(true);
  };
  source.onmessage = ({ data }) => hear(JSON.parse(data));
  source.onerror = () => {
    tell(false);
    asking ??= setTimeout(ask, 15_000);
  };
  signal.addEventListener("abort", () => {
    clearTimeout(asking);
    source.close();
  });
}
