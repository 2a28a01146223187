// The words of what is heard or read, to be marked: by clicks, by drawing over several, or by keys, while it plays.

import { stylesheet } from "../stylesheet.js";
import { element } from "../element.js";
import { gapOf } from "./ballot.js";
import { told } from "./card.js";
import { askBelow, clipOf, lostClip, unheard } from "./clip.js";

/** @import { Answer, Asked, Slot, Stage, Trial } from "../types" */

/** question -> places of the marked words, empty where none is the answer
 *  @typedef {{ [question: string]: number[] }} Marks */
/** The words of one question. @typedef {ReturnType<typeof wordsOf>} Group */

/** Show a clip with its words for each question; return what was marked after Next.
 *  @param {Trial} trial @param {Stage} stage @param {string} id @returns {Promise<Answer>} */
export async function transcript(trial, stage, id) {
  const { say, draft, player } = stage;
  await Promise.all([stylesheet("vote"), stylesheet("transcript")]);
  const slot = trial.slots.find((one) => one.id === id) ?? trial.slots[0];
  if (player.failure(id) !== null) {
    await lostClip(slot, stage);
    return { picks: {}, ...told(stage.missing()) };
  }

  const marks = /** @type {Marks} */ ({ .../** @type {object} */ (draft.get("marks") ?? {}) });
  const isText = slot.media.medium === "text";
  const groups = trial.asked.map((asked) =>
    wordsOf(asked, trial, stage, {
      slot,
      marked: marks[asked.id] ?? null,
      onChange(marked) {
        if (marked === null) delete marks[asked.id];
        else marks[asked.id] = marked;
        draft.set("marks", marks);
        stage.log("change", id, { question: asked.id, value: marked });
        wayOn.refresh();
      },
      onLocked: () => wayOn.tell(say(`words.locked.${slot.media.medium}`), clip?.button),
    }),
  );
  const clip = isText ? null : clipOf(trial, slot, stage, { onTick: follow, onState: () => wayOn.refresh() });
  const wayOn = stage.next({
    ready: say("card.ready"),
    gap() {
      const open = groups.filter((group) => group.isOpen());
      const left = gapOf(trial, stage, open);
      return (
        unheard(trial, slot, stage, clip?.button) ??
        (left && { ...left, reason: say("words.missing", { n: open.length }) })
      );
    },
  });
  const lock = () => {
    for (const group of groups) group.lock(!isText && player.watched(id) === 0 && !player.isPlaying);
  };
  lock();
  player.listen(lock);
  const again = { keys: ["p"], shown: "P", label: say("words.keys.play"), run: () => clip?.button.click() };
  const isPlayed = await askBelow(trial, slot, stage, {
    clip: clip?.element,
    answers: groups.map((group) => group.element),
    wayOn,
    keys: [
      ...(clip === null ? [] : [again]),
      { keys: [], shown: `← → ${say("keys.space")}`, label: say("words.keys.move"), run() {} },
      { keys: ["n"], shown: "N", label: say("words.keys.none"), run: () => meant().none() },
    ],
  });
  if (!isPlayed) return { picks: {}, ...told(stage.missing()) };
  return {
    picks: Object.fromEntries(
      trial.asked.map((asked) => [asked.id, { words: marks[asked.id], none: marks[asked.id].length === 0 }]),
    ),
  };

  /** The question where the focus is, else the first open one, else the last. @returns {Group} */
  function meant() {
    return (
      groups.find((group) => group.element.contains(document.activeElement)) ??
      groups.find((group) => group.isOpen()) ??
      groups[groups.length - 1]
    );
  }

  /** Let the word that is heard be seen. */
  function follow() {
    const times = /** @type {[number, number][] | undefined} */ (trial.extra["times"]);
    if (times === undefined) return;
    const at = player.position();
    // Of words that overlap, the later one.
    let place = player.isPlaying ? times.length - 1 : -1;
    while (place >= 0 && !(times[place][0] <= at && at < times[place][1])) place -= 1;
    for (const group of groups) group.follow(place);
  }
}

/** Return the words of one question as boxes to tick, and the box that says that none of them is meant.
 *  @param {Asked} asked @param {Trial} trial @param {Stage} stage
 *  @param {{ slot: Slot, marked: number[] | null, onChange(marked: number[] | null): void, onLocked(): void }} how */
function wordsOf(asked, trial, stage, { slot, marked, onChange, onLocked }) {
  const words = /** @type {string[]} */ (trial.extra["words"]);
  let isLocked = false;
  let now = -1;
  /** @param {string} value */
  const box = (value) =>
    element("input", {
      class: "word-box",
      type: "checkbox",
      name: `${asked.id}.${slot.id}`,
      value,
      "data-question": asked.id,
      "data-slot": slot.id,
    });
  const boxes = words.map((_, place) => box(String(place)));
  const nothing = box("nothing");
  const labels = words.map((word, place) =>
    element("label", { class: "word" }, boxes[place], element("span", {}, word.trim())),
  );
  boxes.forEach((input, place) => {
    input.checked = marked?.includes(place) ?? false;
  });
  nothing.checked = marked?.length === 0;

  const list = element(
    "div",
    { class: "words", role: "group", "aria-labelledby": `question-${asked.id}`, dir: "auto" },
    labels.map((label, place) => [label, words[place].endsWith("\n") ? element("br") : words[place].endsWith(" ") && " "]),
  );
  const none = element("label", { class: "choice words-none" }, nothing, element("span", {}, stage.say("survey.nothing")));
  nothing.className = "choice-box";
  const node = element("div", { class: "words-asked" }, list, none);

  /** Tell of what is marked now. */
  function change() {
    const places = boxes.flatMap((input, place) => (input.checked ? [place] : []));
    if (places.length > 0) nothing.checked = false;
    onChange(places.length > 0 || nothing.checked ? places : null);
  }
  for (const input of boxes) input.addEventListener("change", change);
  nothing.addEventListener("change", () => {
    if (nothing.checked) for (const input of boxes) input.checked = false;
    change();
  });

  /** What a pointer draws over: from which word to which, what they become, and how they were before.
   *  @type {{ from: number, to: number, isMarked: boolean, before: boolean[] } | null} */
  let drag = null;
  let isDrawn = false;
  /** @param {EventTarget | null} target */
  const placeOf = (target) => labels.findIndex((label) => target instanceof Node && label.contains(target));
  list.addEventListener("pointerdown", (event) => {
    isDrawn = false;
    const from = placeOf(event.target);
    if (from < 0 || isLocked || event.button !== 0) return;
    drag = { from, to: from, isMarked: !boxes[from].checked, before: boxes.map(({ checked }) => checked) };
  });
  list.addEventListener("pointermove", (event) => {
    if (drag === null) return;
    const to = placeOf(document.elementFromPoint(event.clientX, event.clientY));
    if (to < 0 || to === drag.to) return;
    isDrawn = true;
    drag.to = to;
    const { from, isMarked, before } = drag;
    boxes.forEach((input, place) => {
      const isOver = Math.min(from, to) <= place && place <= Math.max(from, to);
      input.checked = isOver ? isMarked : before[place];
    });
  });
  const end = () => {
    if (drag !== null && isDrawn) change();
    drag = null;
  };
  for (const what of ["pointerup", "pointercancel"]) window.addEventListener(what, end, { signal: stage.signal });
  node.addEventListener(
    "click",
    (event) => {
      if (isLocked && event.target instanceof Element && event.target.closest("label") !== null) {
        event.preventDefault();
        event.stopPropagation();
        onLocked();
      } else if (isDrawn && list.contains(/** @type {Node} */ (event.target))) {
        event.preventDefault(); // what was drawn over is marked already
        isDrawn = false;
      }
    },
    { capture: true },
  );
  list.addEventListener("keydown", (event) => {
    const here = boxes.findIndex((input) => input === document.activeElement);
    const onward = getComputedStyle(list).direction === "rtl" ? -1 : 1;
    const to = { ArrowRight: here + onward, ArrowLeft: here - onward, Home: 0, End: boxes.length - 1 }[event.key];
    if (here < 0 || to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = boxes[Math.min(boxes.length - 1, Math.max(0, to))];
    // With Shift the mark goes along.
    if (event.shiftKey && !isLocked && next.checked !== boxes[here].checked) {
      next.checked = boxes[here].checked;
      change();
    }
    next.focus();
  });

  return {
    element: node,
    isOpen: () => !nothing.checked && boxes.every((input) => !input.checked),
    focus: () => boxes[0].focus(),
    /** Say that none is meant, or that no longer. */
    none: () => nothing.click(),
    /** @param {boolean} isOn */
    lock(isOn) {
      if (isOn === isLocked) return;
      isLocked = isOn;
      node.classList.toggle("is-locked", isOn);
      for (const input of [...boxes, nothing]) {
        if (isOn) input.setAttribute("aria-disabled", "true");
        else input.removeAttribute("aria-disabled");
      }
    },
    /** @param {number} place of the word that is heard, -1 for none */
    follow(place) {
      if (place === now) return;
      labels[now]?.classList.remove("is-now");
      labels[place]?.classList.add("is-now");
      now = place;
    },
  };
}
