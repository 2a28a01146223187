// Refresh: the intervals between pictures, after a few to warm up.

import { list } from "../../check_kit/list.js";

/** @import { CheckPage } from "../../types" */

const LONGEST_MS = 15_000; // on a screen that hardly moves, what has been seen is enough

/** @type {CheckPage} */
export default function refresh(step, page) {
  const { warm_up: warmUp, intervals: many } = step.public;
  return list(step, page, { measure: () => intervals(warmUp, many, page.signal) });
}

/** @param {number} warmUp @param {number} many @param {AbortSignal} signal
 *  @returns {Promise<{ intervals: number[], hidden: boolean }>} */
async function intervals(warmUp, many, signal) {
  let hidden = document.hidden;
  const note = () => {
    hidden ||= document.hidden;
  };
  document.addEventListener("visibilitychange", note, { signal });
  /** @type {number[]} */
  const times = [];
  const start = performance.now();
  await new Promise((resolve) => {
    const frame = (/** @type {number} */ time) => {
      times.push(time);
      const isOver = times.length > warmUp + many || (times.length > warmUp + 1 && time - start > LONGEST_MS);
      if (isOver || hidden || signal.aborted) resolve(null);
      else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  document.removeEventListener("visibilitychange", note);
  const kept = times.slice(warmUp);
  return { intervals: kept.slice(1).map((time, n) => Math.round((time - kept[n]) * 100) / 100), hidden };
}
