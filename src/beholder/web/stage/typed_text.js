// What was understood of a clip, typed into a field; or that nothing was.

import { stylesheet } from "../stylesheet.js";
import { element } from "../element.js";
import { gapOf } from "./ballot.js";
import { told } from "./card.js";
import { askBelow, clipOf, lostClip, unheard } from "./clip.js";

/** @import { Answer, Asked, Slot, Stage, Trial } from "../types" */

/** question -> what stands in its field, and whether nothing was understood
 *  @typedef {{ [question: string]: { text: string, isNothing: boolean } }} Draft */

/** Show a clip with a field for each question; return what was typed after Next.
 *  @param {Trial} trial @param {Stage} stage @param {string} id @returns {Promise<Answer>} */
export async function typedText(trial, stage, id) {
  const { say, draft, player } = stage;
  await Promise.all([stylesheet("vote"), stylesheet("transcript")]);
  const slot = trial.slots.find((one) => one.id === id) ?? trial.slots[0];
  if (player.failure(id) !== null) {
    await lostClip(slot, stage);
    return { texts: {}, ...told(stage.missing()) };
  }

  const drafts = /** @type {Draft} */ ({ .../** @type {object} */ (draft.get("texts") ?? {}) });
  const fields = trial.asked.map((asked) =>
    fieldOf(asked, trial, stage, {
      slot,
      kept: drafts[asked.id] ?? { text: "", isNothing: false },
      onChange(kept) {
        drafts[asked.id] = kept;
        draft.set("texts", drafts);
        wayOn.refresh();
      },
    }),
  );
  const clip = clipOf(trial, slot, stage, { onTick() {}, onState: () => wayOn.refresh() });
  const wayOn = stage.next({
    ready: say("card.ready"),
    gap() {
      const left = gapOf(trial, stage, fields.filter((field) => field.isOpen()));
      return unheard(trial, slot, stage, clip.button) ?? (left && { ...left, reason: say("typed.missing") });
    },
  });
  const first = () => fields.find((field) => field.isOpen()) ?? fields[0];
  const isPlayed = await askBelow(trial, slot, stage, {
    clip: clip.element,
    answers: fields.map((field) => field.element),
    wayOn,
    keys: [
      { keys: ["p"], shown: "P", label: say("words.keys.play"), run: () => clip.button.click() },
      { keys: ["t"], shown: "T", label: say("typed.keys.type"), run: () => first().focus() },
      { keys: ["n"], shown: "N", label: say("typed.nothing"), run: () => first().nothing() },
    ],
  });
  if (!isPlayed) return { texts: {}, ...told(stage.missing()) };
  return { texts: Object.fromEntries(trial.asked.map((asked, place) => [asked.id, { [id]: fields[place].value() }])) };
}

/** Return the field of one question, and the box that says that nothing was understood.
 *  @param {Asked} asked @param {Trial} trial @param {Stage} stage
 *  @param {{ slot: Slot, kept: Draft[string], onChange(kept: Draft[string]): void }} how */
function fieldOf(asked, trial, stage, { slot, kept, onChange }) {
  const names = { name: `${asked.id}.${slot.id}`, "data-question": asked.id, "data-slot": slot.id };
  // Nothing may put words there that the person has not heard: no correction, no suggestion, no other's grammar.
  const field = element("textarea", {
    ...names,
    class: "field typed",
    rows: 3,
    maxlength: Number(trial.extra["most"]),
    dir: "auto",
    autocomplete: "off",
    autocorrect: "off",
    autocapitalize: "none",
    spellcheck: "false",
    "data-gramm": "false",
    "aria-labelledby": `question-${asked.id}`,
    "aria-required": "true",
  });
  const nothing = element("input", { ...names, class: "choice-box", type: "checkbox", value: "nothing" });
  field.value = kept.isNothing ? "" : kept.text;
  nothing.checked = kept.isNothing;
  const node = element(
    "div",
    { class: "words-asked" },
    field,
    element("label", { class: "choice words-none" }, nothing, element("span", {}, stage.say("typed.nothing"))),
  );

  /** Keep what stands there now. What was typed comes back where the box is cleared again. */
  function change() {
    if (field.value.trim() !== "") nothing.checked = false;
    if (!nothing.checked) kept.text = field.value;
    kept.isNothing = nothing.checked;
    onChange({ ...kept });
  }
  field.addEventListener("input", change);
  // What is typed is an answer, and not a part of the log.
  field.addEventListener("change", () =>
    stage.log("change", slot.id, { question: asked.id, length: field.value.trim().length }),
  );
  nothing.addEventListener("change", () => {
    field.value = nothing.checked ? "" : kept.text;
    stage.log("change", slot.id, { question: asked.id, value: nothing.checked ? "nothing" : null });
    change();
  });

  return {
    element: node,
    isOpen: () => !nothing.checked && field.value.trim() === "",
    focus: () => field.focus(),
    /** Say that nothing was understood, or that no longer. */
    nothing: () => nothing.click(),
    value: () => (nothing.checked ? "" : field.value.trim()),
  };
}
