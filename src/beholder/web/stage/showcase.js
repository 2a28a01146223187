// What is compared stays on the page, the answers below or beside it: behind buttons, one in place of the other, or all
// in view at once. Buttons that show stand with what they show and say so; answers are a list of sentences elsewhere.

import { card, told } from "./card.js";
import { isNamed } from "./choice.js";
import { column, isStill, wordsFor } from "./column.js";
import { element, fill } from "../element.js";
import { sizeTo } from "./screen.js";
import { stylesheet } from "../stylesheet.js";
import { zoom } from "./zoom.js";

/** @import { Answer, Binding, Slot, Stage, Trial } from "../types" */
/** @import { Ballot, Hooks } from "./ballot.js" */
/** @import { Column } from "./column.js" */

/** @typedef {typeof import("./transport.js").transport} Transport */

const LONG_TEXT = 200; // letters
const FEW = 3; // slots that are shown side by side where they can be, and whose buttons have room for words

/** Show all slots and the questions on one page; return the answer after Next. `transport`: to loop a part of sounds, and
 *  to see them.
 *  @param {Trial} trial @param {Stage} stage
 *  @param {{ make: (hooks: Hooks) => Ballot, nothing: Answer, failed: string, transport: Transport | null }} parts
 *  @returns {Promise<Answer>} */
export async function showcase(trial, stage, { make, nothing, failed, transport }) {
  const { say, player, main } = stage;
  const done = new AbortController();
  await stylesheet("theatre");
  const { medium } = trial.slots[0].media;
  const word = wordsFor(say, medium);
  const isMany = trial.slots.length > FEW;
  const isSpread = trial.together || (medium === "text" && !isMany);
  const ids = trial.slots.map(({ id }) => id);
  const isFailed = () => ids.some((id) => player.failure(id) !== null);
  const unseen = () =>
    trial.playback.watch === "none" ? [] : trial.slots.filter(({ id }) => !player.isWatched(id));

  /** @type {() => void} */
  let giveUp = () => {};
  /** @type {Promise<"failed">} */
  const lost = new Promise((resolve) => {
    giveUp = () => resolve("failed");
  });
  const columns = trial.slots.map((slot) => column(slot, stage, word, (words) => wayOn.tell(words), { isWorded: !isMany }),
  );
  const ballot = make({
    onChange: () => wayOn.refresh(),
    onLocked(reason) {
      stage.status(reason);
      wayOn.tell(reason, isSpread ? undefined : buttonOf(unseen()[0]));
    },
  });
  const wayOn = stage.next({
    ready: say("card.ready"),
    gap() {
      const left = unseen();
      if (left.length === 0) return ballot.gap();
      return { reason: leftWords(left), focus: () => buttonOf(left[0])?.focus() };
    },
  });

  /** @param {Slot[]} left */
  function leftWords(left) {
    const labels = left.map((slot) => nameOf(trial, stage, slot)).join(say("list.comma"));
    const kind = isStill(medium) ? medium : trial.playback.watch;
    return say(`compare.left.${kind}`, { labels });
  }
  /** @param {Slot | undefined} slot */
  function buttonOf(slot) {
    if (slot === undefined) return undefined;
    return isSpread ? player.node(slot.id) : columns[trial.slots.indexOf(slot)].button;
  }

  const isGraded = trial.asked.some(({ scale }) => scale.max > 1);
  // Of several texts one is on the screen at a time, as large as a picture.
  const isBeside = isGraded || medium === "image" || medium === "video" || (medium === "text" && isMany);
  const deck = element(
    "section",
    { class: "showcase-deck", "aria-label": say("compare.deck") },
    !isSpread && element("p", { class: "eyebrow" }, say("compare.deck")),
    ballot.sections,
    element("div", { class: "showcase-foot" }, wayOn.reason, wayOn.button),
  );
  const line =
    transport !== null &&
    (await transport(trial, stage, { reference: null, note: say("board.empty.audio"), signal: done.signal }));
  const view = element(
    "div",
    { class: `trial showcase showcase-${medium}` },
    isSpread
      ? spread(trial, stage)
      : element(
          "div",
          { class: "showcase-view" },
          medium !== "audio" && stage.screen({ hint: say("compare.empty"), note: say("compare.note") }),
          line,
          switches(trial, stage, columns),
        ),
    deck,
  );
  view.classList.toggle("showcase-beside", isBeside);
  fill(main, view);
  view.querySelector("h1")?.focus({ preventScroll: true });

  function refresh() {
    if (done.signal.aborted) return;
    if (isFailed()) return giveUp();
    for (const one of columns) one.draw();
    const left = unseen();
    ballot.lock(left.length > 0 ? leftWords(left) : null);
    wayOn.refresh();
  }
  player.listen((what) => {
    if (done.signal.aborted) return;
    if (what === "tick") columns.forEach((one) => one.draw());
    else refresh();
    if (what === "ended" && isSpread) look();
  });
  /** Let those count that have not been seen for long enough: all at once, or one after the other. */
  function look() {
    const left = unseen().map(({ id }) => id);
    // A text that was read and scrolled away does not come to its end: the next one begins all the same.
    const isRead = medium === "text" && player.current !== null && player.isWatched(player.current);
    if (left.length === 0 || (player.isPlaying && !isRead) || isFailed() || document.hidden) return;
    if (trial.together && medium !== "text") void player.together(left, { sound: null });
    else void player.play(left[0]);
  }
  if (isSpread) {
    look();
    document.addEventListener("visibilitychange", look, { signal: done.signal });
    document.addEventListener("scroll", look, { signal: done.signal, capture: true, passive: true });
  }
  const next = { keys: ["enter"], shown: say("keys.enter"), label: say("keys.next"), run: () => wayOn.button.click() };
  stage.keys([...ballot.bindings(), ...(isSpread ? [] : plays(trial, stage, word("keys.play"))), next], done.signal);
  refresh();

  const outcome = await Promise.race([lost, wayOn.done]);
  done.abort();
  player.pause();
  if (outcome !== "failed") return { ...ballot.answer(), ...told(stage.missing()) };
  return /** @type {Answer} */ (await card(trial, stage, { make: null, again: null, failed, nothing }));
}

/** Return the buttons that bring the slots to the screen, on the grey of what they show.
 *  @param {Trial} trial @param {Stage} stage @param {Column[]} columns */
function switches(trial, stage, columns) {
  const { medium } = trial.slots[0].media;
  return element(
    "div",
    { class: "showcase-bar", role: "group", "aria-label": stage.say("compare.switches") },
    element("p", { class: "eyebrow" }, stage.say(`compare.view.${medium}`)),
    element("div", { class: columns.length > FEW ? "switches switches-many" : "switches" }, columns.map(({ slot, button, failed, cells }) => {
      const cell = element("div", { class: "column switch-column", "data-slot": slot.id }, button, failed, companion(trial, slot));
      if (isNamed(slot.label)) cell.classList.add("is-named");
      stage.wear(cell, slot);
      cells.push(cell);
      return cell;
    })),
  );
}

/** Return all slots in view at once, each in a frame of its own. @param {Trial} trial @param {Stage} stage */
function spread(trial, stage) {
  const lettered = trial.slots.filter(({ label }) => !isNamed(label));
  const isSided = isSidedPair(trial);
  /** @type {HTMLElement[]} */
  const places = [];
  return element(
    "section",
    { class: "spread", "aria-label": stage.say("screen.label"), vars: { slots: trial.slots.length } },
    trial.slots.map((slot, place) => {
      const node = stage.player.node(slot.id);
      node.classList.add("is-shown");
      const clips = element("div", { class: "screen-clips" }, node);
      places.push(clips);
      const frame = element("div", { class: `frame frame-${slot.media.medium}` }, clips);
      frame.classList.toggle("is-coloured", slot.colour !== null);
      sizeTo(frame, trial.playback.size, slot.media);
      const where = ["first", "second"][place];
      const figure = element(
        "figure",
        { class: "spread-side", "data-slot": slot.id },
        element(
          "figcaption",
          { class: "spread-name" },
          isSided
            ? [
                element("span", { class: "if-beside" }, stage.say(`compare.side-by-side.${where}`)),
                element("span", { class: "if-stacked" }, stage.say(`compare.stacked.${where}`)),
              ]
            : !isNamed(slot.label) && lettered.length > 1
              ? element("span", { class: "letter" }, stage.label(slot))
              : nameOf(trial, stage, slot),
        ),
        companion(trial, slot),
        frame,
      );
      stage.wear(figure, slot);
      return figure;
    }),
    trial.slots[0].media.medium === "image" && element("div", { class: "spread-foot" }, zoom(places, stage)),
  );
}

/** Return the text that is read with a slot, where one belongs to it. @param {Trial} trial @param {Slot} slot */
function companion({ extra }, { id }) {
  const texts = /** @type {{ [slot: string]: string } | undefined} */ (extra["texts"]);
  if (texts === undefined) return false;
  // A long one scrolls, and whoever has no pointer scrolls it by keys.
  const tabindex = texts[id].length > LONG_TEXT ? "0" : null;
  return element("blockquote", { class: "companion", dir: "auto", tabindex }, texts[id]);
}

/** Whether two stand beside each other, so that their sides are their names. @param {Trial} trial */
function isSidedPair({ slots, together }) {
  return together && slots.length === 2 && slots.every(({ label }) => !isNamed(label));
}

/** Return what a slot is called: beside a reference alone there is no need for a letter.
 *  @param {Trial} trial @param {Stage} stage @param {Slot} slot */
function nameOf(trial, { label, say }, slot) {
  const { slots } = trial;
  if (isSidedPair(trial)) {
    const isStacked = matchMedia("(max-width: 900px)").matches;
    return say(`compare.${isStacked ? "stacked" : "side-by-side"}.${slots.indexOf(slot) === 0 ? "first" : "second"}`);
  }
  const isAlone = slots.filter((one) => !isNamed(one.label)).length === 1;
  return isAlone && !isNamed(slot.label) ? say("compare.judged") : label(slot);
}

/** Return the keys of the slots: their letters, R for the reference, Space to pause.
 *  @param {Trial} trial @param {Stage} stage @param {string} label @returns {Binding[]} */
function plays(trial, stage, label) {
  const { player, say } = stage;
  const names = trial.slots.map((slot) => (slot.label ?? stage.label(slot))[0].toLowerCase());
  /** @type {Binding[]} */
  const bindings = [
    {
      keys: names,
      shown: names.map((name) => name.toUpperCase()).join(", "),
      label,
      run(key) {
        const { id } = trial.slots[names.indexOf(key)];
        stage.log("key", id, { key });
        if (player.mayPlay(id)) stage.switchTo(id);
      },
    },
  ];
  if (isStill(trial.slots[0].media.medium)) return bindings;
  return [
    ...bindings,
    {
      keys: [" "],
      shown: say("keys.space"),
      label: say("compare.keys.pause"),
      run() {
        stage.log("key", player.current, { key: " " });
        if (player.current !== null) stage.switchTo(player.current);
      },
    },
  ];
}
