// All questions of a trial about one clip, on a card, with the way back to the clip and the way on.

import { element, fill } from "./element.js";
import { icon } from "./icons.js";

/** @import { Answer, Binding, Control, Scores, Stage, Trial } from "./types" */

/** Ask about one slot; return its answer after Next, or "again" when the clip is wanted once more.
 *  @param {Trial} trial @param {Stage} stage @param {string} id
 *  @returns {Promise<Answer | "again">} */
export async function ask(trial, stage, id) {
  const { say, player, main } = stage;
  const done = new AbortController();
  const scores = /** @type {Scores} */ (stage.draft.get("scores") ?? {});
  const isFailed = player.failure(id) !== null;
  /** @type {Control[]} */
  const controls = [];
  const isSingle = trial.asked.length === 1;

  const fields = isFailed
    ? []
    : trial.asked.map((asked, place) => {
        const titleId = `question-${asked.id}`;
        const title = element(
          place === 0 ? "h1" : "h2",
          { id: titleId, class: isSingle ? null : "vote-title", tabindex: place === 0 ? "-1" : null },
          asked.text,
        );
        const options = {
          scale: asked.scale,
          label: asked.text,
          value: scores[asked.id]?.[id] ?? null,
          question: asked.id,
          slot: id,
          /** @param {number} value */
          onChange(value) {
            (scores[asked.id] ??= {})[id] = value;
            stage.draft.set("scores", scores);
            wayOn.refresh();
          },
        };
        const isSlider = asked.scale.look === "slider";
        const control = isSlider
          ? stage.fader(options)
          : stage.choices({ ...options, labelledBy: titleId, hasKeys: true });
        controls.push(control);
        if (!isSlider) return element("section", { class: "vote-question" }, title, control.element);
        const { labels, field } = stage.bands(asked.scale);
        return element(
          "section",
          { class: "vote-question" },
          title,
          element(
            "div",
            { class: "board board-single" },
            labels,
            element(
              "div",
              { class: "columns", vars: { slots: 1 } },
              field,
              element("div", { class: "column" }, control.element),
            ),
          ),
        );
      });

  const wayOn = stage.next({
    ready: say(isFailed ? "card.failed.on" : "card.ready"),
    gap() {
      const open = controls.filter(({ value }) => value === null);
      if (open.length === 0) return null;
      return {
        reason: isSingle ? say("card.missing") : say("card.missing.many", { n: open.length }),
        focus: () => open[0].focus(),
      };
    },
  });
  /** @type {(value: "again") => void} */
  let goBack = () => {};
  const again = new Promise((resolve) => {
    goBack = resolve;
  });
  const back =
    !isFailed &&
    player.mayPlay(id) &&
    element(
      "button",
      { class: "button", id: "again", type: "button", on: { click: () => goBack("again") } },
      icon("replay"),
      say("card.again"),
    );
  fill(
    main,
    element(
      "div",
      { class: "surround" },
      element(
        "div",
        { class: "vote" },
        isFailed && element("h1", { tabindex: "-1" }, say("card.failed")),
        fields,
        element("div", { class: "vote-foot" }, back, wayOn.reason, wayOn.button),
      ),
    ),
  );
  const heading = main.querySelector("[tabindex='-1']");
  if (heading instanceof HTMLElement) heading.focus({ preventScroll: true });

  bindKeys(trial, stage, id, controls, { next: wayOn.button, back: back || null }, done.signal);
  const outcome = await Promise.race([again, wayOn.done]);
  done.abort();
  if (outcome === "again") return "again";
  const missing = stage.missing();
  const told = Object.fromEntries(
    trial.asked.map((asked) => [asked.id, isFailed ? {} : { [id]: scores[asked.id][id] }]),
  );
  return { scores: told, ...(Object.keys(missing).length > 0 ? { missing } : {}) };
}

/** @param {Trial} trial @param {Stage} stage @param {string} id
 *  @param {Control[]} controls @param {{ next: HTMLButtonElement, back: HTMLButtonElement | null }} buttons
 *  @param {AbortSignal} signal */
function bindKeys(trial, stage, id, controls, { next, back }, signal) {
  const { say, main } = stage;
  /** The list that a digit answers: where the focus is, else the first open one, else the last. */
  const wanted = () => {
    const lists = controls.filter((_, place) => trial.asked[place].scale.look === "radio");
    return (
      lists.find(({ element: node }) => node.contains(document.activeElement)) ??
      lists.find(({ value }) => value === null) ??
      lists.at(-1)
    );
  };
  /** @type {Binding[]} */
  const bindings = [{ keys: ["enter"], shown: say("keys.enter"), label: say("keys.next"), run: () => next.click() }];
  if (back !== null) bindings.unshift({ keys: ["r"], shown: "R", label: say("card.again"), run: () => back.click() });
  const digits = [...main.querySelectorAll(".choice kbd")].map((node) => node.textContent ?? "");
  if (digits.length > 0) {
    bindings.unshift({
      keys: [...new Set(digits)],
      shown: `${digits[0]} – ${digits.at(-1)}`,
      label: say("keys.choose"),
      run(key) {
        const input = wanted()?.element.querySelector(`input[value="${key}"]`);
        if (!(input instanceof HTMLInputElement)) return;
        stage.log("key", id, { key });
        input.click();
        input.focus();
      },
    });
  }
  stage.keys(bindings, signal);
}
