// The server, as seen from here: what can be asked of it, and two ways in which it can say no.

/** @import { AnswerBody, Arrival, Batch, HandSetState, Json, Laboratory, StageReport, StageTold, Station, Step, Stored } from "./types" */

/** Nobody answered, or not now: try again later. */
export class Unreachable extends Error {
  /** @param {string} why @param {number | null} waitMs what the server asked for */
  constructor(why, waitMs = null) {
    super(why);
    this.waitMs = waitMs;
  }
}

/** The server understood and said no. */
export class Declined extends Error {
  /** @param {number} status
   *  @param {{ code?: string, message?: string, where?: string, at?: string, return_url?: string }} error
   *  @param {Step | null} step */
  constructor(status, error, step) {
    super(error.message ?? "");
    this.status = status;
    this.code = error.code ?? "";
    this.at = error.at ?? null;
    this.returnUrl = error.return_url ?? null;
    this.step = step;
  }
}

const PATIENCE_MS = 30_000;

/** Come to a study.
 *  @param {{ study: string, params: Record<string, string>, device: Json, token?: string }} body
 *  @returns {Promise<Arrival>} */
export function arrive(body) {
  // Here the server chooses by what the browser asks for, unless the address says which language it is.
  const tongues = [body.params["lang"] ?? [], navigator.languages].flat();
  return request("POST", "arrive", { body, tongues: tongues.slice(0, 10).join(",") });
}

/** Have everything erased of whoever has a receipt; resolves with when it was done.
 *  @param {string} receipt @returns {Promise<{ at: string, is_on_disk: boolean }>} */
export function forget(receipt) {
  return request("POST", "forget", { body: { receipt } });
}

/** @typedef {ReturnType<typeof connect>} Client */

/** Return the requests of one session.
 *  @param {string} token */
export function connect(token) {
  return {
    /** @param {string} [key] a step to look at, in previews @returns {Promise<Step>} */
    step: (key) => request("GET", key === undefined ? "step" : `step?key=${encodeURIComponent(key)}`, { token }),
    /** @param {string} key @param {AnswerBody} body @returns {Promise<Stored>} */
    answer: (key, body) => request("PUT", `answers/${encodeURIComponent(key)}`, { token, body }),
    /** @param {Batch} batch @param {{ leaving?: boolean }} [options] @returns {Promise<void>} */
    events: (batch, { leaving = false } = {}) => request("POST", "events", { token, body: batch, keepalive: leaving }),
    /** @param {string} tab @param {boolean} open @returns {Promise<void>} */
    presence: (tab, open) => request("POST", "presence", { token, body: { tab, open }, keepalive: !open }),
    /** @param {string} key @returns {Promise<HandSetState>} */
    stage: (key) => request("GET", `stage?key=${encodeURIComponent(key)}`, { token }),
    /** @param {string} key @returns {Promise<HandSetState>} */
    stageCode: (key) => request("POST", "stage/code", { token, body: { key } }),
    /** @param {{ [name: string]: Json }} order @returns {Promise<HandSetState>} */
    stageOrder: (order) => request("POST", "stage/order", { token, body: order }),
    /** @returns {Promise<Step | { step: Step }>} */
    withdraw: () => request("POST", "withdraw", { token, body: {} }),
  };
}

/** Become the stage of the session that shows a code.
 *  @param {{ code: string, device: Json }} body @returns {Promise<{ token: string, title: string }>} */
export function couple(body) {
  return request("POST", "stage/couple", { body });
}

/** Return the requests of a separate stage. @param {string} token */
export function connectStage(token) {
  return {
    /** @param {StageReport} report @param {{ leaving?: boolean }} [options] @returns {Promise<StageTold>} */
    report: (report, { leaving = false } = {}) =>
      request("POST", "stage/report", { token, body: report, keepalive: leaving }),
  };
}

/** Return the requests of one station of a laboratory, or of its operator. @param {string} key */
export function connectLab(key) {
  return {
    /** @returns {Promise<Laboratory>} */
    overview: () => request("GET", "lab", { token: key }),
    /** @param {number} station @returns {Promise<Station>} */
    station: (station) => request("GET", `lab/stations/${station}`, { token: key }),
    /** Seat the next number, after the one who sits there. @param {number} station @param {number | null} after
     *  @returns {Promise<Station>} */
    next: (station, after) => request("POST", `lab/stations/${station}`, { token: key, body: { after } }),
    /** Seat a number again. @param {number} station @param {number} number @returns {Promise<Station>} */
    back: (station, number) => request("POST", `lab/stations/${station}`, { token: key, body: { back: number } }),
  };
}

/** Return whether the server answers at all. @returns {Promise<boolean>} */
export async function isReachable() {
  try {
    return (await fetch(new URL("../../healthz", import.meta.url), { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

/** Resolve with a module; one that did not come is a matter of patience.
 *  @template T @param {Promise<T>} module @returns {Promise<T>} */
export async function fetched(module) {
  return module.catch((error) => {
    // Browsers give no other sign; a fault inside the module says nothing of importing.
    throw error instanceof TypeError && /import/i.test(error.message) ? new Unreachable(error.message) : error;
  });
}

/** @param {string} method @param {string} path
 *  @param {{ token?: string, body?: unknown, keepalive?: boolean, tongues?: string }} options @returns {Promise<any>} */
async function request(method, path, { token, body, keepalive = false, tongues = document.documentElement.lang }) {
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json", "Accept-Language": tongues || "en" };
  if (token !== undefined) headers["Authorization"] = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer, told;
  try {
    answer = await fetch(new URL(`../../api/${path}`, import.meta.url), {
      method,
      headers,
      keepalive,
      cache: "no-store",
      body: body === undefined ? null : JSON.stringify(body),
      signal: keepalive ? null : AbortSignal.timeout(PATIENCE_MS),
    });
    told = answer.status === 204 ? "" : await answer.text();
  } catch (error) {
    throw new Unreachable(String(error));
  }
  if (answer.status === 429 || answer.status >= 500) throw new Unreachable(`HTTP ${answer.status}`, waitOf(answer));
  const read = told === "" ? null : readJson(told);
  if (answer.ok) return read;
  throw new Declined(answer.status, read?.error ?? {}, read?.step ?? read?.error?.step ?? null);
}

/** @param {string} text */
function readJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Unreachable("the answer is not ours"); // a hotel's login page, a proxy's error page
  }
}

/** @param {Response} answer @returns {number | null} */
function waitOf(answer) {
  const seconds = Number(answer.headers.get("Retry-After"));
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : null;
}
