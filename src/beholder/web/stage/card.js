// A card on grey, after the clips: the questions, the way back to the clips, and the way on.

import { element, fill } from "../element.js";
import { icon } from "../icons.js";
import { scoreBallot } from "./ballot.js";
import { stylesheet } from "../stylesheet.js";

/** @import { Answer, Missing, Stage, Trial } from "../types" */
/** @import { Ballot, Hooks } from "./ballot.js" */

/** Ask about one slot; return its answer after Next, or "again" when the clip is wanted once more.
 *  @param {Trial} trial @param {Stage} stage @param {string} id
 *  @returns {Promise<Answer | "again">} */
export async function ask(trial, stage, id) {
  const { medium } = trial.slots[0].media;
  const isFailed = stage.player.failure(id) !== null;
  return card(trial, stage, {
    make: isFailed ? null : (hooks) => scoreBallot(trial, stage, id, hooks),
    again: stage.player.mayPlay(id) ? stage.say(`card.again.${medium}`) : null,
    failed: stage.say(`card.failed.${medium}`),
    nothing: { scores: Object.fromEntries(trial.asked.map((asked) => [asked.id, {}])) },
  });
}

/** Show the questions, or that there is nothing to ask about; return the answer after Next, or "again".
 *  @param {Trial} trial @param {Stage} stage
 *  @param {{ make: ((hooks: Hooks) => Ballot) | null, again: string | null, failed: string, nothing: Answer }} parts
 *  @returns {Promise<Answer | "again">} */
export async function card(trial, stage, { make, again, failed, nothing }) {
  const { say, main } = stage;
  await stylesheet("vote");
  const done = new AbortController();
  const ballot = make?.({ onChange: () => wayOn.refresh(), onLocked: (reason) => wayOn.tell(reason) }) ?? null;
  const isMarked = ballot !== null && stage.marks !== null;
  const wayOn = stage.next({
    ready: say(ballot === null ? "card.failed.on" : "card.ready"),
    gap: () => ballot?.gap() ?? null,
  });
  /** @type {(value: "again") => void} */
  let goBack = () => {};
  const gone = new Promise((resolve) => {
    goBack = resolve;
  });
  const back =
    ballot !== null &&
    again !== null &&
    element(
      "button",
      { class: "button", id: "again", type: "button", on: { click: () => goBack("again") } },
      icon("replay"),
      again,
    );
  fill(
    main,
    element(
      "div",
      { class: "surround" },
      element(
        "div",
        isMarked ? { class: "vote vote-marked", vars: { questions: ballot.sections.length } } : { class: "vote" },
        ballot === null ? element("h1", { tabindex: "-1" }, failed) : ballot.sections,
        isMarked && stage.marks?.panel({ clip: true }),
        element("div", { class: "vote-foot" }, back, wayOn.reason, wayOn.button),
      ),
    ),
  );
  const heading = main.querySelector("[tabindex='-1']");
  if (heading instanceof HTMLElement) heading.focus({ preventScroll: true });

  const bindings = ballot?.bindings() ?? [];
  if (back) bindings.push({ keys: ["r"], shown: "R", label: again ?? "", run: () => back.click() });
  const next = { keys: ["enter"], shown: say("keys.enter"), label: say("keys.next"), run: () => wayOn.button.click() };
  stage.keys([...bindings, next], done.signal);

  const outcome = await Promise.race([gone, wayOn.done]);
  done.abort();
  if (stage.marks) stage.player.pause(); // while the answer is on its way nothing plays
  if (outcome === "again") return "again";
  return { ...(ballot?.answer() ?? nothing), ...told(stage.missing()) };
}

/** Return the part of an answer that says what would not play, if anything. @param {Missing} missing */
export function told(missing) {
  return Object.keys(missing).length > 0 ? { missing } : {};
}
