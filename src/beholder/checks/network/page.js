// Network: what our own media took to arrive. They load since the consent; nothing is downloaded for this alone.

import { element, fill } from "../../element.js";
import { list } from "../../check_kit/list.js";

/** @import { Page } from "../../run.js" */
/** @import { CheckPage, CheckStep, Json } from "../../types" */

const LOOK_MS = 100;

/** @type {CheckPage} */
export default function network(step, page) {
  return list(step, page, { measure: (room) => measure(step, page, room) });
}

/** @param {CheckStep} step @param {Page} page @param {HTMLElement} room @returns {Promise<Json>} */
async function measure(step, { shelf, say, signal }, room) {
  const { bytes, ms, longest_ms: longest } = step.public;
  const text = element("p", { class: "small soft" });
  fill(room, text);
  if (step.told !== null) shelf.measureAfresh();
  let whole = false;
  void shelf.prefetch(step.prefetch).then(() => {
    whole = true;
  });
  const start = performance.now();
  for (;;) {
    const got = shelf.arrived();
    text.textContent = say("reading", { mb: got.bytes / 1e6 });
    const isEnough = got.bytes >= bytes && got.ms >= ms;
    if (isEnough || whole || got.ms >= longest || performance.now() - start >= longest || signal.aborted)
      return { bytes: got.bytes, ms: Math.round(got.ms), whole };
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
