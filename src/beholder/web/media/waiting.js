// The page of waiting for media: measured bytes, an honest word when they do not come, and a way on.

import { element, fill } from "../element.js";
import { contactLine } from "../frame/help.js";

/** @import { Say, Slot } from "../types" */

const MEGA = 1e6;

/** @typedef {ReturnType<typeof waiting>} Waiting */

/** Return the page that waits for the media of a trial.
 *  @param {{ slots: Slot[], label: (slot: Slot) => string, say: Say, page: number, contact: string | null,
 *            isKept: boolean, begun: number }} parts `isKept`: there is no way on without them; `begun`: when it was */
export function waiting({ slots, label, say, page, contact, isKept, begun }) {
  const total = slots.reduce((sum, { media }) => sum + media.bytes, 0);
  const title = element("h1", { id: "loading-title", tabindex: "-1" });
  const text = element("p");
  const percent = element("p", { class: "loading-percent" });
  const bytes = element("p", { class: "small soft loading-bytes" });
  const filled = element("span", { class: "meter-fill" });
  const meter = element(
    "div",
    {
      class: "meter",
      role: "progressbar",
      "aria-valuemin": 0,
      "aria-valuemax": 100,
      "aria-labelledby": "loading-title",
    },
    filled,
  );
  const pieces = slots.map((slot) => element("li", { class: "piece" }, element("span", {}, label(slot))));
  const list = element("ol", { class: "pieces", vars: { pieces: Math.min(8, slots.length) } }, pieces);
  const note = element("p", { class: "small soft" });
  const again = element(
    "button",
    { class: "button button-primary", id: "try-again", type: "button" },
    say("loading.again"),
  );
  const report = element("button", { class: "button", id: "next", type: "button" }, say("loading.report"));
  const ways = element("div", { class: "actions", hidden: true }, report, again);
  const whom = element("div", { class: "small", hidden: true }, contactLine(contact, say));
  const node = element(
    "div",
    { class: "sheet sheet-middle" },
    element(
      "section",
      { class: "panel loading", "aria-labelledby": "loading-title" },
      element("div", { class: "lead" }, title, text),
      element("div", { class: "loading-figures" }, percent, bytes),
      meter,
      list,
      note,
      whom,
      ways,
    ),
  );

  /** @param {{ state: "loading" | "offline" | "stuck", got: Map<string, number>, ready: Set<string>, tries: number }} how */
  function show({ state, got, ready, tries }) {
    const sum = [...got.values()].reduce((a, b) => a + b, 0);
    const seconds = (performance.now() - begun) / 1000;
    const left = sum > 0 && seconds > 1 ? Math.ceil(((total - sum) * seconds) / sum) : null;
    const pace = state === "offline" ? say("loading.waits") : state === "stuck" || left === null ? "" : say("loading.left", { n: left });
    fill(title, say(state === "offline" ? "loading.offline" : "loading.title", { page }));
    fill(text, say("loading.text", { n: slots.length }));
    fill(percent, say("loading.percent", { share: Math.floor((100 * sum) / total) }));
    const megabytes = { got: (sum / MEGA).toFixed(1), total: (total / MEGA).toFixed(1) };
    fill(bytes, say("loading.bytes", megabytes), element("br"), pace);
    filled.style.setProperty("--value", String((100 * sum) / total));
    meter.setAttribute("aria-valuenow", String(Math.floor((100 * sum) / total)));
    meter.classList.toggle("is-paused", state !== "loading");
    slots.forEach(({ id, media }, place) => {
      pieces[place].style.setProperty("--value", String((100 * (got.get(id) ?? 0)) / media.bytes));
      pieces[place].classList.toggle("is-done", ready.has(id));
    });
    const count = say("loading.ready", { ready: ready.size, n: slots.length });
    list.setAttribute("aria-label", count);
    const words = isKept ? "loading.kept" : tries > 1 ? "loading.failed" : "loading.stuck";
    fill(note, state === "stuck" ? say(words) : `${count} ${say("loading.leave")}`);
    ways.hidden = state !== "stuck";
    report.hidden = isKept || tries < 2;
    whom.hidden = !isKept || state !== "stuck";
  }
  return { element: node, title, note, again, report, show };
}
