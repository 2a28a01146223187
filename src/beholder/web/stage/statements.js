// One statement and its answers: a row of radio buttons, a slider, or boxes to tick.

import { values, worded } from "./scale.js";

/** @import { Asked, Control, Scale, Stage, Words } from "../types" */

/** What has been answered, by question.
 *  @typedef {{ scores: { [question: string]: number }, ticks: { [question: string]: number[] }, comment: string }} Draft */
/** A statement on the page. `words` stand above its columns, `inputs` are what a digit may choose.
 *  @typedef {{ asked: Asked, words: Words[], element: HTMLElement, inputs: HTMLInputElement[], isOpen(): boolean,
 *              focus(): void, mark(isMissing: boolean): void }} Statement */
/** How it stands: by itself, with the lowest answer first.
 *  @typedef {{ isAlone: boolean, isLowFirst: boolean, onChange(): void }} How */

/** Return a statement with what can be answered to it.
 *  @param {Asked} asked @param {string} slot @param {Stage} stage @param {Draft} given @param {How} how
 *  @returns {Statement} */
export function statementOf(asked, slot, stage, given, how) {
  if (asked.ticks.length > 0) return boxes(asked, slot, stage, given, how);
  return asked.scale.look === "slider" ? slide(asked, slot, stage, given, how) : row(asked, slot, stage, given, how);
}

/** Return statements under the words of their scales; those that share a scale share its words.
 *  @param {Statement[]} statements @param {Stage} stage @returns {HTMLElement[]} */
export function lined(statements, { element }) {
  /** @type {{ scale: string | null, list: Statement[] }[]} */
  const groups = [];
  for (const one of statements) {
    const scale = one.words.length > 0 ? JSON.stringify(one.asked.scale) : null;
    const last = groups.at(-1);
    if (last !== undefined && scale !== null && last.scale === scale) last.list.push(one);
    else groups.push({ scale, list: [one] });
  }
  return groups.map(({ scale, list }) => {
    if (scale === null || statements.length === 1) return list[0].element;
    const { words } = list[0];
    return element(
      "div",
      { class: "grid", vars: { columns: words.length } },
      element(
        "div",
        { class: "grid-head", "aria-hidden": "true" },
        element("span"),
        words.map((word) => element("span", {}, word)),
      ),
      list.map((one) => one.element),
    );
  });
}

/** Return the columns of a scale. @param {Scale} scale @param {How} how @returns {[number, Words][]} */
function columnsOf(scale, { isLowFirst }) {
  const found = values(scale);
  return (isLowFirst ? found : found.reverse()).map((value) => [value, worded(scale, value)]);
}

/** @param {Asked} asked @param {Stage} stage @param {How} how */
function titleOf(asked, { element }, { isAlone }) {
  const id = `statement-${asked.id}`;
  return isAlone
    ? element("h1", { class: "statement-text", id, tabindex: "-1" }, asked.text)
    : element("p", { class: "statement-text", id }, asked.text);
}

/** @param {Asked} asked @param {string} slot @param {Stage} stage @param {Draft} given @param {How} how
 *  @returns {Statement} */
function row(asked, slot, stage, given, how) {
  const { element } = stage;
  const columns = columnsOf(asked.scale, how);
  const inputs = columns.map(([value]) =>
    element("input", {
      class: "choice-dot",
      type: "radio",
      name: `${asked.id}.${slot}`,
      value,
      checked: given.scores[asked.id] === value,
      "data-question": asked.id,
      "data-slot": slot,
      on: {
        change: () => {
          given.scores[asked.id] = value;
          stage.log("change", slot, { question: asked.id, value });
          how.onChange();
        },
      },
    }),
  );
  const node = element(
    "div",
    {
      class: how.isAlone ? "statement statement-alone" : "statement",
      role: "radiogroup",
      "aria-labelledby": `statement-${asked.id}`,
      "aria-required": "true",
      vars: { columns: columns.length },
    },
    titleOf(asked, stage, how),
    columns.map(([, word], place) =>
      element("label", { class: "answer" }, inputs[place], element("span", { class: "answer-word" }, word)),
    ),
  );
  return {
    asked,
    words: columns.map(([, word]) => word),
    element: node,
    inputs,
    isOpen: () => !(asked.id in given.scores),
    focus: () => (inputs.find((input) => input.checked) ?? inputs[0]).focus(),
    mark: (isMissing) => mark(node, isMissing),
  };
}

/** @param {Asked} asked @param {string} slot @param {Stage} stage @param {Draft} given @param {How} how
 *  @returns {Statement} */
function slide(asked, slot, stage, given, how) {
  const { element } = stage;
  /** @type {Control} */
  const control = stage.fader({
    scale: asked.scale,
    label: asked.text,
    question: asked.id,
    slot,
    value: given.scores[asked.id] ?? null,
    onChange(value) {
      given.scores[asked.id] = value;
      how.onChange();
    },
  });
  const { labels, field } = stage.bands(asked.scale);
  const node = element(
    "div",
    { class: "statement-block" },
    titleOf(asked, stage, how),
    element(
      "div",
      { class: "board board-single" },
      labels,
      element("div", { class: "columns", vars: { slots: 1 } }, field, element("div", { class: "column" }, control.element)),
    ),
  );
  return {
    asked,
    words: [],
    element: node,
    inputs: [],
    isOpen: () => control.value === null,
    focus: () => control.focus(),
    mark: (isMissing) => node.classList.toggle("is-missing", isMissing),
  };
}

/** @param {Asked} asked @param {string} slot @param {Stage} stage @param {Draft} given @param {How} how
 *  @returns {Statement} */
function boxes(asked, slot, stage, given, how) {
  const { element, say } = stage;
  /** @param {string} value */
  const box = (value) =>
    element("input", {
      class: "choice-box",
      type: "checkbox",
      name: `${asked.id}.${slot}`,
      value,
      "data-question": asked.id,
      "data-slot": slot,
    });
  const ticks = asked.ticks.map((_, place) => box(String(place)));
  const nothing = box("nothing");
  const before = given.ticks[asked.id];
  ticks.forEach((input, place) => {
    input.checked = before?.includes(place) ?? false;
  });
  nothing.checked = before?.length === 0;

  /** @param {HTMLInputElement} changed */
  function change(changed) {
    if (changed === nothing && nothing.checked) for (const input of ticks) input.checked = false;
    if (changed !== nothing && changed.checked) nothing.checked = false;
    const ticked = ticks.flatMap((input, place) => (input.checked ? [place] : []));
    if (ticked.length > 0 || nothing.checked) given.ticks[asked.id] = ticked;
    else delete given.ticks[asked.id]; // nothing chosen is no answer
    stage.log("change", slot, { question: asked.id, value: given.ticks[asked.id] ?? null });
    how.onChange();
  }
  for (const input of [...ticks, nothing]) input.addEventListener("change", () => change(input));

  /** @param {HTMLInputElement} input @param {Words} word */
  const choice = (input, word) => element("label", { class: "choice" }, input, element("span", {}, word));
  const group = element(
    "div",
    { class: "ticks", role: "group", "aria-labelledby": `statement-${asked.id}` },
    asked.ticks.map((word, place) => choice(ticks[place], word)),
    choice(nothing, say("survey.nothing")),
  );
  group.lastElementChild?.classList.add("ticks-nothing");
  const node = element(
    "div",
    { class: "statement-block" },
    titleOf(asked, stage, how),
    group,
  );
  return {
    asked,
    words: [],
    element: node,
    inputs: [...ticks, nothing],
    isOpen: () => !(asked.id in given.ticks),
    focus: () => ticks[0].focus(),
    mark: (isMissing) => node.classList.toggle("is-missing", isMissing),
  };
}

/** Return the field for what the boxes do not say.
 *  @param {Stage} stage @param {Draft} given @param {() => void} onChange */
export function commentOf({ element, say }, given, onChange) {
  const field = element("textarea", {
    class: "comment",
    id: "comment",
    rows: 3,
    maxlength: 5000,
    on: {
      input: () => {
        given.comment = field.value;
        onChange();
      },
    },
  });
  field.value = given.comment;
  const label = element("label", { class: "comment-label", for: field.id }, say("survey.comment"));
  return element("div", { class: "statement-block" }, label, field);
}

/** @param {HTMLElement} node @param {boolean} isMissing */
function mark(node, isMissing) {
  node.classList.toggle("is-missing", isMissing);
  if (isMissing) node.setAttribute("aria-invalid", "true");
  else node.removeAttribute("aria-invalid");
}
