// One screen or transport above, a play button and a slider per version below; a reference has a button alone.

import { column, isStill, tally, wordsFor } from "./column.js";
import { plain } from "../element.js";
import { figure, leap } from "./scale.js";

/** @import { Asked, BoardOptions, Control, Answer, Gap, Scale, Scores, Slot, Stage, Trial } from "../types" */
/** @import { Word } from "./column.js" */

const NARROW = 6; // with more sliders a phone has no room for words beside them

/** Return what the words of a scale need: how many they are, and how long the longest is. @param {Scale} scale */
function room({ labels }) {
  return { words: labels.length, longest: Math.max(1, ...labels.map(([, word]) => plain(word).length)) };
}

/** Return whether there is something to wind and to loop. @param {Trial} trial */
export function hasTransport({ slots, playback }) {
  const { medium } = slots[0].media;
  return medium === "audio" || (medium === "video" && playback.loop === "region");
}

/** Ask for one value per rated slot and question; return them all after Next.
 *  @param {Trial} trial @param {Stage} stage @param {BoardOptions} options
 *  @param {typeof import("./transport.js").transport | null} transport @returns {Promise<Answer>} */
export async function board(trial, stage, { layout, onlyPlaying, hint, rule }, transport) {
  const { element, say, player, main, draft } = stage;
  const scores = /** @type {Scores} */ (draft.get("scores") ?? {});
  const rated = trial.slots.filter((slot) => slot.rated);
  const reference = trial.slots.find((slot) => slot.label === "reference");
  const { medium } = trial.slots[0].media;
  const word = wordsFor(say, medium);
  const isRows = layout === "rows";
  const sets = isRows ? [trial.asked] : trial.asked.map((asked) => [asked]);

  const deck = element("section", { class: "deck", "aria-label": word("deck") });
  const view = element("div", { class: isRows ? "trial trial-rows" : "trial" });
  view.classList.add(`trial-${medium}`);
  const note = say("board.note", {
    first: stage.label(rated[0]),
    last: stage.label(rated[rated.length - 1]),
    n: rated.length,
  });
  /** @type {(words: string) => void} */
  let tell = () => {};
  const referenceColumn = reference && column(reference, stage, word, (words) => tell(words));
  const referenceBox =
    referenceColumn &&
    element(
      "div",
      { class: "reference", "data-slot": reference?.id },
      referenceColumn.button,
      referenceColumn.failed,
    );
  if (referenceColumn && referenceBox) referenceColumn.cells.push(referenceBox);
  view.append(
    ...(medium === "audio" ? [] : [stage.screen({ hint: word("empty"), note })]),
    ...(transport ? [await transport(trial, stage, { reference: referenceBox ?? null, note: word("empty") })] : []),
    ...(stage.marks ? [stage.marks.panel({ clip: false })] : []),
    deck,
  );
  main.replaceChildren(view);

  /** @type {(id: string) => void} */
  let focusFader = () => {};
  bindKeys(trial, stage, word, (id) => focusFader(id));

  for (let place = Math.min(Number(draft.get("set") ?? 0), sets.length - 1); place < sets.length;) {
    const set = drawSet(place);
    focusFader = set.focus;
    place += await set.done;
    draft.set("set", Math.min(place, sets.length - 1));
  }
  player.pause(); // while the answer is on its way nothing plays, and the log tells of the last play
  const missing = stage.missing();
  const told = Object.fromEntries(
    trial.asked.map(({ id }) => [
      id,
      Object.fromEntries(rated.filter((slot) => !(slot.id in missing)).map((slot) => [slot.id, scores[id][slot.id]])),
    ]),
  );
  return { scores: told, ...(Object.keys(missing).length > 0 ? { missing } : {}) };

  /** Draw one set of sliders. `done` resolves to 1 for the way on and -1 for the way back.
   *  @param {number} place */
  function drawSet(place) {
    const asked = sets[place];
    /** @type {Map<string, Control>} */
    const controls = new Map();
    const columns = trial.slots.map((slot) =>
      slot === reference && referenceColumn ? referenceColumn : column(slot, stage, word, (words) => tell(words)),
    );
    const shown = columns.filter(({ slot }) => slot !== reference);
    const boards = asked.map((question, row) => {
      const { labels, field } = stage.bands(question.scale);
      const cells = shown.map(({ slot, button, failed, cells: told }) => {
        const control = slot.rated ? makeFader(question, slot) : null;
        if (control !== null) controls.set(`${question.id}.${slot.id}`, control);
        const cell = element(
          "div",
          {
            class: "column",
            role: "group",
            "aria-label": word("slot", { label: stage.label(slot) }),
            "data-slot": slot.id,
          },
          row === 0 && button,
          control?.element,
          row === 0 && failed,
        );
        stage.wear(cell, slot);
        told.push(cell);
        return cell;
      });
      const node = element(
        "div",
        {
          class: `board${row === 0 ? " board-first" : ""}${cells.length > NARROW ? " board-many" : ""}`,
          vars: room(question.scale),
        },
        labels,
        element("div", { class: "columns", vars: { slots: cells.length } }, field, cells),
      );
      return isRows && asked.length > 1 ? titled(node, question, row) : node;
    });

    /** @param {Asked} question @param {Slot} slot */
    function makeFader(question, slot) {
      return stage.fader({
        scale: question.scale,
        question: question.id,
        slot: slot.id,
        value: scores[question.id]?.[slot.id] ?? null,
        label: say(asked.length > 1 ? "board.score.of" : "board.score", {
          label: stage.label(slot),
          question: question.text,
        }),
        onChange(value) {
          (scores[question.id] ??= {})[slot.id] = value;
          draft.set("scores", scores);
          refresh();
        },
        onLocked(reason) {
          const { button } = columns[trial.slots.indexOf(slot)];
          wayOn.tell(reason, player.failure(slot.id) === null ? button : undefined);
        },
      });
    }

    const isPlayNeeded = trial.playback.watch !== "none";
    const playable = () => trial.slots.filter(({ id }) => player.failure(id) === null);
    const needed = () =>
      playable()
        .flatMap(({ id }) => asked.map((question) => controls.get(`${question.id}.${id}`)))
        .filter((control) => control !== undefined);
    const played = tally(word("played"), trial.slots.length, stage);
    const set = tally(say("board.rated"), controls.size, stage);
    const isLast = place === sets.length - 1;

    /** Return where the scores of a question break the rule of the page; with a missing one they cannot.
     *  @returns {Gap | null} */
    function broken() {
      if (rule === undefined || playable().length < trial.slots.length) return null;
      for (const question of asked) {
        const reason = rule(rated.map(({ id }) => scores[question.id][id]), question.scale);
        if (reason !== null) return { reason, focus: () => controls.get(`${question.id}.${rated[0].id}`)?.focus() };
      }
      return null;
    }
    const wayOn = stage.next({
      word: say(isLast ? "next" : "board.question.next"),
      ready: word("ready"),
      gap() {
        const unplayed = isPlayNeeded ? playable().filter(({ id }) => !player.isWatched(id)) : [];
        const unset = needed().filter(({ value }) => value === null);
        const words = [];
        if (unplayed.length > 0) words.push(word("left.play", { n: unplayed.length }));
        if (unset.length > 0) words.push(say("board.left.set", { n: unset.length }));
        if (words.length === 0) return broken();
        const firstUnplayed = columns[trial.slots.findIndex(({ id }) => id === unplayed[0]?.id)];
        return { reason: words.join(say("list.comma")), focus: () => (firstUnplayed?.button ?? unset[0]).focus() };
      },
    });
    tell = (words) => wayOn.tell(words);

    /** @param {boolean} [isTelling] whether words that were just told stay, as nobody has done anything since */
    function refresh(isTelling) {
      for (const one of columns) one.draw();
      for (const slot of rated)
        for (const question of asked) controls.get(`${question.id}.${slot.id}`)?.lock(locked(slot));
      // What cannot be played counts as done: nothing is left to do there.
      played.draw(trial.slots.length - playable().filter(({ id }) => !player.isWatched(id)).length);
      set.draw(controls.size - needed().filter(({ value }) => value === null).length);
      wayOn.refresh(isTelling);
    }

    /** @type {(move: number) => void} */
    let back = () => {};
    /** @type {Promise<number>} */
    const goneBack = new Promise((resolve) => {
      back = resolve;
    });
    const way = element(
      "div",
      { class: "way-on" },
      element("div", { class: "tallies" }, isPlayNeeded && played.element, set.element),
      wayOn.reason,
      element("div", { class: "way-on-buttons" }, place > 0 && backButton(() => back(-1)), wayOn.button),
    );
    deck.replaceChildren(head(place), element("div", { class: "boards" }, boards), way);
    let [isHeard, current] = [true, player.current];
    player.listen((what) => {
      if (!isHeard) return;
      if (what === "tick") for (const one of columns) one.draw();
      else refresh(current === player.current); // an end, or a loop that begins anew, is nothing that anybody did
      current = player.current;
    });
    refresh();
    deck.querySelector("h1")?.focus({ preventScroll: true });
    return {
      done: Promise.race([goneBack, wayOn.done.then(() => 1)]).then((move) => {
        isHeard = false;
        return move;
      }),
      /** @param {string} id */
      focus: (id) => controls.get(`${asked[0].id}.${id}`)?.focus(),
    };
  }

  /** Return why a slider cannot be moved, or null. @param {Slot} slot */
  function locked(slot) {
    const label = stage.label(slot);
    if (player.failure(slot.id) !== null) return word("failed", { label });
    if (!player.isWatched(slot.id)) return word(`locked.${trial.playback.watch}`, { label });
    return onlyPlaying && player.current !== slot.id ? word("locked.playing", { label }) : null;
  }

  /** Return what stands above the sliders. @param {number} place */
  function head(place) {
    const asked = sets[place];
    const title = isRows && asked.length > 1 ? null : element("h1", { tabindex: "-1" }, asked[0].text);
    const count =
      sets.length > 1 &&
      element("p", { class: "question-count" }, say("board.question", { place: place + 1, n: sets.length }));
    return element(
      "header",
      { class: "question" },
      transport === null && referenceBox,
      count,
      title,
      element("p", { class: "question-hint" }, hint ?? word(`hint.${trial.playback.watch}`)),
    );
  }

  /** @param {HTMLElement} node @param {Asked} question @param {number} row */
  function titled(node, question, row) {
    const title = element(
      row === 0 ? "h1" : "h2",
      { class: "board-title", tabindex: row === 0 ? "-1" : null },
      question.text,
    );
    return element("section", { class: "board-row" }, title, node);
  }

  /** @param {() => void} run */
  function backButton(run) {
    return element(
      "button",
      { class: "button", id: "back", type: "button", "aria-label": say("board.question.back"), on: { click: run } },
      stage.icon("back"),
    );
  }
}

/** Digits and letters play; Space pauses and goes on; arrows are the sliders' own.
 *  @param {Trial} trial @param {Stage} stage @param {Word} word @param {(id: string) => void} focusFader */
function bindKeys(trial, stage, word, focusFader) {
  const { say, player } = stage;
  const { scale } = trial.asked[0];
  const reference = trial.slots.find((slot) => slot.label === "reference");
  const lettered = trial.slots.filter((slot) => slot !== reference);
  const count = Math.min(lettered.length, 12);
  const digits = Array.from({ length: Math.min(count, 9) }, (_, place) => String(place + 1));
  const letters = Array.from({ length: count }, (_, place) => String.fromCharCode(97 + place));
  const canPause = !isStill(trial.slots[0].media.medium);
  /** @param {string} id @param {string} key */
  const play = (id, key) => {
    stage.log("key", id, { key });
    if (player.mayPlay(id)) stage.switchTo(id);
    focusFader(id); // so that the arrows set the slider of what is being watched
  };
  stage.keys([
    {
      keys: [...digits, ...letters],
      shown: `1 – ${digits.length}, A – ${letters[count - 1].toUpperCase()}`,
      label: word("keys.play"),
      run: (key) => play(lettered[/\d/.test(key) ? Number(key) - 1 : key.charCodeAt(0) - 97].id, key),
    },
    ...(reference === undefined
      ? []
      : [
          {
            keys: ["0", "r"],
            shown: "0, R",
            label: stage.label(reference),
            /** @param {string} key */
            run: (key) => play(reference.id, key),
          },
        ]),
    ...(canPause
      ? [
          {
            keys: [" "],
            shown: say("keys.space"),
            label: say("board.keys.pause"),
            run() {
              stage.log("key", player.current, { key: " " });
              if (player.current !== null) stage.switchTo(player.current);
            },
          },
        ]
      : []),
    { keys: [], shown: "↑ ↓", label: say("board.keys.arrows", { step: scale.step }), run() {} },
    { keys: [], shown: "Page ↑ Page ↓", label: say("board.keys.leaps", { step: figure(scale, leap(scale)) }), run() {} },
    { keys: [], shown: "Home, End", label: say("board.keys.ends"), run() {} },
  ]);
}
