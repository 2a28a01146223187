// A questionnaire: native fields, what is still missing in words, kept over a reload. An item can show a file, and can
// depend on what is answered above it.

import { fetched } from "../client.js";
import { element, fill, plain } from "../element.js";
import { markup } from "../markup.js";
import { actions } from "../frame/sheet.js";
import { stylesheet } from "../stylesheet.js";

/** @import { Page } from "../run.js" */
/** @import { Attributes, Comparison, Item, Json, QuestionsStep, Words } from "../types" */

/** @typedef {{ element: HTMLElement, value: () => Json, problem: () => string | null, focus: () => void }} Field */

/** @param {QuestionsStep} step @param {Page} page @returns {Promise<Json>} */
export async function questions(step, page) {
  const { main, say, log, status, shelf } = page;
  if (step.trial === undefined) void shelf.prefetch(step.prefetch);
  const [files] = await Promise.all([openFiles(step, page), stylesheet("vote")]);
  const kept = /** @type {Record<string, Json>} */ (log.values.get("answers") ?? {});
  const reason = element("p", { class: "reason", id: "reason" });
  const on = element(
    "button",
    { class: "button button-primary", id: "next", type: "button", "aria-describedby": "reason" },
    say("next"),
  );

  const fields = step.items.map((item) => {
    const field = makeField(item, kept[item.id] ?? null, page, (value) => {
      kept[item.id] = value;
      log.values.set("answers", kept);
      log.add("change", null, { question: item.id, value });
      refresh();
    });
    const shown = files?.show(item, field.element) ?? null;
    return { item, field, shown, problem: () => field.problem() ?? shown?.problem() ?? null };
  });

  /** Return the fields that are asked, from the top: each may depend on what is answered above it. */
  function asked() {
    /** @type {Record<string, Json>} */
    const answers = {};
    return fields.filter(({ item, field }) => {
      const isAsked = (item.when ?? []).every((one) => holds(one, answers[one.question] ?? null));
      if (isAsked) answers[item.id] = field.value();
      return isAsked;
    });
  }

  function refresh() {
    const here = asked();
    for (const one of fields) one.field.element.hidden = !here.includes(one);
    const open = here.filter(({ problem }) => problem() !== null);
    const unplayed = open.filter(({ field, shown }) => field.problem() === null && shown !== null).length;
    const wrong = open.filter(({ field }) => field.problem() !== null && field.value() !== null).length;
    const words = [];
    if (open.length > wrong + unplayed) words.push(say("questions.left", { n: open.length - wrong - unplayed }));
    if (wrong > 0) words.push(say("questions.wrong", { n: wrong }));
    if (unplayed > 0) words.push(say("questions.unplayed", { n: unplayed }));
    reason.textContent = words.join(say("list.comma"));
    reason.classList.remove("is-asked");
    on.setAttribute("aria-disabled", String(open.length > 0));
    for (const { field, problem } of fields) if (problem() === null) mark(field, null);
  }

  fill(
    main,
    element(
      "div",
      { class: "sheet" },
      element("div", { class: "lead" }, element("h1", { tabindex: "-1" }, titleOf(step, say))),
      element(
        "form",
        {
          class: "panel questions",
          novalidate: true,
          on: {
            submit: (/** @type {SubmitEvent} */ event) => {
              event.preventDefault();
              on.click();
            },
          },
        },
        fields.map(({ field }) => field.element),
      ),
      actions(on, reason),
    ),
  );
  refresh();
  files?.watch(refresh);
  main.querySelector("h1")?.focus({ preventScroll: true });

  await new Promise((resolve) => {
    on.addEventListener("click", () => {
      const open = asked().filter(({ problem }) => problem() !== null);
      if (open.length === 0) return resolve(null);
      for (const { field, problem } of asked()) mark(field, problem());
      reason.classList.add("is-asked");
      status(`${reason.textContent}. ${open[0].problem()}`);
      (open[0].field.problem() === null ? open[0].shown : open[0].field)?.focus();
    });
  });
  files?.close();
  const answers = asked().map(({ item, field }) => /** @type {[string, Json]} */ ([item.id, field.value()]));
  return { answers: Object.fromEntries(answers.filter(([, value]) => value !== null)) };
}

/** @param {QuestionsStep} step @param {Page["say"]} say */
function titleOf({ key, items }, say) {
  return key.startsWith("questions:during:") ? say("questions.during", { n: items.length }) : say("questions.title");
}

/** Return whether a comparison holds of an answer, as `study/earlier_answers.py` has it: of none it never does.
 *  @param {Comparison} comparison @param {Json} answer */
function holds({ sign, value }, answer) {
  if (answer === null) return false;
  if (sign === "has" || sign === "lacks") return Array.isArray(answer) && answer.includes(value) === (sign === "has");
  if (sign === "=" || sign === "!=") return (answer === value) === (sign === "=");
  if (typeof answer !== "number" || typeof value !== "number") return false;
  return { "<": answer < value, "<=": answer <= value, ">": answer > value, ">=": answer >= value }[sign];
}

/** Return the files that items show, each below the text of its item; null where none does.
 *  @param {QuestionsStep} step @param {Page} page */
async function openFiles(step, page) {
  const { trial } = step;
  if (trial === undefined) return null;
  page.shelf.keep([...trial.slots.map(({ media }) => media), ...step.prefetch]);
  const { example, exampleStage, watchStills } = await page.patience.insist(() => fetched(import("./examples.js")));
  const stage = await exampleStage(step, trial, page);
  const { player } = stage;
  /** @type {ReturnType<typeof example>[]} */
  const shown = [];
  const isOpen = (/** @type {string} */ id) => player.failure(id) === null && !player.isWatched(id);
  let stop = () => {};
  return {
    /** @param {Item} item @param {HTMLElement} place */
    show(item, place) {
      const slot = trial.slots.find(({ id }) => id === item.slot);
      if (slot === undefined) return null;
      const one = example(slot, null, `item-${item.id}`, stage, trial.playback.whole.share);
      shown.push(one);
      place.querySelector(".item-problem")?.after(one.element);
      return { problem: () => (item.play && isOpen(slot.id) ? page.say("questions.play") : null), focus: one.focus };
    },
    /** @param {() => void} onChange */
    watch(onChange) {
      player.listen((what) => {
        for (const one of shown) one.refresh();
        if (what !== "tick") onChange();
      });
      stop = watchStills(trial.slots, ({ id }) => isOpen(id), stage, page.signal);
    },
    close() {
      stop();
      player.pause();
    },
  };
}

/** @param {Field} field @param {string | null} problem */
function mark(field, problem) {
  field.element.classList.toggle("is-missing", problem !== null);
  const words = field.element.querySelector(".item-problem");
  if (words !== null) words.textContent = problem ?? "";
}

/** Return the field of an item.
 *  @param {Item} item @param {Json} kept @param {Page} page @param {(value: Json) => void} onChange @returns {Field} */
export function makeField(item, kept, page, onChange) {
  return TYPES[item.type](item, kept, page, onChange);
}

/** How each type of item is drawn, by the name that `study/questionnaire.py` has for it.
 *  @type {Record<string, (item: Item, kept: Json, page: Page, onChange: (value: Json) => void) => Field>} */
const TYPES = {
  single: (item, ...rest) => choices(item, ...rest, { words: item.options, values: item.options.map(plain) }),
  multiple: (item, ...rest) => choices(item, ...rest, { words: item.options, values: item.options.map(plain), isMany: true }),
  likert: (item, kept, page, onChange) => {
    const usual = ["1", "2", "3", "4", "5"].map((place) => page.say(`agree.${place}`));
    const words = item.options.length > 0 ? item.options : usual;
    return choices(item, kept, page, onChange, { words, values: words.map((_, place) => place + 1), isRow: true });
  },
  number: (item, kept, page, onChange) =>
    entry(item, kept, page, onChange, {
      make: (shared) => element("input", { ...shared, class: "field field-short", type: "text", inputmode: "decimal" }),
      read: (text) => (Number.isFinite(number(text)) ? number(text) : text),
      problem: (text) => numberProblem(item, number(text), page),
    }),
  text: (item, kept, page, onChange) =>
    entry(item, kept, page, onChange, {
      make: (shared) => element("textarea", { ...shared, class: "field", rows: 3, maxlength: item.max ?? 5000 }),
      read: (text) => text,
      problem: () => null,
    }),
};

/** @param {Item} item @param {Page} page */
function frame({ id, text, required }, { say }) {
  const title = element(
    "div",
    { class: "item-text prose", id: `item-${id}` },
    markup(text),
    !required && element("span", { class: "small soft" }, say("questions.optional")),
  );
  const problem = element("p", { class: "item-problem", id: `problem-${id}` });
  return { title, problem };
}

/** Return a list of choices; `values` are what stands for each word in the answer.
 *  @param {Item} item @param {Json} kept @param {Page} page @param {(value: Json) => void} onChange
 *  @param {{ words: Words[], values: (string | number)[], isMany?: boolean, isRow?: boolean }} drawn @returns {Field} */
function choices(item, kept, page, onChange, { words, values, isMany = false, isRow = false }) {
  const { title, problem } = frame(item, page);
  const inputs = words.map((_, place) =>
    element("input", {
      class: isMany ? "choice-box" : "choice-dot",
      type: isMany ? "checkbox" : "radio",
      name: item.id,
      value: values[place],
      checked: Array.isArray(kept) ? kept.includes(values[place]) : kept === values[place],
      on: { change: () => onChange(value()) },
    }),
  );
  /** @returns {Json} */
  const value = () => {
    const chosen = values.filter((_, place) => inputs[place].checked);
    return isMany ? (chosen.length > 0 ? chosen : null) : (chosen[0] ?? null);
  };
  const list = element(
    "div",
    { class: isRow ? "choices choices-row" : "choices", vars: { options: words.length } },
    inputs.map((input, place) => element("label", { class: "choice" }, input, element("span", {}, words[place]))),
  );
  return {
    element: element(
      "div",
      {
        class: "item",
        role: isMany ? "group" : "radiogroup",
        "aria-labelledby": `item-${item.id}`,
        "aria-describedby": `problem-${item.id}`,
        "aria-required": isMany ? null : String(item.required),
        "data-item": item.id,
      },
      title,
      problem,
      list,
    ),
    value,
    problem: () => (item.required && value() === null ? page.say("questions.choose") : null),
    focus: () => inputs[0].focus(),
  };
}

/** Return a field to write in. `read` gives the answer in a text that is not empty, `problem` what is wrong with it.
 *  @param {Item} item @param {Json} kept @param {Page} page @param {(value: Json) => void} onChange
 *  @param {{ make: (shared: Attributes) => HTMLInputElement | HTMLTextAreaElement, read: (text: string) => Json,
 *            problem: (text: string) => string | null }} type @returns {Field} */
function entry(item, kept, page, onChange, { make, read, problem }) {
  const shown = frame(item, page);
  const input = make({
    name: item.id,
    placeholder: item.placeholder,
    "aria-labelledby": `item-${item.id}`,
    "aria-describedby": `problem-${item.id}`,
    "aria-required": String(item.required),
    autocomplete: "off",
    on: { input: () => onChange(value()) },
  });
  input.value = kept === null ? "" : String(kept);
  const isEmpty = () => input.value.trim() === "";
  const value = () => (isEmpty() ? null : read(input.value));
  return {
    element: element("div", { class: "item", "data-item": item.id }, shown.title, shown.problem, input),
    value,
    problem: () => (isEmpty() ? (item.required ? page.say("questions.fill") : null) : problem(input.value)),
    focus: () => input.focus(),
  };
}

/** Return a number as people write it, with a point or a comma. @param {string} text */
function number(text) {
  return Number(text.trim().replace(",", "."));
}

/** @param {Item} item @param {number} value @param {Page} page */
function numberProblem({ min: low, max: high }, value, { say }) {
  if (!Number.isFinite(value)) return say("questions.number");
  if (!((low !== null && value < low) || (high !== null && value > high))) return null;
  if (low !== null && high !== null) return say("questions.between", { low, high });
  return low !== null ? say("questions.least", { low }) : say("questions.most", { high: high ?? 0 });
}
