// A list from the best to the worst: every letter is pressed or dragged to its place, and moved by dragging, by buttons
// or by arrow keys alike.

import { titleOf } from "./ballot.js";
import { drag } from "./drag.js";
import { element, fill, plain } from "../element.js";

/** @import { Asked, Binding, Slot, Stage, Trial, Words } from "../types" */
/** @import { Ballot, Hooks } from "./ballot.js" */

/** Groups of slots, the best first. @typedef {string[][]} Order */
/** Who stands in the list, in order, and who of them shares the place of the one before.
 *  @typedef {{ line: string[], same: Set<string> }} Line */
/** @typedef {{ section: HTMLElement, line: Line, lock(reason: string | null): void, focus(): void }} List */

/** Return the ballot that puts all slots in order. @param {Trial} trial @param {Stage} stage @param {Hooks} hooks
 *  @returns {Ballot} */
export function rankBallot(trial, stage, hooks) {
  const { say } = stage;
  const kept = /** @type {{ [question: string]: Order }} */ (stage.draft.get("orders") ?? {});
  const isPartial = trial.extra["partial"] === true;
  const lists = trial.asked.map((asked, place) =>
    makeList(trial, stage, asked, place, kept[asked.id] ?? [], {
      onLocked: hooks.onLocked,
      onChange(order) {
        kept[asked.id] = order;
        stage.draft.set("orders", kept);
        stage.log("change", null, { question: asked.id, value: order.map((group) => group.join(" ")).join(", ") });
        hooks.onChange();
      },
    }),
  );
  const missing = (/** @type {List} */ { line }) => (isPartial ? Number(line.line.length === 0) : trial.slots.length - line.line.length);
  return {
    sections: lists.map(({ section }) => section),
    gap() {
      const open = lists.find((list) => missing(list) > 0);
      if (open === undefined) return null;
      return { reason: isPartial ? say("order.left.one") : say("order.left", { n: missing(open) }), focus: open.focus };
    },
    lock: (reason) => lists.forEach((list) => list.lock(reason)),
    answer: () => ({ choices: Object.fromEntries(trial.asked.map(({ id }, at) => [id, { order: groups(lists[at].line) }])) }),
    bindings() {
      /** @type {Binding[]} */
      const told = [{ keys: [], shown: "↑ ↓", label: say("order.keys.move"), run() {} }];
      if (trial.extra["ties"] === true) told.push({ keys: [], shown: "=", label: say("order.keys.tie"), run() {} });
      return [...told, { keys: [], shown: "Delete", label: say("order.keys.remove"), run() {} }];
    },
  };
}

/** Return the groups of a line. @param {Line} line @returns {Order} */
function groups({ line, same }) {
  /** @type {Order} */
  const order = [];
  for (const id of line) {
    if (same.has(id)) order[order.length - 1].push(id);
    else order.push([id]);
  }
  return order;
}

/** Return the list of one question. @param {Trial} trial @param {Stage} stage @param {Asked} asked
 *  @param {number} question its place @param {Order} order as it was kept
 *  @param {{ onChange(order: Order): void, onLocked(reason: string): void }} hooks @returns {List} */
function makeList(trial, stage, asked, question, order, { onChange, onLocked }) {
  const { say } = stage;
  const hasTies = trial.extra["ties"] === true;
  /** @type {Line} */
  const state = { line: order.flat(), same: new Set(order.flatMap((group) => group.slice(1))) };
  /** @type {string | null} */
  let locked = null;
  const list = element("ol", { class: "rank-list", "aria-label": say("order.list") });
  const pool = element("div", { class: "rank-pool", role: "group", "aria-label": say("order.pool") });
  const ends = [1, -1].map((value) => element("p", { class: "rank-end" }, plain(endOf(asked, value, stage))));
  const rank = element("div", { class: "rank", "data-question": asked.id }, pool, ends[0], list, ends[1]);
  // Room for all of them on either side, so that nothing moves while they are put in order.
  rank.style.setProperty("--places", String(trial.slots.length));
  rank.style.setProperty("--rows", String(Math.ceil(trial.slots.length / 4)));
  const section = element("section", { class: "vote-question" }, titleOf(trial, question), rank);

  /** Put a slot at an index of the others, or nowhere (null). @param {string} id @param {number | null} index */
  function put(id, index) {
    const { line, same } = state;
    const from = line.indexOf(id);
    const after = line[from + 1];
    // Who shared the place of one that leaves stays where it was, the first of its place now.
    if (from >= 0 && !same.has(id) && after !== undefined) same.delete(after);
    same.delete(id);
    if (from >= 0) line.splice(from, 1);
    if (index !== null) {
      line.splice(index, 0, id);
      // Between two of one place there is no room: the next of them begins a place of its own.
      same.delete(line[index + 1]);
    }
    same.delete(line[0]);
    changed(id);
  }

  /** @param {string} id */
  function tie(id) {
    if (!state.same.delete(id)) state.same.add(id);
    changed(id);
  }

  /** @param {string} id */
  function changed(id) {
    const order = groups(state);
    const label = labelOf(id);
    const place = placeOf(id);
    stage.status(place === 0 ? say("order.out", { label }) : say("order.at", { label, place, n: trial.slots.length }));
    onChange(order);
    draw();
  }

  /** @param {string} id */
  const labelOf = (id) => stage.label(/** @type {Slot} */ (trial.slots.find((slot) => slot.id === id)));
  /** The place of a slot, from 1; 0 where it has none. @param {string} id */
  const placeOf = (id) => {
    const order = groups(state);
    const at = order.findIndex((group) => group.includes(id));
    return at < 0 ? 0 : 1 + order.slice(0, at).flat().length;
  };

  /** Do something, or say why it cannot be done yet. @param {() => void} act */
  function unlocked(act) {
    if (locked === null) act();
    else onLocked(locked);
  }

  /** @param {string} id @param {string} name @param {string} what @param {boolean} isOff @param {() => void} act */
  function small(id, name, what, isOff, act) {
    return element(
      "button",
      {
        class: `rank-${name}`,
        type: "button",
        "data-slot": id,
        "data-act": name,
        "aria-label": say(`order.${what}`, { label: labelOf(id) }),
        "aria-disabled": String(isOff || locked !== null),
        "aria-pressed": name === "tie" ? String(state.same.has(id)) : null,
        on: { click: () => unlocked(() => !isOff && act()) },
      },
      { up: "↑", down: "↓", tie: "=", out: "×" }[name],
    );
  }

  /** @param {string} id @param {number} at */
  function item(id, at) {
    const slot = /** @type {Slot} */ (trial.slots.find((one) => one.id === id));
    const place = placeOf(id);
    const handle = element(
      "button",
      {
        class: "rank-handle",
        type: "button",
        "data-slot": id,
        "data-act": "handle",
        "data-place": place,
        "aria-label": say("order.item", { label: labelOf(id), place, n: trial.slots.length }),
        "aria-disabled": String(locked !== null),
        "aria-keyshortcuts": "ArrowUp ArrowDown Delete",
        on: { keydown: (event) => onKey(/** @type {KeyboardEvent} */ (event), id, at) },
      },
      element("span", { class: "letter", "aria-hidden": "true" }, labelOf(id)),
    );
    letDrag(handle, id);
    const node = element(
      "li",
      { class: state.same.has(id) ? "rank-item is-tied" : "rank-item" },
      handle,
      hasTies && small(id, "tie", "tie", at === 0, () => tie(id)),
      small(id, "up", "up", at === 0, () => put(id, at - 1)),
      small(id, "down", "down", at === state.line.length - 1, () => put(id, at + 1)),
      small(id, "out", "remove", false, () => put(id, null)),
    );
    stage.wear(node, slot);
    return node;
  }

  /** @param {Slot} slot */
  function adder(slot) {
    const button = element(
      "button",
      {
        class: "rank-add",
        type: "button",
        "data-slot": slot.id,
        "data-act": "add",
        "aria-label": say("order.add", { label: stage.label(slot) }),
        "aria-disabled": String(locked !== null),
        on: { click: () => unlocked(() => put(slot.id, state.line.length)) },
      },
      element("span", { class: "letter", "aria-hidden": "true" }, stage.label(slot)),
    );
    stage.wear(button, slot);
    letDrag(button, slot.id);
    return button;
  }

  /** @param {KeyboardEvent} event @param {string} id @param {number} at */
  function onKey(event, id, at) {
    const index = { ArrowUp: Math.max(0, at - 1), ArrowDown: Math.min(state.line.length - 1, at + 1) }[event.key];
    const isOut = event.key === "Delete" || event.key === "Backspace";
    if (index === undefined && !isOut && !(hasTies && event.key === "=" && at > 0)) return;
    event.preventDefault();
    unlocked(() => {
      if (index === at) return;
      if (index !== undefined) put(id, index);
      else if (isOut) put(id, null);
      else tie(id);
    });
  }

  /** Let a button be dragged to a place. @param {HTMLElement} button @param {string} id */
  function letDrag(button, id) {
    const others = () => [...list.children].filter((node) => node.querySelector(`[data-slot="${id}"]`) === null);
    /** @param {PointerEvent} event @returns {number | null} */
    const indexAt = ({ clientY }) => {
      if (clientY < ends[0].getBoundingClientRect().top) return null; // back to those that have no place
      return others().filter((node) => {
        const box = node.getBoundingClientRect();
        return (box.top + box.bottom) / 2 < clientY;
      }).length;
    };
    drag(button, {
      mayStart: () => locked === null,
      onOver(event) {
        const index = event === null ? null : indexAt(event);
        for (const [at, node] of others().entries()) node.classList.toggle("is-before", at === index);
        list.classList.toggle("is-end", index === others().length);
      },
      onDrop(event) {
        const index = indexAt(event);
        if (index !== null || state.line.includes(id)) put(id, index);
      },
    });
  }

  function draw() {
    const focused = document.activeElement instanceof HTMLElement && rank.contains(document.activeElement) ? document.activeElement.dataset : null;
    const [slot, act] = [focused?.["slot"], focused?.["act"]];
    const left = trial.slots.filter(({ id }) => !state.line.includes(id));
    fill(list, state.line.map(item));
    const what = left.length > 0 ? "order.pool" : "order.all";
    // Who has a place leaves a free one: the list stays where it is.
    fill(pool, element("p", { class: "rank-left" }, say(what)), left.map(adder));
    if (slot === undefined) return;
    // The focus goes on to the same button of the same slot; who adds goes on to what is left to add.
    const found = [`[data-slot="${slot}"][data-act="${act}"]`, ".rank-add", `[data-slot="${slot}"]`];
    const next = found.map((one) => /** @type {HTMLElement | null} */ (rank.querySelector(one))).find((one) => one !== null);
    next?.focus();
  }
  draw();
  return {
    section,
    line: state,
    lock(reason) {
      if (reason === locked) return;
      locked = reason;
      rank.classList.toggle("is-locked", reason !== null);
      draw();
    },
    focus: () => /** @type {HTMLElement | null} */ (rank.querySelector(".rank-add, .rank-handle"))?.focus(),
  };
}

/** Return the words for an end of the scale. @param {Asked} asked @param {number} value @param {Stage} stage
 *  @returns {Words} */
export function endOf({ scale }, value, { say }) {
  return new Map(scale.labels).get(value) ?? say(value > 0 ? "order.best" : "order.worst");
}
