// All questions of a trial about one slot: a number for each, by slider or by a list of words.

import { element } from "../element.js";

/** @import { Answer, Binding, Control, Gap, Scores, Stage, Trial } from "../types" */

/** The questions of a trial as controls. What they hold is read when the answer is asked for, never earlier.
 *  @typedef {{ sections: HTMLElement[], gap(): Gap | null, lock(reason: string | null): void,
 *              answer(): Answer, bindings(): Binding[] }} Ballot */
/** @typedef {{ onChange: () => void, onLocked: (reason: string) => void }} Hooks */

/** Return the ballot that gives one slot a score for each question.
 *  @param {Trial} trial @param {Stage} stage @param {string} id @param {Hooks} hooks @returns {Ballot} */
export function scoreBallot(trial, stage, id, { onChange, onLocked }) {
  const kept = /** @type {Scores} */ (stage.draft.get("scores") ?? {});
  /** @type {Control[]} */
  const controls = [];
  const sections = trial.asked.map((asked, place) => {
    const titleId = `question-${asked.id}`;
    const options = {
      scale: asked.scale,
      label: asked.text,
      value: kept[asked.id]?.[id] ?? null,
      question: asked.id,
      slot: id,
      /** @param {number} value */
      onChange(value) {
        (kept[asked.id] ??= {})[id] = value;
        stage.draft.set("scores", kept);
        onChange();
      },
      onLocked,
    };
    const isSlider = asked.scale.look === "slider";
    const control = isSlider
      ? stage.fader(options)
      : stage.choices({ ...options, labelledBy: titleId, hasKeys: true });
    controls.push(control);
    return element(
      "section",
      { class: "vote-question" },
      titleOf(trial, place),
      isSlider ? standing(asked.scale, control, stage) : control.element,
    );
  });
  const gate = openGate(sections, onLocked);
  return {
    sections,
    gap: () => gapOf(trial, stage, controls.filter(({ value }) => value === null)),
    lock(reason) {
      gate.lock(reason);
      for (const control of controls) control.lock(reason);
    },
    answer: () => ({
      scores: /** @type {Scores} */ (
        Object.fromEntries(trial.asked.map((asked, place) => [asked.id, { [id]: controls[place].value }]))
      ),
    }),
    bindings() {
      const lists = controls
        .filter((_, place) => trial.asked[place].scale.look === "radio")
        .map(({ element: list }) => ({ list, keys: digitsOf(list) }));
      return digitBindings(stage, id, lists);
    },
  };
}

/** Return the ballot that gives every rated slot a score for each question, by sliders beside each other.
 *  @param {Trial} trial @param {Stage} stage @param {Hooks} hooks @returns {Ballot} */
export function scoresBallot(trial, stage, { onChange, onLocked }) {
  const kept = /** @type {Scores} */ (stage.draft.get("scores") ?? {});
  const rated = trial.slots.filter((slot) => slot.rated);
  /** @type {Map<string, Control>} */
  const controls = new Map();
  const sections = trial.asked.map((asked, place) => {
    const { labels, field } = stage.bands(asked.scale);
    const columns = rated.map((slot) => {
      const control = stage.fader({
        scale: asked.scale,
        label: stage.say("board.score.of", { label: stage.label(slot), question: asked.text }),
        value: kept[asked.id]?.[slot.id] ?? null,
        question: asked.id,
        slot: slot.id,
        onChange(value) {
          (kept[asked.id] ??= {})[slot.id] = value;
          stage.draft.set("scores", kept);
          onChange();
        },
        onLocked,
      });
      controls.set(`${asked.id}.${slot.id}`, control);
      const letter = element("p", { class: "scale-letter", "aria-hidden": "true" }, stage.label(slot));
      return element("div", { class: "column" }, letter, control.element);
    });
    const board = element("div", { class: "columns", vars: { slots: rated.length } }, field, columns);
    return element(
      "section",
      { class: "vote-question" },
      titleOf(trial, place),
      element("div", { class: "board board-single board-pair" }, labels, board),
    );
  });
  return {
    sections,
    gap() {
      const open = [...controls.values()].filter(({ value }) => value === null);
      if (open.length === 0) return null;
      return { reason: stage.say("board.left.set", { n: open.length }), focus: () => open[0].focus() };
    },
    lock(reason) {
      for (const control of controls.values()) control.lock(reason);
    },
    answer: () => ({
      scores: /** @type {Scores} */ (
        Object.fromEntries(
          trial.asked.map(({ id }) => [
            id,
            Object.fromEntries(rated.map((slot) => [slot.id, controls.get(`${id}.${slot.id}`)?.value])),
          ]),
        )
      ),
    }),
    bindings: () => [],
  };
}

/** Return that some questions are open, in words, or null. @param {Trial} trial @param {Stage} stage
 *  @param {{ focus(): void }[]} open @returns {Gap | null} */
export function gapOf({ asked }, { say }, open) {
  if (open.length === 0) return null;
  const reason = asked.length === 1 ? say("card.missing") : say("card.missing.many", { n: open.length });
  return { reason, focus: () => open[0].focus() };
}

/** Return the heading of a question. @param {Trial} trial @param {number} place */
export function titleOf({ asked }, place) {
  return element(
    place === 0 ? "h1" : "h2",
    {
      id: `question-${asked[place].id}`,
      class: asked.length > 1 ? "vote-title" : null,
      tabindex: place === 0 ? "-1" : null,
    },
    asked[place].text,
  );
}

/** A list of radio buttons, and the key of each.
 *  @typedef {{ list: HTMLElement, keys: Map<string, HTMLInputElement> }} Keyed */

/** Return the bindings that answer the list that is meant: where the focus is, else the first open one, else the last.
 *  @param {Stage} stage @param {string | null} slot @param {Keyed[]} lists @param {string} [shown] as Help tells them
 *  @returns {Binding[]} */
export function digitBindings(stage, slot, lists, shown) {
  const names = [...new Set(lists.flatMap(({ keys }) => [...keys.keys()]))];
  if (names.length === 0) return [];
  return [
    {
      keys: names,
      shown: shown ?? `${names[0]} – ${names.at(-1)}`,
      label: stage.say("keys.choose"),
      run(key) {
        const meant =
          lists.find(({ list }) => list.contains(document.activeElement)) ??
          lists.find(({ list }) => list.querySelector(":checked") === null) ??
          lists.at(-1);
        const input = meant?.keys.get(key);
        if (input === undefined) return;
        stage.log("key", slot, { key });
        input.focus();
        input.click();
      },
    },
  ];
}

/** Return what keeps answers closed: radio buttons that are pressed then say why, and stay as they are.
 *  @param {HTMLElement[]} sections @param {(reason: string) => void} onLocked */
export function openGate(sections, onLocked) {
  /** @type {string | null} */
  let locked = null;
  const inputs = sections.flatMap((section) => [...section.querySelectorAll("input[type=radio]")]);
  for (const section of sections) {
    section.addEventListener(
      "click",
      (event) => {
        if (locked === null || !(event.target instanceof Element)) return;
        if (event.target.closest(".choice") === null) return;
        event.preventDefault();
        event.stopPropagation();
        onLocked(locked);
      },
      { capture: true },
    );
  }
  return {
    /** @param {string | null} reason */
    lock(reason) {
      locked = reason;
      for (const input of inputs) {
        if (reason === null) input.removeAttribute("aria-disabled");
        else input.setAttribute("aria-disabled", "true");
      }
      for (const section of sections) section.classList.toggle("is-locked", reason !== null);
    },
  };
}

/** A slider with its words beside it. @param {Trial["asked"][number]["scale"]} scale @param {Control} control
 *  @param {Stage} stage */
function standing(scale, control, stage) {
  const { labels, field } = stage.bands(scale);
  return element(
    "div",
    { class: "board board-single" },
    labels,
    element(
      "div",
      { class: "columns", vars: { slots: 1 } },
      field,
      element("div", { class: "column" }, control.element),
    ),
  );
}

/** @param {HTMLElement} list @returns {Map<string, HTMLInputElement>} */
function digitsOf(list) {
  const keys = new Map();
  for (const row of list.querySelectorAll(".choice")) {
    const [input, key] = [row.querySelector("input"), row.querySelector("kbd")?.textContent];
    if (input !== null && key) keys.set(key, input);
  }
  return keys;
}
