// Items with one choice each on one page. Only the server knows which option is right.

import { element } from "../element.js";
import { makeField } from "../steps/questions.js";
import { stylesheet } from "../stylesheet.js";
import { ask, CANNOT } from "./frame.js";

/** @import { CheckPage, Item, Json, Words } from "../types" */

/** @type {CheckPage} */
export async function askChoices(step, page) {
  const { say, log } = page;
  await stylesheet("vote");
  const kept = /** @type {Record<string, Json>} */ (log.values.get("answers") ?? {});
  let refresh = () => {};
  /** @type {{ id: string, text: string, options: Words[] }[]} */
  const items = step.public["items"];
  const fields = items.map((given) => {
    /** @type {Item} */
    const item = { ...given, type: "single", required: true, placeholder: null, min: null, max: null };
    const field = makeField(item, kept[item.id] ?? null, page, (value) => {
      kept[item.id] = value;
      log.values.set("answers", kept);
      log.add("change", null, { question: item.id, value });
      refresh();
    });
    return { id: item.id, field };
  });
  const way = await ask(step, page, {
    title: say("title"),
    text: say("text"),
    body: element(
      "div",
      { class: "questions" },
      fields.map(({ field }) => field.element),
    ),
    gap() {
      const open = fields.filter(({ field }) => field.problem() !== null);
      if (open.length === 0) return null;
      return { reason: say("questions.left", { n: open.length }), focus: () => open[0].field.focus() };
    },
    onShown: (again) => {
      refresh = again;
    },
  });
  if (way === "cannot") return CANNOT;
  return { answers: Object.fromEntries(fields.map(({ id, field }) => [id, field.value()])) };
}
