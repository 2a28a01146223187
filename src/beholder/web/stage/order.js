// Several of one content on one page, put in order: by marking the best and the worst, or as a list.

import { gapOf, openGate, titleOf } from "./ballot.js";
import { drag } from "./drag.js";
import { element, fill, plain } from "../element.js";
import { endOf, rankBallot } from "./rank.js";
import { showcase } from "./showcase.js";
import { stylesheet } from "../stylesheet.js";

/** @import { Answer, Asked, Slot, Stage, Trial, Words } from "../types" */
/** @import { Ballot, Hooks } from "./ballot.js" */
/** @import { Transport } from "./showcase.js" */

/** @typedef {"best" | "worst"} Mark */
/** The value of each mark on the scale, whose words name it. @type {[Mark, number][]} */
const MARKS = [["best", 1], ["worst", -1]];

/** Show all slots and ask for their order; return it after Next.
 *  @param {Trial} trial @param {Stage} stage @param {Transport | null} transport @param {{ isList: boolean }} how
 *  @returns {Promise<Answer>} */
export async function order(trial, stage, transport, { isList }) {
  await Promise.all([stylesheet("vote"), stylesheet("compare"), stylesheet("order")]);
  const { medium } = trial.slots[0].media;
  return showcase(trial, stage, {
    make: (hooks) => (isList ? rankBallot : extremesBallot)(trial, stage, hooks),
    nothing: { choices: {} },
    failed: stage.say(`order.failed.${medium}`),
    transport,
  });
}

/** Return the ballot that marks the best and the worst slot, which are never the same: by radio buttons, or by dragging
 *  letters to the two places. Dragging is for who sees and points; everybody else has the radio buttons.
 *  @param {Trial} trial @param {Stage} stage @param {Hooks} hooks @returns {Ballot} */
function extremesBallot(trial, stage, { onChange, onLocked }) {
  const { say } = stage;
  const kept = /** @type {{ [question: string]: { [mark: string]: string } }} */ (stage.draft.get("marks") ?? {});
  /** @type {Map<string, HTMLInputElement[]>} */
  const inputs = new Map();
  /** Where letters are dropped. @type {Map<string, HTMLElement>} */
  const places = new Map();
  /** @type {string | null} */
  let locked = null;

  /** The mark that gave way to the other one, by question. @type {Map<string, { mark: Mark, slot: string }>} */
  const gone = new Map();

  /** @param {Asked} asked @param {Mark} mark @param {string | null} slot */
  function show(asked, mark, slot) {
    if (slot === null) delete kept[asked.id][mark];
    else kept[asked.id][mark] = slot;
    for (const input of inputs.get(`${asked.id} ${mark}`) ?? []) input.checked = input.value === slot;
    drawPlace(asked, mark);
  }

  /** Show the letter of a mark in its place. @param {Asked} asked @param {Mark} mark */
  function drawPlace(asked, mark) {
    const place = places.get(`${asked.id} ${mark}`);
    const slot = trial.slots.find(({ id }) => id === kept[asked.id]?.[mark]);
    if (place !== undefined) fill(place, slot === undefined ? say("order.drop") : handle(asked, slot));
  }

  /** Return a letter that can be dragged to a place. @param {Asked} asked @param {Slot} slot */
  function handle(asked, slot) {
    const letter = element("span", { class: "letter" }, stage.label(slot));
    const node = element("div", { class: "mark-handle", "data-slot": slot.id }, letter);
    /** @param {PointerEvent | null} at @returns {Mark | undefined} */
    const markAt = (at) =>
      MARKS.map(([mark]) => mark).find((mark) => {
        const box = places.get(`${asked.id} ${mark}`)?.closest(".marks")?.getBoundingClientRect();
        if (at === null || box === undefined) return false;
        return box.left <= at.clientX && at.clientX <= box.right && box.top <= at.clientY && at.clientY <= box.bottom;
      });
    stage.wear(node, slot);
    node.addEventListener("click", () => onLocked(locked ?? say("order.drag")));
    drag(node, {
      mayStart: () => locked === null,
      onOver(at) {
        const over = markAt(at);
        for (const [mark] of MARKS) places.get(`${asked.id} ${mark}`)?.classList.toggle("is-over", mark === over);
      },
      onDrop(at) {
        const mark = markAt(at);
        if (mark !== undefined && kept[asked.id]?.[mark] !== slot.id) choose(asked, mark, slot);
      },
    });
    return node;
  }

  /** @param {Asked} asked @param {Mark} mark @param {Slot} slot */
  function choose(asked, mark, slot) {
    const marks = (kept[asked.id] ??= {});
    const other = mark === "best" ? "worst" : "best";
    show(asked, mark, slot.id);
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

  const vars = { marks: Math.min(4, trial.slots.length) };

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
    const place = element("div", { class: "mark-place", "data-mark": mark, "aria-hidden": "true" });
    places.set(group, place);
    drawPlace(asked, mark);
    return element(
      "div",
      { class: "marks" },
      element("div", { class: "marks-head" }, element("p", { class: "marks-name", id: nameId }, name), place),
      element("div", { class: "marks-row", role: "radiogroup", "aria-labelledby": nameId, vars }, choices),
    );
  }

  const sections = trial.asked.map((asked, place) =>
    element(
      "section",
      { class: "vote-question" },
      titleOf(trial, place),
      element(
        "div",
        { class: "mark-handles", "aria-hidden": "true" },
        element("p", { class: "rank-left" }, say("order.drag")),
        element("div", { class: "marks-row", vars }, trial.slots.map((slot) => handle(asked, slot))),
      ),
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
    lock(reason) {
      locked = reason;
      gate.lock(reason);
    },
    answer: () => ({
      choices: Object.fromEntries(
        trial.asked.map(({ id }) => [id, { best: kept[id]["best"], worst: kept[id]["worst"] }]),
      ),
    }),
    bindings: () => [],
  };
}
