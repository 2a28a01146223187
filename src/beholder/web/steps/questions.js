// A questionnaire: native fields, what is still missing in words, kept over a reload.

import { element, fill, plain } from "../element.js";
import { markup } from "../markup.js";
import { actions } from "../frame/sheet.js";
import { stylesheet } from "../stylesheet.js";

/** @import { Page } from "../run.js" */
/** @import { Attributes, Item, Json, QuestionsStep, Words } from "../types" */

/** @typedef {{ element: HTMLElement, value: () => Json, problem: () => string | null, focus: () => void }} Field */

/** @param {QuestionsStep} step @param {Page} page @returns {Promise<Json>} */
export async function questions(step, page) {
  const { main, say, log, status, shelf } = page;
  void shelf.prefetch(step.prefetch);
  await stylesheet("vote");
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
    return { item, field };
  });

  function refresh() {
    const open = fields.filter(({ field }) => field.problem() !== null);
    const wrong = open.filter(({ field }) => field.value() !== null).length;
    const words = [];
    if (open.length > wrong) words.push(say("questions.left", { n: open.length - wrong }));
    if (wrong > 0) words.push(say("questions.wrong", { n: wrong }));
    reason.textContent = words.join(say("list.comma"));
    reason.classList.remove("is-asked");
    on.setAttribute("aria-disabled", String(open.length > 0));
    for (const { field } of fields) if (field.problem() === null) mark(field, null);
  }

  fill(
    main,
    element(
      "div",
      { class: "sheet" },
      element("div", { class: "lead" }, element("h1", { tabindex: "-1" }, say("questions.title"))),
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
  main.querySelector("h1")?.focus({ preventScroll: true });

  await new Promise((resolve) => {
    on.addEventListener("click", () => {
      const open = fields.filter(({ field }) => field.problem() !== null);
      if (open.length === 0) return resolve(null);
      for (const { field } of fields) mark(field, field.problem());
      reason.classList.add("is-asked");
      status(`${reason.textContent}. ${open[0].field.problem()}`);
      open[0].field.focus();
    });
  });
  const answers = fields.map(({ item, field }) => /** @type {[string, Json]} */ ([item.id, field.value()]));
  return { answers: Object.fromEntries(answers.filter(([, value]) => value !== null)) };
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
