// Many clips of one content, one slider each: HEMVIP. One screen above, a play button and a slider per clip below.

/** @import { Asked, Control, Scores, Slot, Stage, Trial, View } from "../../web/types" */

/** Ask for one value per clip and question; return them all.
 *  @type {View} */
export default async function parallel(trial, stage) {
  const { element, say, player, main, draft } = stage;
  await stage.load();
  const scores = /** @type {Scores} */ (draft.get("scores") ?? {});
  const rated = trial.slots.filter(({ rated: isRated }) => isRated);
  const isRows = trial.extra["layout"] === "rows";
  const sets = isRows ? [trial.asked] : trial.asked.map((asked) => [asked]);
  const names = {
    first: stage.label(trial.slots[0]),
    last: stage.label(trial.slots[trial.slots.length - 1]),
    n: trial.slots.length,
  };
  const deck = element("section", { class: "deck", "aria-label": say("parallel.deck") });
  const view = element(
    "div",
    { class: isRows ? "trial trial-rows" : "trial" },
    stage.screen({ hint: say("parallel.empty"), note: say("parallel.note", names) }),
    deck,
  );
  main.replaceChildren(view);

  /** @type {(id: string) => void} */
  let focusFader = () => {};
  bindKeys(trial, stage, (id) => focusFader(id));

  for (let place = Math.min(Number(draft.get("set") ?? 0), sets.length - 1); place < sets.length;) {
    const set = drawSet(place);
    focusFader = set.focus;
    place += await set.done;
    draft.set("set", Math.min(place, sets.length - 1));
  }
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
    const columns = trial.slots.map((slot) => column(slot, stage, (words) => wayOn.tell(words)));
    const boards = asked.map((question, row) => {
      const { labels, field } = stage.bands(question.scale);
      const cells = trial.slots.map((slot, at) => {
        const control = slot.rated ? makeFader(question, slot) : null;
        if (control !== null) controls.set(`${question.id}.${slot.id}`, control);
        const [button, word] = row === 0 ? [columns[at].button, columns[at].word] : [];
        const cell = element(
          "div",
          {
            class: "column",
            role: "group",
            "aria-label": say("parallel.slot", { label: stage.label(slot) }),
            "data-slot": slot.id,
          },
          button,
          control?.element,
          word,
        );
        stage.wear(cell, slot);
        columns[at].cells.push(cell);
        return cell;
      });
      const board = element(
        "div",
        { class: row === 0 ? "board board-first" : "board" },
        labels,
        element("div", { class: "columns", vars: { slots: cells.length } }, field, cells),
      );
      return isRows && asked.length > 1
        ? element(
            "section",
            { class: "board-row" },
            element(
              row === 0 ? "h1" : "h2",
              { class: "board-title", tabindex: row === 0 ? "-1" : null },
              question.text,
            ),
            board,
          )
        : board;
    });

    /** @param {Asked} question @param {Slot} slot */
    function makeFader(question, slot) {
      return stage.fader({
        scale: question.scale,
        question: question.id,
        slot: slot.id,
        value: scores[question.id]?.[slot.id] ?? null,
        label: say(asked.length > 1 ? "parallel.score.of" : "parallel.score", {
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
    const played = tally(say("parallel.played"), trial.slots.length, stage);
    const set = tally(say("parallel.rated"), controls.size, stage);
    const isLast = place === sets.length - 1;
    const wayOn = stage.next({
      word: say(isLast ? "next" : "parallel.question.next"),
      ready: say("parallel.ready"),
      gap() {
        const unplayed = isPlayNeeded ? playable().filter(({ id }) => !player.isWatched(id)) : [];
        const unset = needed().filter(({ value }) => value === null);
        const words = [];
        if (unplayed.length > 0) words.push(say("parallel.left.play", { n: unplayed.length }));
        if (unset.length > 0) words.push(say("parallel.left.set", { n: unset.length }));
        if (words.length === 0) return null;
        const firstUnplayed = columns[trial.slots.findIndex(({ id }) => id === unplayed[0]?.id)];
        return { reason: words.join(say("list.comma")), focus: () => (firstUnplayed?.button ?? unset[0]).focus() };
      },
    });

    function refresh() {
      for (const one of columns) one.draw();
      for (const { id, rated: isRated } of trial.slots) {
        if (!isRated) continue;
        const label = stage.label(/** @type {Slot} */ (trial.slots.find((slot) => slot.id === id)));
        const reason =
          player.failure(id) !== null
            ? say("parallel.failed", { label })
            : player.isWatched(id)
              ? null
              : say(`parallel.locked.${trial.playback.watch}`, { label });
        for (const question of asked) controls.get(`${question.id}.${id}`)?.lock(reason);
      }
      // What cannot be played counts as done: nothing is left to do there.
      played.draw(trial.slots.length - playable().filter(({ id }) => !player.isWatched(id)).length);
      set.draw(controls.size - needed().filter(({ value }) => value === null).length);
      wayOn.refresh();
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
      element(
        "div",
        { class: "way-on-buttons" },
        place > 0 &&
          element(
            "button",
            {
              class: "button",
              id: "back",
              type: "button",
              "aria-label": say("parallel.question.back"),
              on: { click: () => back(-1) },
            },
            stage.icon("back"),
          ),
        wayOn.button,
      ),
    );
    const title = isRows && asked.length > 1 ? null : element("h1", { tabindex: "-1" }, asked[0].text);
    const count =
      sets.length > 1 &&
      element("p", { class: "question-count" }, say("parallel.question", { place: place + 1, n: sets.length }));
    const head = element(
      "header",
      { class: "question" },
      count,
      title,
      element("p", { class: "question-hint" }, say(`parallel.hint.${trial.playback.watch}`)),
    );
    deck.replaceChildren(head, element("div", { class: "boards" }, boards), way);
    let isHeard = true;
    player.listen((what) => {
      if (!isHeard) return;
      if (what !== "tick") refresh();
      else for (const one of columns) one.draw();
    });
    refresh();
    deck.querySelector("h1")?.focus({ preventScroll: true });
    return {
      done: Promise.race([goneBack, wayOn.done.then(() => 1)]).then((move) => {
        isHeard = false;
        return move;
      }),
      /** @param {string} id */
      focus: (id) => (controls.get(`${asked[0].id}.${id}`) ?? columns[0].button).focus(),
    };
  }
}

/** Return the play button of a slot, the word under a clip that does not play, and how to draw them.
 *  @param {Slot} slot @param {Stage} stage @param {(words: string) => void} tell */
function column(slot, stage, tell) {
  const { element, icon, player, say } = stage;
  const label = stage.label(slot);
  const [play, pause, tick] = [icon("play"), icon("pause"), icon("tick")];
  const button = element(
    "button",
    {
      class: "play",
      type: "button",
      "data-slot": slot.id,
      on: {
        click: () => {
          stage.log("click", slot.id, { what: "play" });
          if (player.mayPlay(slot.id)) return stage.switchTo(slot.id);
          const words = say(player.failure(slot.id) !== null ? "parallel.failed" : "parallel.spent", { label });
          stage.status(words);
          tell(words);
        },
      },
    },
    element("span", { class: "letter", "aria-hidden": "true" }, label),
    play,
    pause,
    element("span", { class: "play-done" }, tick),
  );
  const word = element("p", { class: "column-word", "aria-hidden": "true" }, say("parallel.failed.short"));
  /** @type {HTMLElement[]} */
  const cells = [];
  stage.wear(button, slot);

  function draw() {
    const isPlaying = player.current === slot.id && player.isPlaying;
    const isDone = player.isWatched(slot.id) && player.watched(slot.id) > 0;
    const isFailed = player.failure(slot.id) !== null;
    button.style.setProperty("--watched", String(Math.round(100 * player.watched(slot.id))));
    const name = isFailed
      ? "parallel.failed"
      : isPlaying
        ? "parallel.pause"
        : isDone
          ? "parallel.play.done"
          : "parallel.play";
    word.hidden = !isFailed;
    button.setAttribute("aria-label", say(name, { label }));
    button.setAttribute("aria-disabled", String(isFailed || !player.mayPlay(slot.id)));
    for (const cell of cells) {
      cell.classList.toggle("is-current", player.current === slot.id);
      cell.classList.toggle("is-playing", isPlaying);
      cell.classList.toggle("is-played", isDone);
      cell.classList.toggle("is-failed", isFailed);
    }
  }
  return { button, word, cells, draw };
}

/** Return a count of what is done, as words and dots. @param {string} word @param {number} total @param {Stage} stage */
function tally(word, total, { element, say }) {
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

/** Digits and letters play; Space pauses and goes on; arrows are the sliders' own.
 *  @param {Trial} trial @param {Stage} stage @param {(id: string) => void} focusFader */
function bindKeys(trial, stage, focusFader) {
  const { say, player } = stage;
  const count = Math.min(trial.slots.length, 12);
  const digits = Array.from({ length: Math.min(count, 9) }, (_, place) => String(place + 1));
  const letters = Array.from({ length: count }, (_, place) => String.fromCharCode(97 + place));
  stage.keys([
    {
      keys: [...digits, ...letters],
      shown: `1 – ${digits.length}, A – ${letters[count - 1].toUpperCase()}`,
      label: say("parallel.keys.play"),
      run(key) {
        const { id } = trial.slots[/\d/.test(key) ? Number(key) - 1 : key.charCodeAt(0) - 97];
        stage.log("key", id, { key });
        if (player.mayPlay(id)) stage.switchTo(id);
        focusFader(id); // so that the arrows set the slider of what is being watched
      },
    },
    {
      keys: [" "],
      shown: say("keys.space"),
      label: say("parallel.keys.pause"),
      run() {
        stage.log("key", player.current, { key: " " });
        if (player.current !== null) stage.switchTo(player.current);
      },
    },
    { keys: [], shown: "↑ ↓", label: say("parallel.keys.arrows"), run() {} },
    { keys: [], shown: "Page ↑ Page ↓", label: say("parallel.keys.leaps"), run() {} },
    { keys: [], shown: "Home, End", label: say("parallel.keys.ends"), run() {} },
  ]);
}
