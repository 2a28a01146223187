// A page of the instructions with examples: each can be played, and where the study says so each has to be.

import { fetched } from "../client.js";
import { element, fill } from "../element.js";
import { icon } from "../icons.js";
import { actions, prose } from "../frame/sheet.js";
import { openStage } from "../stage/stage.js";
import { stylesheet } from "../stylesheet.js";
import { kitFor } from "./trial.js";

/** @import { Page } from "../run.js" */
/** @import { Binding, Child, Json, QuestionsStep, Slot, Stage, TextStep, Trial } from "../types" */

/** One example on the page. @typedef {{ slot: Slot, element: HTMLElement, focus(): void, refresh(): void }} Example */

const LOOK_MS = 300;

/** @param {TextStep} step @param {Trial} trial @param {Page} page @returns {Promise<Json>} */
export async function examples(step, trial, page) {
  const { main, say, shelf, signal } = page;
  shelf.keep([...trial.slots.map(({ media }) => media), ...step.prefetch]);
  const stage = await exampleStage(step, trial, page);
  const { player } = stage;
  const shown = trial.slots.map((slot, place) => {
    const number = element("span", { class: "example-number" }, `${place + 1}`);
    const caption = [number, element("span", {}, step.captions?.[place] ?? "")];
    return example(slot, caption, `caption-${slot.id}`, stage, trial.playback.whole.share);
  });
  const isDue = (/** @type {Slot} */ { id }) =>
    trial.playback.watch !== "none" && player.failure(id) === null && !player.isWatched(id);
  const way = stage.next({
    word: say("go-on"),
    ready: "",
    gap() {
      const left = shown.filter(({ slot }) => isDue(slot));
      if (left.length === 0) return null;
      const word = left.every(({ slot }) => isStill(slot)) ? "examples.left.still" : "examples.left";
      return { reason: say(word, { n: left.length }), focus: () => left[0].focus() };
    },
  });
  player.listen((what) => {
    for (const one of shown) one.refresh();
    if (what !== "tick") way.refresh();
  });
  stage.keys(keysOf(shown, stage));
  fill(
    main,
    element(
      "div",
      { class: "sheet sheet-examples" },
      prose(step.text, say("text.title")),
      element(
        "ol",
        { class: "examples", vars: { examples: shown.length } },
        shown.map((one) => element("li", {}, one.element)),
      ),
      actions(way.button, way.reason),
    ),
  );
  const heading = main.querySelector("[tabindex='-1']");
  if (heading instanceof HTMLElement) heading.focus({ preventScroll: true });
  const stop = watchStills(trial.slots, isDue, stage, signal);
  await way.done;
  stop();
  player.pause();
  const missing = stage.missing();
  return Object.keys(missing).length > 0 ? { missing } : {};
}

/** Return a stage for what is shown beside the stimuli, with its media loaded.
 *  @param {TextStep | QuestionsStep} step @param {Trial} trial @param {Page} page @returns {Promise<Stage>} */
export async function exampleStage(step, trial, page) {
  const kit = await page.patience.insist(() => fetched(kitFor(trial)));
  const stage = openStage({ ...step, kind: "trial", method: "", trial }, page, kit);
  await Promise.all([stage.load(), stylesheet("theatre"), stylesheet("examples")]);
  return stage;
}

/** Look at what stands still while it is in view, until the page is left; return what stops that.
 *  @param {Slot[]} slots @param {(slot: Slot) => boolean} isDue @param {Stage} stage @param {AbortSignal} signal */
export function watchStills(slots, isDue, stage, signal) {
  const stills = slots.filter(isStill);
  const timer = setInterval(() => look(stills.filter(isDue), stage), LOOK_MS);
  signal.addEventListener("abort", () => clearInterval(timer));
  return () => clearInterval(timer);
}

/** Return what can be played, or looked at. Without a caption, something else describes it.
 *  @param {Slot} slot @param {Child} caption @param {string} described the id of what describes it @param {Stage} stage
 *  @param {number} whole the share that counts as all of it @returns {Example} */
export function example(slot, caption, described, stage, whole) {
  const { player, say, log } = stage;
  const node = player.node(slot.id);
  const [sign, word] = [element("span", { class: "example-sign" }), element("span")];
  const button = element(
    "button",
    {
      class: "button example-play",
      "data-slot": slot.id,
      type: "button",
      "aria-describedby": described,
      on: {
        click() {
          log("click", slot.id, { what: "example" });
          player.toggle(slot.id);
        },
      },
    },
    sign,
    word,
  );
  const note = element("p", { class: "small soft", hidden: true }, say(`card.failed.${slot.media.medium}`));
  const bar = element("span", { class: "example-bar" }, element("span", { class: "example-bar-fill" }));
  const frame = element("div", { class: `example-place example-${slot.media.medium}` }, node, bar);
  frame.style.setProperty("--ratio", String(slot.media.width / slot.media.height || 16 / 9));
  if (!isStill(slot)) node.addEventListener("click", () => button.click());
  const figure = element(
    "figure",
    { class: "example", "data-slot": slot.id },
    frame,
    caption && element("figcaption", { id: described }, caption),
    isStill(slot) ? note : [button, note],
  );
  let state = "";

  function refresh() {
    const share = player.watched(slot.id);
    const isDone = share >= whole;
    bar.style.setProperty("--share", String(share));
    const isOn = player.current === slot.id && player.isPlaying;
    const now = player.failure(slot.id) !== null ? "failed" : isOn ? "pause" : isDone ? "again" : "play";
    figure.classList.toggle("is-played", isDone);
    if (now === state) return;
    state = now;
    figure.classList.toggle("is-failed", now === "failed");
    note.hidden = now !== "failed";
    button.hidden = now === "failed";
    if (now === "failed") return;
    fill(sign, icon(now === "again" ? "replay" : now));
    word.textContent = say(`examples.${now}`);
  }
  refresh();
  return {
    slot,
    element: figure,
    focus() {
      frame.scrollIntoView({ block: "center" });
      if (!isStill(slot)) button.focus({ preventScroll: true });
    },
    refresh,
  };
}

/** What stands still is looked at without a press: whichever is in view, one after the other.
 *  @param {Slot[]} due @param {Stage} stage */
function look(due, { player }) {
  if (due.length === 0 || document.hidden || document.querySelector("dialog[open]") !== null) return;
  const isSeen = (/** @type {string} */ id) => {
    const { top, bottom } = player.node(id).getBoundingClientRect();
    return top < innerHeight * 0.9 && bottom > innerHeight * 0.1;
  };
  const here = player.current;
  if (player.isPlaying && here !== null && isSeen(here)) return;
  const next = due.find(({ id }) => isSeen(id));
  if (next !== undefined && (next.id !== here || !player.isPlaying)) void player.play(next.id);
}

/** @param {Example[]} shown @param {Stage} stage @returns {Binding[]} */
function keysOf(shown, { player, say }) {
  const clips = shown.filter(({ slot }) => !isStill(slot)).slice(0, 9);
  if (clips.length === 0) return [];
  const keys = clips.map(({ slot }) => String(shown.findIndex((one) => one.slot === slot) + 1));
  const range = keys.length > 1 ? `${keys[0]}–${keys[keys.length - 1]}` : keys[0];
  return [
    {
      keys,
      shown: range,
      label: say("examples.keys"),
      run: (key) => player.toggle(shown[Number(key) - 1].slot.id),
    },
  ];
}

/** @param {Slot} slot */
function isStill({ media }) {
  return media.medium === "image" || media.medium === "text";
}
