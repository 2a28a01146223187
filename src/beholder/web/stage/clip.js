// One clip with a button that plays it, above what is asked about its words.

import { element, fill, setVariable, write } from "../element.js";
import { titleOf } from "./ballot.js";

/** @import { Binding, Gap, Slot, Stage, Trial } from "../types" */

/** Show a clip, if there is one, above what is asked about it, and wait for the way on; tell whether it was played.
 *  @param {Trial} trial @param {Slot} slot @param {Stage} stage
 *  @param {{ clip: HTMLElement | undefined, answers: HTMLElement[], wayOn: ReturnType<Stage["next"]>, keys: Binding[] }} parts
 *  @returns {Promise<boolean>} */
export async function askBelow(trial, slot, stage, { clip, answers, wayOn, keys }) {
  const { main, player, say } = stage;
  const questions = answers.map((answer, place) =>
    element("section", { class: "vote-question" }, titleOf(trial, place), answer),
  );
  const foot = element("div", { class: "vote-foot" }, wayOn.reason, wayOn.button);
  fill(main, element("div", { class: "surround" }, element("div", { class: "vote vote-words" }, clip, questions, foot)));
  const heading = main.querySelector("[tabindex='-1']");
  if (heading instanceof HTMLElement) heading.focus({ preventScroll: true });
  const done = new AbortController();
  const enter = { keys: ["enter"], shown: say("keys.enter"), label: say("keys.next"), run: () => wayOn.button.click() };
  stage.keys([...keys, enter], done.signal);
  await wayOn.done;
  done.abort();
  player.pause(); // while the answer is on its way nothing plays, and the log tells of the last play
  return player.failure(slot.id) === null;
}

/** Return what is left to be heard before the way on opens, or null.
 *  @param {Trial} trial @param {Slot} slot @param {Stage} stage @param {HTMLElement | undefined} button
 *  @returns {Gap | null} */
export function unheard(trial, { id, media }, { player, say }, button) {
  const focus = () => button?.focus();
  if (player.failure(id) !== null) return null;
  if (!player.isWatched(id)) return { reason: say(`words.whole.${media.medium}`), focus };
  const n = trial.passes - player.wholePlays(id);
  return n > 0 ? { reason: say(`words.due.${media.medium}`, { n }), focus } : null;
}

/** Return the clip above the words or the field: its picture, a button that plays it, and how far it is.
 *  @param {Trial} trial @param {Slot} slot @param {Stage} stage
 *  @param {{ onTick(): void, onState(): void }} hears */
export function clipOf(trial, slot, stage, { onTick, onState }) {
  const { say, player, icon } = stage;
  const { medium, width, height, ms } = slot.media;
  const [play, pause] = [icon("play"), icon("pause")];
  const word = element("span");
  const button = element(
    "button",
    {
      class: "button button-primary play",
      type: "button",
      "data-slot": slot.id,
      on: {
        click: () => {
          stage.log("click", slot.id, { what: "play" });
          if (player.isPlaying || player.mayPlay(slot.id)) player.toggle(slot.id);
        },
      },
    },
    play,
    pause,
    word,
  );
  const line = element("div", { class: "clip-line", "aria-hidden": "true" }, element("div"));
  const frame =
    medium === "video" &&
    element("div", { class: "clip-frame", vars: { ratio: width / height || 16 / 9 } }, player.node(slot.id));
  const node = element(
    "div",
    { class: `clip-box clip-${medium}-box`, "data-slot": slot.id },
    frame,
    element("div", { class: "clip-controls" }, button, line),
  );
  function draw() {
    const isHeard = player.isWatched(slot.id) && player.watched(slot.id) > 0;
    const isDone = isHeard && player.wholePlays(slot.id) >= trial.passes;
    play.toggleAttribute("hidden", player.isPlaying);
    pause.toggleAttribute("hidden", !player.isPlaying);
    const isSpent = !player.isPlaying && !player.mayPlay(slot.id) && player.failure(slot.id) === null;
    const idle = isSpent ? "clip.spent" : isHeard ? `card.again.${medium}` : "transport.play";
    write(word, say(player.isPlaying ? "transport.pause" : idle));
    button.setAttribute("aria-disabled", String(!player.isPlaying && !player.mayPlay(slot.id)));
    node.classList.toggle("is-played", isDone);
    if (!player.isPlaying) node.dataset["due"] = String(isDone ? 0 : trial.passes - player.wholePlays(slot.id));
    node.classList.toggle("is-failed", player.failure(slot.id) !== null);
  }
  player.listen((what) => {
    setVariable(line, "--at", String(Math.min(1, player.position() / ms)));
    onTick();
    if (what === "tick") return;
    draw();
    onState();
  });
  draw();
  return { element: node, button };
}

/** Say that a clip could not be played; resolves when the person goes on: nothing is asked about it.
 *  @param {Slot} slot @param {Stage} stage @returns {Promise<void>} */
export async function lostClip(slot, stage) {
  const on = stage.next({ ready: stage.say("card.failed.on"), gap: () => null });
  fill(
    stage.main,
    element(
      "div",
      { class: "surround" },
      element(
        "div",
        { class: "vote" },
        element("h1", { tabindex: "-1" }, stage.say(`card.failed.${slot.media.medium}`)),
        element("div", { class: "vote-foot" }, on.reason, on.button),
      ),
    ),
  );
  await on.done;
}
