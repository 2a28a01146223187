// Several of one content on one page, put in order: by marking the best and the worst, or as a list.

import { gapOf, openGate, titleOf } from "./ballot.js";
import { element, plain } from "../element.js";
import { rankBallot } from "./rank.js";
import { showcase } from "./showcase.js";
import { stylesheet } from "../stylesheet.js";

/** @import { Answer, Asked, Slot, Stage, Trial, Words } from "../types" */
/** @import { Ballot, Hooks } from "./ballot.js" */

/** @typedef {"best" | "worst"} Mark */
/** The value of each mark on the scale, whose words name it. @type {[Mark, number][]} */
const MARKS = [["best", 1], ["worst", -1]];

/** Show all slots and ask for their order; return it after Next.
 *  @param {Trial} trial @param {Stage} stage @param {{ isList: boolean }} how @returns {Promise<Answer>} */
export async function order(trial, stage, { isList }) {
  await Promise.all(["vote", "compare", "order"].map((name) => stylesheet(name)));
  const { medium } = trial.slots[0].media;
  return showcase(trial, stage, {
    make: (hooks) => (isList ? rankBallot : extremesBallot)(trial, stage, hooks),
    nothing: { choices: {} },
    failed: stage.say(`order.failed.${medium}`),
  });
}

/** Return the words for an end of the scale. @param {Asked} asked @param {number} value @param {Stage} stage
 *  @returns {Words} */
export function endOf({ scale }, value, { say }) {
  return new Map(scale.labels).get(value) ?? say(value > 0 ? "order.best" : "order.worst");
}

/** Return the ballot that marks the best and the worst slot, which are never the same.
 *  @param {Trial} trial @param {Stage} stage @param {Hooks} hooks @returns {Ballot} */
function extremesBallot(trial, stage, { onChange, onLocked }) {
  const { say } = stage;
  const kept = /** @type {{ [question: string]: { [mark: string]: string } }} */ (stage.draft.get("marks") ?? {});
  /** @type {Map<string, HTMLInputElement[]>} */
  const inputs = new Map();

  /** The mark that gave way to the other one, by question. @type {Map<string, { mark: Mark, slot: string }>} */
  const gone = new Map();

  /** @param {Asked} asked @param {Mark} mark @param {string | null} slot */
  function show(asked, mark, slot) {
    if (slot === null) delete kept[asked.id][mark];
    else kept[asked.id][mark] = slot;
    for (const input of inputs.get(`${asked.id} ${mark}`) ?? []) input.checked = input.value === slot;
  }

  /** @param {Asked} asked @param {Mark} mark @param {Slot} slot */
  function choose(asked, mark, slot) {
    const marks = (kept[asked.id] ??= {});
    const other = mark === "best" ? "worst" : "best";
    marks[mark] = slot.id;
    // Arrow keys pass over the one with the other mark, which then comes back.
    const before = gone.get(asked.id);
    if (before?.mark === other && before.slot !== slot.id) show(asked, other, before.slot);
    gone.delete(asked.id);
    if (marks[other] === slot.id) {
      show(asked, other, null);
      gone.set(asked.id, { mark: other, slot: slot.id });
      const name = plain(endOf(asked, other === "best" ? 1 : -1, stage));
      stage.status(say("order.cleared", { name, label: stage.label(slot) }));
    }
    stage.draft.set("marks", kept);
    stage.log("change", slot.id, { question: asked.id, value: mark });
    onChange();
  }

  /** @param {Asked} asked @param {Mark} mark @param {Words} name */
  function row(asked, mark, name) {
    const nameId = `${mark}-${asked.id}`;
    const group = `${asked.id} ${mark}`;
    const choices = trial.slots.map((slot) => {
      const input = element("input", {
        class: "choice-dot",
        type: "radio",
        name: group,
        value: slot.id,
        checked: kept[asked.id]?.[mark] === slot.id,
        "data-question": asked.id,
        "data-slot": mark,
        on: { change: () => choose(asked, mark, slot) },
      });
      inputs.set(group, [...(inputs.get(group) ?? []), input]);
      return element("label", { class: "choice mark" }, input, element("span", {}, stage.label(slot)));
    });
    return element(
      "div",
      { class: "marks", role: "radiogroup", "aria-labelledby": nameId },
      element("p", { class: "marks-name", id: nameId }, name),
      element("div", { class: "marks-row", vars: { marks: Math.min(4, trial.slots.length) } }, choices),
    );
  }

  const sections = trial.asked.map((asked, place) =>
    element(
      "section",
      { class: "vote-question" },
      titleOf(trial, place),
      MARKS.map(([mark, value]) => row(asked, mark, endOf(asked, value, stage))),
    ),
  );
  const gate = openGate(sections, onLocked);
  const open = () =>
    trial.asked.flatMap((asked) =>
      MARKS.filter(([mark]) => kept[asked.id]?.[mark] === undefined).map(([mark, value]) => ({
        name: plain(endOf(asked, value, stage)),
        focus: () => inputs.get(`${asked.id} ${mark}`)?.[0].focus(),
      })),
    );
  return {
    sections,
    gap() {
      const [first] = open();
      if (first === undefined) return null;
      if (trial.asked.length > 1) return gapOf(trial, stage, open());
      return { reason: say("order.missing", { name: first.name }), focus: first.focus };
    },
    lock: gate.lock,
    answer: () => ({
      choices: Object.fromEntries(
        trial.asked.map(({ id }) => [id, { best: kept[id]["best"], worst: kept[id]["worst"] }]),
      ),
    }),
    bindings: () => [],
  };
}
