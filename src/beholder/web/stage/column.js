// The play button of a slot, and counts of what is done.

import { setAttribute, setVariable, write } from "../element.js";

/** @import { Slot, Stage } from "../types" */

/** @typedef {(key: string, values?: { [name: string]: string | number }) => string} Word */
/** @typedef {ReturnType<typeof column>} Column */

/** Return how to say words of the board for a medium: its own, those of things that stand still, or those of clips.
 *  @param {Stage["say"]} say @param {Slot["media"]["medium"]} medium @returns {Word} */
export function wordsFor(say, medium) {
  const ends = isStill(medium) ? [`.${medium}`, ".still", ""] : [`.${medium}`, ""];
  return (key, values = {}) => {
    for (const end of ends) {
      const text = say(`board.${key}${end}`, values);
      if (text !== `board.${key}${end}`) return text;
    }
    return key;
  };
}

/** Whether a medium has no time of its own. @param {Slot["media"]["medium"]} medium */
export function isStill(medium) {
  return medium === "image" || medium === "text";
}

/** Return the play button of a slot, the word under one that does not play, and how to draw them. `cells` are told
 *  how the slot is doing. `isWorded`: the button says what it does, beside its letter.
 *  @param {Slot} slot @param {Stage} stage @param {Word} word @param {(words: string) => void} tell
 *  @param {{ isWorded?: boolean }} [how] */
export function column(slot, stage, word, tell, { isWorded = false } = {}) {
  const { element, icon, player } = stage;
  const label = stage.label(slot);
  const isReference = slot.label === "reference";
  const action = element("span", { class: "play-action", "aria-hidden": "true" });
  const button = element(
    "button",
    {
      class: isReference ? "play play-reference" : "play",
      type: "button",
      "data-slot": slot.id,
      "aria-keyshortcuts": isReference ? "R 0" : null,
      on: {
        click: () => {
          stage.log("click", slot.id, { what: "play" });
          if (player.mayPlay(slot.id)) return stage.switchTo(slot.id);
          const words = word(player.failure(slot.id) !== null ? "failed" : "spent", { label });
          stage.status(words);
          tell(words);
        },
      },
    },
    isWorded && action,
    element("span", { class: isReference ? "play-word" : "letter", "aria-hidden": "true" }, label),
    icon("play"),
    icon("pause"),
    element("span", { class: "play-done" }, icon("tick")),
  );
  const failed = element("p", { class: "column-word", "aria-hidden": "true" }, word("failed.short"));
  /** @type {HTMLElement[]} */
  const cells = [];
  stage.wear(button, slot);

  function draw() {
    const isPlaying = player.current === slot.id && player.isPlaying;
    const isDone = player.isWatched(slot.id) && player.watched(slot.id) > 0;
    const isFailed = player.failure(slot.id) !== null;
    setVariable(button, "--watched", String(Math.round(100 * player.watched(slot.id))));
    failed.hidden = !isFailed;
    const name = isFailed ? "failed" : isPlaying ? "pause" : isDone ? "play.done" : "play";
    // The name begins with what can be read.
    const isShown = isWorded && isPlaying && isStill(slot.media.medium);
    setAttribute(button, "aria-label", word(isShown ? "play" : name, { label }));
    if (isWorded) setAttribute(button, "aria-current", String(player.current === slot.id));
    if (isWorded) write(action, `${word(isPlaying ? "do.pause" : "do.play")} `); // apart from the letter, also when read
    setAttribute(button, "aria-disabled", String(isFailed || !player.mayPlay(slot.id)));
    for (const cell of cells) {
      cell.classList.toggle("is-current", player.current === slot.id);
      cell.classList.toggle("is-playing", isPlaying);
      cell.classList.toggle("is-played", isDone);
      cell.classList.toggle("is-failed", isFailed);
      cell.classList.toggle("is-still", isStill(slot.media.medium));
    }
  }
  return { slot, button, failed, cells, draw };
}

/** Return a count of what is done, as words and dots. @param {string} word @param {number} total @param {Stage} stage */
export function tally(word, total, { element, say }) {
  const figure = element("b");
  const dots = Array.from({ length: total }, () => element("li"));
  return {
    element: element(
      "div",
      { class: "tally" },
      element("p", {}, element("span", {}, word), figure),
      element("ol", { "aria-hidden": "true" }, dots),
    ),
    /** @param {number} done */
    draw(done) {
      figure.textContent = say("count.of", { done, total });
      dots.forEach((dot, place) => dot.classList.toggle("is-done", place < done));
    },
  };
}
