// Replay: a page of a session again, as its log tells it. The stimuli play along under the cursor.

import { element, fill, setAttribute, write } from "../../../web/element.js";
import { icon } from "../../../web/icons.js";
import { addressOf, queryOf, read } from "../api.js";
import { pathOf } from "../bar.js";
import { number, place as clockOf, plainValue } from "../format.js";
import { button, choice, empty, head, marks, panel, pill, status } from "../parts.js";
import { openRows } from "../rows.js";
import { openScreens } from "../screens.js";
import { drawTimeline } from "../timeline.js";

/** @import { Desk, Json, Moment, Page, ReplayDocument, Timeline } from "../types" */

const SPEEDS = [1, 2, 4, 8, 16];
const FAR_MS = 10_000;
const NEAR_MS = 1000;

/** @type {Page} */
export default async function replay(main, desk) {
  const { place, say, signal } = desk;
  const page = place.query.get("page") ?? "";
  const document = /** @type {ReplayDocument} */ (
    await read(
      addressOf(place.study, `people/${encodeURIComponent(place.person)}/sessions/${encodeURIComponent(place.session)}/replay`) + queryOf({ page }),
      signal,
    )
  );
  const here = pathOf(place.study, "people", place.person, place.session);
  const top = [
    element("p", { class: "back" }, element("a", { href: pathOf(place.study, "people", document.participant) }, say("replay.person", { who: document.participant.slice(0, 8) }))),
    head(say("replay.title"), pill(document.outcome ?? "under_way", say(`outcome.${document.outcome ?? "open"}`)), marks(desk, document)),
    document.reasons.length > 0 ? element("ul", { class: "reasons" }, document.reasons.map((reason) => element("li", {}, status("attention", reason)))) : null,
  ];
  const timeline = document.page;
  if (document.erased || timeline === null)
    return fill(main, ...top, empty(say(document.erased ? "visit.erased" : "replay.none"), say(document.erased ? "visit.erased.words" : "replay.none.words")));
  const parts = openReplay(timeline, document, here, desk);
  fill(
    main,
    ...top,
    element("div", { class: "replay" }, pagesOf(document, timeline.key, here, desk), element("div", { class: "replay-main" }, parts.stage, parts.panel, parts.moments)),
  );
  parts.begin(Number(place.query.get("at") ?? 0));
}

/** Return the pages of the session; what was odd about one stands beside it.
 *  @param {ReplayDocument} document @param {string} now @param {string} here @param {Desk} desk */
function pagesOf({ pages }, now, here, desk) {
  const { say, go } = desk;
  const odd = (/** @type {ReplayDocument["pages"][number]} */ one) =>
    [one.blurs > 0 && say("replay.blurs", { n: one.blurs }), one.stalls > 0 && say("replay.stalls", { n: one.stalls })].filter(Boolean).join(", ");
  const address = (/** @type {string} */ key) => here + queryOf({ page: key });
  const picker = choice(
    say("replay.page"),
    pages.map((one) => [one.key, `${one.title} (${number(one.seconds)} s)`]),
    now,
    (key) => go(address(key)),
  );
  return element(
    "nav",
    { class: "replay-pages", "aria-label": say("replay.pages") },
    element("div", { class: "replay-picker" }, picker.element),
    element(
      "ol",
      {},
      pages.map((one) =>
        element(
          "li",
          {},
          element(
            "a",
            { href: address(one.key), "aria-current": one.key === now ? "page" : null },
            element("span", {}, one.title),
            element("span", { class: "soft small" }, say("seconds", { n: one.seconds })),
            odd(one) ? element("span", { class: "small replay-odd" }, status("attention", odd(one))) : null,
          ),
        ),
      ),
    ),
  );
}

/** @param {Timeline} timeline @param {ReplayDocument} document @param {string} here @param {Desk} desk */
function openReplay(timeline, document, here, desk) {
  const { say, signal, go, announce } = desk;
  const length = Math.max(1, timeline.length_ms);
  const { moments } = timeline;
  let at = 0;
  let speed = 1;
  let isPlaying = false;
  let before = 0;
  let shown = -1;

  const screens = openScreens(timeline, desk);
  const lanes = drawTimeline(timeline, desk, (ms) => seek(ms));
  const slider = element("input", {
    type: "range", class: "scrub", min: 0, max: Math.round(length), step: 100, "aria-label": say("replay.moment"),
    on: { input: () => seek(Number(slider.value), { isSlid: true }) },
  }); // prettier-ignore
  const clock = element("output", { class: "replay-clock" });
  const playing = element("button", { class: "button button-primary replay-play", type: "button", on: { click: () => toggle() } });
  const speeds = element(
    "div",
    { class: "filters", role: "group", "aria-label": say("replay.speed") },
    SPEEDS.map((one) => element("button", { class: "filter", type: "button", "data-speed": one, "aria-pressed": String(one === 1), on: { click: () => setSpeed(one) } }, `${one}×`)),
  );
  const copy = button([icon("copy"), say("replay.link")], () => void copyLink());
  const sound = element("input", { type: "checkbox", on: { change: () => screens.setSound(sound.checked) } });

  const list = openRows({
    label: say("replay.moments"),
    heads: [say("replay.at"), say("replay.what"), say("replay.where")],
    kind: "moments",
    total: moments.length,
    page: 200,
    first: moments.slice(0, 200),
    read: async (offset) => moments.slice(offset, offset + 200),
    draw: (one) => momentCells(one),
    tall: 34,
  });

  /** @param {Moment} one */
  function momentCells(one) {
    const isNow = moments[shown] === one;
    return [
      element("button", { class: `moment${isNow ? " is-now" : ""}`, type: "button", "aria-current": isNow ? "true" : null, on: { click: () => seek(one.ms) } }, clockOf(one.ms)),
      wordsOf(one, desk, timeline),
      nameOf(one.slot, timeline, say),
    ];
  }

  /** @param {number} ms @param {{ isSlid?: boolean }} [how] */
  function seek(ms, { isSlid = false } = {}) {
    at = Math.min(length, Math.max(0, ms));
    show({ isSlid });
    remember();
  }

  /** @param {{ isSlid?: boolean }} [how] */
  function show({ isSlid = false } = {}) {
    if (!isSlid) slider.value = String(Math.round(at));
    setAttribute(slider, "aria-valuetext", say("replay.valuetext", { at: clockOf(at), of: clockOf(length) }));
    write(clock, `${clockOf(at)} / ${clockOf(length)}`);
    lanes.show(at);
    screens.show(at, isPlaying ? speed : 0);
    let last = -1;
    let low = 0;
    let high = moments.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (/** @type {Moment} */ (moments[middle]).ms <= at + 0.5) [last, low] = [middle, middle + 1];
      else high = middle - 1;
    }
    if (last !== shown) {
      shown = last;
      if (shown >= 0) list.bring(shown);
      list.redraw();
    }
  }

  /** @param {number} now */
  function step(now) {
    if (!isPlaying || signal.aborted) return;
    at = Math.min(length, at + (now - before) * speed);
    before = now;
    if (at >= length) pause();
    show();
    if (isPlaying) requestAnimationFrame(step);
  }

  function toggle() {
    if (isPlaying) return pause();
    if (at >= length) at = 0;
    isPlaying = true;
    before = performance.now();
    tellPlaying();
    requestAnimationFrame(step);
  }
  function pause() {
    isPlaying = false;
    tellPlaying();
    show();
    remember();
  }
  function tellPlaying() {
    fill(playing, icon(isPlaying ? "pause" : "play"), say(isPlaying ? "replay.pause" : "replay.play"));
  }
  /** @param {number} one */
  function setSpeed(one) {
    speed = one;
    for (const node of speeds.querySelectorAll("button")) node.setAttribute("aria-pressed", String(Number(node.dataset["speed"]) === one));
    announce(say("replay.speed.told", { n: one }));
    show();
  }

  const link = () => new URL(here + queryOf({ page: timeline.key, at: Math.round(at) }), location.href);
  function remember() {
    if (!signal.aborted) history.replaceState(null, "", link());
  }
  async function copyLink() {
    remember();
    await navigator.clipboard?.writeText(link().href).then(() => announce(say("replay.copied")), () => announce(link().href));
  }

  /** @param {number} by */
  function toMoment(by) {
    const found = by > 0 ? moments.find(({ ms }) => ms > at + 1) : moments.filter(({ ms }) => ms < at - 1).at(-1);
    if (found === undefined) return;
    seek(found.ms);
    announce(`${clockOf(found.ms)} ${plainOf(wordsOf(found, desk, timeline))}`);
  }
  /** @param {number} by */
  function toPage(by) {
    const next = document.pages[document.pages.findIndex(({ key }) => key === timeline.key) + by];
    if (next !== undefined) go(here + queryOf({ page: next.key }));
  }

  /** @type {{ [key: string]: () => void }} */
  const keys = {
    " ": toggle, k: toggle, ArrowRight: () => seek(at + NEAR_MS), ArrowLeft: () => seek(at - NEAR_MS),
    l: () => seek(at + FAR_MS), j: () => seek(at - FAR_MS), ".": () => toMoment(1), ",": () => toMoment(-1),
    "+": () => setSpeed(Math.min(16, speed * 2)), "-": () => setSpeed(Math.max(1, speed / 2)),
    Home: () => seek(0), End: () => seek(length), n: () => toPage(1), p: () => toPage(-1), c: () => void copyLink(),
  }; // prettier-ignore
  globalThis.document.addEventListener(
    "keydown",
    (event) => {
      const target = event.target instanceof HTMLElement ? event.target : null;
      if (event.ctrlKey || event.metaKey || event.altKey || target?.closest("dialog, textarea, select, input:not(.scrub)")) return;
      const isPress = event.key === " " && target?.closest("button, a, summary") !== null && target !== null;
      const isList = target?.closest(".rows") && /^(Arrow|Home|End|Page)/.test(event.key);
      const run = keys[event.key];
      if (run === undefined || isPress || isList) return;
      event.preventDefault();
      run();
    },
    { signal },
  );
  signal.addEventListener("abort", () => {
    isPlaying = false;
    list.close();
    lanes.close();
    screens.close();
  });

  const help = [["Space", "play"], ["← →", "near"], ["J L", "far"], [", .", "moment"], ["− +", "speed"], ["P N", "page"], ["C", "copy"]];
  return {
    stage: screens.element,
    panel: element(
      "section",
      { class: "panel panel-timeline", "aria-label": say("replay.timeline") },
      element("div", { class: "replay-tools" }, playing, speeds, element("label", { class: "check" }, sound, say("replay.sound")), clock, copy),
      slider,
      lanes.element,
      element("p", { class: "keys soft small" }, help.map(([key, name]) => element("span", {}, element("kbd", {}, key ?? ""), ` ${say(`replay.key.${name}`)}`))),
      timeline.other_tabs > 0 ? element("p", { class: "small" }, status("attention", say("replay.tabs", { n: timeline.other_tabs }))) : null,
    ),
    moments: panel(say("replay.moments"), { name: "moments", aside: element("span", { class: "soft small" }, say("replay.n", { n: moments.length })) }, moments.length > 0 ? list.element : element("p", { class: "soft" }, say("replay.silent"))),
    /** @param {number} from */
    begin(from) {
      tellPlaying();
      at = Number.isFinite(from) ? Math.min(length, Math.max(0, from)) : 0;
      show();
    },
  };
}

/** Return the label of a slot as it stood on the page. @param {string | null} slot @param {Timeline} timeline @param {import("../../../web/types").Say} say */
export function nameOf(slot, { slots }, say) {
  if (slot === null) return say("replay.thepage");
  const found = slots.find(({ id }) => id === slot);
  return found?.label ?? slot;
}

/** Return what happened, in words. @param {Moment} moment @param {Desk} desk @param {Timeline} timeline */
function wordsOf({ kind, data }, { say }, { controls }) {
  const asked = (/** @type {Json | undefined} */ id) => `“${controls.find(({ question }) => question === id)?.text ?? plainValue(id)}”`;
  const from = typeof data["at"] === "number" ? clockOf(data["at"]) : "";
  switch (kind) {
    case "play":
      return say("moment.play", { at: from || clockOf(0) });
    case "pause":
    case "stall":
    case "ended":
      return say(`moment.${kind}`, { at: from });
    case "seek":
      return say("moment.seek", { at: from, to: typeof data["to"] === "number" ? clockOf(data["to"]) : "" });
    case "focus":
      return say(data["has"] === false ? "moment.focus.lost" : "moment.focus.back");
    case "visibility":
      return say(data["hidden"] === true ? "moment.hidden" : "moment.seen");
    case "fullscreen":
      return say(data["on"] === true ? "moment.full" : "moment.full.left");
    case "change":
      return "value" in data
        ? say("moment.change", { question: asked(data["question"]), value: plainValue(data["value"]) })
        : say("moment.typed", { question: asked(data["question"]), n: Number(data["length"] ?? 0) });
    case "shown":
      return say(data["again"] === true ? "moment.shown.again" : "moment.shown");
    case "load":
      return say("moment.load", { n: Number(data["ms"] ?? 0) });
    case "key":
      return say("moment.key", { key: data["key"] === " " ? "Space" : plainValue(data["key"]) });
    case "error":
      return say("moment.error", { what: plainValue(data["what"]) });
    default:
      return say("moment.other", { kind, what: plainValue(data) });
  }
}

/** @param {import("../../../web/types").Child} words */
const plainOf = (words) => (typeof words === "string" ? words : "");
