// One sound after the other: a press plays it, then it is answered, then Next. What was answered survives a reload.

import { element, fill } from "../element.js";
import { icon } from "../icons.js";
import { stylesheet } from "../stylesheet.js";
import { ask, CANNOT } from "./frame.js";
import { Blocked, openSounds } from "./sound.js";

/** @import { Page } from "../run.js" */
/** @import { Binding, CheckStep, Json } from "../types" */
/** @import { Sounds } from "./sound.js" */

/** What is asked about one sound. `follow` hears where it is, in seconds; null when it is silent.
 *  @typedef {{ node: HTMLElement, keys: Binding[], value(): Json, focus(): void, open(): void,
 *              follow(seconds: number | null): void }} Field */
/** @typedef {(change: () => void) => Field} MakeField */
/** @typedef {{ given: Json[], plays: number[] }} Kept */

/** Ask about each sound of a step in turn; resolve with the answer, its values under `name`.
 *  @param {CheckStep} step @param {Page} page @param {string} name @param {MakeField} make @returns {Promise<Json>} */
export async function listen(step, page, name, make) {
  const { log } = page;
  /** @type {string[]} */
  const names = step.public["sounds"];
  await Promise.all([stylesheet("vote"), stylesheet("listening")]);
  const sounds = openSounds(step, page);
  let kept = /** @type {Kept} */ (log.values.get("heard") ?? { given: [], plays: [] });
  if (kept.given.length >= names.length) kept = { given: [], plays: [] }; // sent once, and not taken
  const keep = () => log.values.set("heard", kept);
  void sounds.prepare(names.slice(kept.given.length));
  while (kept.given.length < names.length) {
    const way = await hear(kept.given.length === 0 ? step : { ...step, told: null }, page, sounds, kept, keep, make);
    sounds.stop();
    if (way === "cannot") return CANNOT;
    if (way instanceof Blocked) return { blocked: true, why: way.why };
    kept.given.push(way.value);
    keep();
  }
  return { [name]: kept.given, plays: kept.plays, output: sounds.output };
}

/** Show one sound until it is answered.
 *  @param {CheckStep} step @param {Page} page @param {Sounds} sounds @param {Kept} kept @param {() => void} keep
 *  @param {MakeField} make @returns {Promise<"cannot" | Blocked | { value: Json }>} */
async function hear(step, page, sounds, kept, keep, make) {
  const { say, log, status, main, keys } = page;
  /** @type {string[]} */
  const names = step.public["sounds"];
  const most = Number(step.public["plays"]);
  const place = kept.given.length;
  kept.plays[place] ??= 0;
  const over = new AbortController();
  page.signal.addEventListener("abort", () => over.abort(), { signal: over.signal });
  let isPlaying = false;
  let isComing = false;
  let refresh = () => {};
  /** @type {(blocked: Blocked) => void} */
  let giveUp = () => {};
  const played = () => kept.plays[place];
  const mayPlay = () => isPlaying || played() < most;

  const field = make(() => refresh());
  const play = element("button", { class: "button listen-play", id: "play-sound", type: "button" });
  const trouble = element("div", { class: "listen-trouble", hidden: true });

  function draw() {
    const word = isComing ? "coming" : isPlaying ? "stop" : played() === 0 ? "play" : mayPlay() ? "again" : "spent";
    fill(play, icon(isPlaying ? "pause" : played() === 0 ? "play" : "replay"), element("span", {}, say(word)));
    play.classList.toggle("button-primary", played() === 0);
    play.setAttribute("aria-disabled", String(!mayPlay()));
    if (played() > 0) field.open();
    refresh();
  }

  async function press() {
    if (isComing) return;
    if (!mayPlay()) return status(say("spent"));
    log.add("click", null, { what: isPlaying ? "stop" : "play", sound: names[place] });
    if (isPlaying) return sounds.stop();
    isComing = true;
    draw();
    try {
      const isWhole = await sounds.play(names[place], {
        onStart() {
          isComing = false;
          isPlaying = true;
          trouble.hidden = true;
          draw();
        },
        onTick: field.follow,
      });
      isComing = isPlaying = false;
      field.follow(null);
      if (isWhole) {
        kept.plays[place] += 1;
        keep();
        log.add("ended", null, { sound: names[place] });
        status(say("now"));
      }
      draw();
    } catch (error) {
      if (!(error instanceof Blocked)) throw error;
      isComing = isPlaying = false;
      log.add("error", null, { sound: names[place], why: error.why });
      complain(error);
    }
  }

  /** @param {Blocked} blocked */
  function complain(blocked) {
    const without = element("button", { class: "button", id: "no-sound", type: "button" }, say("without"));
    without.addEventListener("click", () => giveUp(blocked));
    fill(trouble, icon("attention"), element("div", {}, element("p", {}, say("blocked")), without));
    trouble.hidden = false;
    status(say("blocked"));
    draw();
  }

  play.addEventListener("click", () => void press());
  keys.bind(
    [
      ...field.keys,
      { keys: [" "], shown: say("key.space"), label: say("key.play"), run: () => void press() },
      { keys: ["enter"], shown: "Enter", label: say("next"), run: () => next(main) },
    ],
    over.signal,
  );
  /** @type {Promise<Blocked>} */
  const silent = new Promise((resolve) => (giveUp = resolve));
  const asked = ask(step, page, {
    title: say("title"),
    text: say("text"),
    body: element(
      "div",
      { class: "listen" },
      element(
        "div",
        { class: "listen-head" },
        play,
        names.length > 1 &&
          element("p", { class: "soft", id: "place" }, say("place", { n: place + 1, of: names.length })),
      ),
      trouble,
      field.node,
      element("p", { class: "small soft" }, say("quiet")),
    ),
    gap() {
      if (played() === 0) return { reason: say("first"), focus: () => play.focus() };
      return field.value() === null ? { reason: say("left"), focus: field.focus } : null;
    },
    onShown(told) {
      refresh = told;
      draw();
    },
  });
  const way = await Promise.race([asked, silent]);
  over.abort();
  return way === "next" ? { value: field.value() } : way;
}

/** Press Next, as Enter does. @param {HTMLElement} main */
export function next(main) {
  const button = main.querySelector("#next");
  if (button instanceof HTMLElement) button.click();
}
