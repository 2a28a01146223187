// Which of two: in words from much worse to much better, as two or three large answers in the order of the screen, or,
// where buttons show them, as sentences, so that no answer looks like such a button.

import { digitBindings, gapOf, openGate, titleOf } from "./ballot.js";
import { element, plain } from "../element.js";
import { values } from "./scale.js";

/** @import { Answer, Asked, Child, Choices, Slot, Stage, Trial, Words } from "../types" */
/** @import { Ballot, Hooks, Keyed } from "./ballot.js" */

/** One answer: what it says, the key that chooses it, and what it means on the wire.
 *  @typedef {{ value: string, number?: string, words: Words, key: string, shown: string,
 *              told: Choices[string] }} Option */
/** @typedef {{ asked: Asked, section: HTMLElement, keyed: Keyed, picked(): Option | null, reason: Reason | null,
 *              focus(): void }} Field */
/** @typedef {{ element: HTMLElement, input: HTMLTextAreaElement, isOpen(): boolean }} Reason */

const REASON_LENGTH = 5000;
const LONG = 10; // letters of an answer that needs a line of its own beside the picture
const SIDED = /^(Left|A) /;
const PLAIN = new Set(["First", "Second", "Left", "Right", "A", "B"]);

/** Return the ballot that chooses between the two slots of a trial that are compared.
 *  @param {Trial} trial @param {Stage} stage @param {Hooks} hooks @returns {Ballot} */
export function choiceBallot(trial, stage, { onChange, onLocked }) {
  const kept = /** @type {{ [question: string]: string }} */ (stage.draft.get("choices") ?? {});
  const reasons = /** @type {{ [question: string]: string }} */ (stage.draft.get("reasons") ?? {});
  const compared = trial.slots.filter(({ label }) => !isNamed(label));
  const fields = trial.asked.map((asked, place) => makeField(asked, place));
  const gate = openGate(
    fields.map(({ section }) => section),
    onLocked,
  );

  /** @param {Asked} asked @param {number} place @returns {Field} */
  function makeField(asked, place) {
    const isSides = asked.scale.max <= 1;
    const isRow = isSides && presentationOf(trial) !== "free";
    const options = isSides ? sides(asked, trial, stage, compared) : grades(asked, compared);
    // Words that name their side say by themselves what is held against what.
    const isSided = presentationOf(trial) !== "sequential" && options.some(({ words }) => SIDED.test(plain(words)));
    const lineId = `line-${asked.id}`;
    /** @type {Map<string, HTMLInputElement>} */
    const inputs = new Map();
    const list = element(
      "div",
      {
        class: isRow ? "choices choices-sides" : "choices",
        role: "radiogroup",
        "aria-labelledby": isSides || isSided ? `question-${asked.id}` : `question-${asked.id} ${lineId}`,
        vars: { answers: options.length },
      },
      options.map((option) => {
        const input = element("input", {
          class: "choice-dot",
          type: "radio",
          name: asked.id,
          value: option.value,
          checked: kept[asked.id] === option.value,
          "data-question": asked.id,
          on: {
            change: () => {
              kept[asked.id] = option.value;
              stage.draft.set("choices", kept);
              stage.log("change", null, { question: asked.id, value: option.value });
              onChange();
            },
          },
        });
        inputs.set(option.key, input);
        return element(
          "label",
          { class: "choice" },
          input,
          sided(option, stage),
          element("kbd", { "aria-hidden": "true" }, option.shown),
        );
      }),
    );
    const isLong = options.some(({ words }) => plain(words).length > LONG);
    list.classList.toggle("choices-long", isLong || options.length > 2);
    const reason = makeReason(asked);
    const line =
      !isSides && !isSided && element("p", { class: "compare-line", id: lineId }, lineOf(trial, stage, compared));
    const section = element("section", { class: "vote-question" }, titleOf(trial, place), line, list, reason?.element);
    const picked = () => options.find(({ key }) => inputs.get(key)?.checked) ?? null;
    const focus = () => {
      if (picked() !== null && reason?.isOpen()) reason.input.focus();
      else ([...inputs.values()].find(({ checked }) => checked) ?? [...inputs.values()][0]).focus();
    };
    return { asked, section, keyed: { list, keys: inputs }, picked, reason, focus };
  }

  /** @param {Asked} asked @returns {Reason | null} */
  function makeReason({ id }) {
    const wanted = trial.extra["reason"];
    if (wanted !== "optional" && wanted !== "required") return null;
    const input = element("textarea", {
      class: "field",
      id: `reason-${id}`,
      name: `reason-${id}`,
      rows: 2,
      maxlength: REASON_LENGTH,
      "aria-required": String(wanted === "required"),
      "data-reason": id,
      on: {
        input: () => {
          reasons[id] = input.value;
          stage.draft.set("reasons", reasons);
          onChange();
        },
        change: () => stage.log("change", null, { question: `reason-${id}`, length: input.value.trim().length }),
      },
    });
    input.value = reasons[id] ?? "";
    return {
      input,
      element: element(
        "div",
        { class: "compare-reason" },
        element("label", { for: `reason-${id}` }, stage.say(`compare.reason.${wanted}`)),
        input,
      ),
      isOpen: () => wanted === "required" && input.value.trim() === "",
    };
  }

  return {
    sections: fields.map(({ section }) => section),
    gap() {
      const gap = gapOf(trial, stage, fields.filter(({ picked }) => picked() === null));
      const unsaid = fields.find(({ reason }) => reason?.isOpen());
      if (gap !== null || unsaid === undefined) return gap;
      return { reason: stage.say("compare.missing.reason"), focus: unsaid.focus };
    },
    lock: gate.lock,
    answer() {
      /** @type {Answer} */
      const answer = { choices: {} };
      for (const { asked, picked, reason } of fields) {
        const option = picked();
        if (option !== null) /** @type {Choices} */ (answer.choices)[asked.id] = option.told;
        const words = reason?.input.value.trim() ?? "";
        if (words !== "") (answer.reasons ??= {})[asked.id] = [words];
      }
      return answer;
    },
    bindings() {
      const names = fields.map(({ keyed }) => [...keyed.keys.keys()]);
      const isRow = names.every((keys) => keys.every((key) => key.startsWith("arrow")));
      const lists = fields.map(({ keyed }) => keyed);
      return digitBindings(stage, null, lists, isRow ? (names[0].length > 2 ? "← ↓ →" : "← →") : undefined);
    },
  };
}

/** Return the answers of a graded scale, the second one at its best on top.
 *  @param {Asked} asked @param {Slot[]} compared @returns {Option[]} */
function grades({ scale }, [first, second]) {
  const all = values(scale).reverse();
  const words = new Map(scale.labels);
  const isMixed = words.size > 0 && words.size < all.length; // then all show their number, as in any list
  return all.map((value, place) => {
    const key = String(all.length - place);
    return {
      value: String(value),
      number: isMixed ? `${signed(value)} ` : "",
      words: words.get(value) ?? (isMixed ? "" : signed(value)),
      key,
      shown: key,
      told: value === 0 ? { better: "tie" } : { better: (value > 0 ? second : first).id, grade: Math.abs(value) },
    };
  });
}

/** Return two or three answers in the order of the screen.
 *  @param {Asked} asked @param {Trial} trial @param {Stage} stage @param {Slot[]} compared @returns {Option[]} */
function sides({ scale }, trial, stage, [first, second]) {
  const { say } = stage;
  const mode = typeof trial.extra["mode"] === "string" ? trial.extra["mode"] : null;
  const named = trial.slots.find(({ label }) => isNamed(label));
  const own = new Map(scale.labels);
  const presentation = presentationOf(trial);
  const isFree = presentation === "free";
  const isIdentify = mode === "identify";
  const middle = isIdentify ? trial.extra["unsure"] === true : values(scale).includes(0);
  /** @param {Slot} slot @param {number} value @param {"first" | "second"} place @returns {Option} */
  const side = (slot, value, place) => {
    const label = stage.label(slot);
    const written = own.get(value);
    const words =
      mode !== null && named !== undefined
        ? say(`compare.${mode}${isFree ? "" : `.${place}`}`, { slot: label, label: stage.label(named) })
        : isPlain(written)
          ? say(isFree ? "compare.free" : `compare.${presentation}.${place}`, { slot: label })
          : isFree
            ? [`${label}: `, written ?? ""]
            : (written ?? "");
    // Where letters show, arrows would be taken for turning from one to the other: digits answer.
    const [left, right] = isFree ? ["1", middle ? "3" : "2"] : ["arrowleft", "arrowright"];
    return {
      value: isIdentify ? slot.id : String(value),
      words,
      key: place === "first" ? left : right,
      shown: isFree ? (place === "first" ? left : right) : place === "first" ? "←" : "→",
      told: isIdentify ? { same_as: slot.id } : { better: slot.id },
    };
  };
  const tie = own.get(0);
  /** @type {Option} */
  const neither = {
    value: isIdentify ? "unsure" : "0",
    words: isIdentify ? say("compare.unsure") : tie === undefined || tie === "No difference" ? say("compare.tie") : tie,
    key: isFree ? "2" : "arrowdown",
    shown: isFree ? "2" : "↓",
    told: isIdentify ? { same_as: "unsure" } : { better: "tie" },
  };
  return [side(first, -1, "first"), ...(middle ? [neither] : []), side(second, 1, "second")];
}

/** Whether the words of an answer are those that the scale has by its name, so that ours say it better.
 *  @param {Words | undefined} words */
function isPlain(words) {
  return words === undefined || (typeof words === "string" && PLAIN.has(words));
}

/** Return the words of an answer; a side is above or below where the page has no room for two beside each other.
 *  @param {Option} option @param {Stage} stage */
function sided({ words, number = "" }, { say }) {
  if (typeof words !== "string") return element("span", {}, number, words);
  const [left, right] = [say("compare.side-by-side.first"), say("compare.side-by-side.second")];
  const side = [left, right].find((one) => words === one || words.startsWith(`${one} `));
  if (side === undefined) return element("span", {}, (number + words).trim());
  const stacked = say(`compare.stacked.${side === left ? "first" : "second"}${words === side ? "" : ".graded"}`);
  return [
    element("span", { class: "if-beside" }, number + words),
    element("span", { class: "if-stacked" }, number + stacked + words.slice(side.length)),
  ];
}

/** Return which one is judged against which, in words.
 *  @param {Trial} trial @param {Stage} stage @param {Slot[]} compared @returns {Child} */
function lineOf(trial, { say, label }, [first, second]) {
  const presentation = presentationOf(trial);
  if (presentation === "free") return say("compare.line.free", { first: label(first), second: label(second) });
  const words = say(`compare.line.${presentation}.${first.media.medium}`);
  if (presentation === "sequential") return words;
  return [
    element("span", { class: "if-beside" }, words),
    element("span", { class: "if-stacked" }, say("compare.line.stacked")),
  ];
}

/** Return how a trial is shown. @param {Trial} trial @returns {"sequential" | "side-by-side" | "free"} */
export function presentationOf({ extra, together }) {
  const named = extra["presentation"];
  return named === "free" ? named : together ? "side-by-side" : "sequential";
}

/** Whether a slot has a place of its own (the reference, X) and no letter. @param {string | null} label */
export function isNamed(label) {
  return label !== null && !/^[A-Z]$/.test(label);
}

/** @param {number} value */
function signed(value) {
  return value > 0 ? `+${value}` : value < 0 ? `−${-value}` : "0";
}
