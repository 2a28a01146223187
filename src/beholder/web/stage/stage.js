// What a view draws with. Everything made here is labelled, logged, kept over a reload, and in the study's language.

import { fetched } from "../client.js";
import { wear } from "../colour.js";
import { element } from "../element.js";
import { stylesheet } from "../stylesheet.js";
import { icon } from "../icons.js";
import { load } from "../media/loading.js";
import { openPlayer } from "../media/player.js";
import { bands, choices, fader, figure } from "./scale.js";
import { screen } from "./screen.js";

/** @import { Kit } from "../media/player.js" */
/** @import { Page } from "../run.js" */
/** @import { HandSet } from "../separate/hand_set.js" */
/** @import { Show } from "./theatre.js" */
/** @import { Answer, Slot, Stage, TrialStep } from "../types" */

const TELLING_MS = 8000;
/** What only some methods draw with, by the call that needs it; what a method calls is sent together with its view. */
const PARTS = {
  ask: () => import("./card.js"),
  board: () => import("./board.js"),
  compare: () => import("./compare.js"),
  mark: () => import("./transcript.js"),
  order: () => import("./order.js"),
  passes: () => import("./passes.js"),
  play: () => import("./theatre.js"),
  sequence: () => import("./theatre.js"),
  sideBySide: () => import("./theatre.js"),
  survey: () => import("./survey.js"),
  transport: () => import("./transport.js"),
  type: () => import("./typed_text.js"),
};

/** Where people mark what plays. */
const MARKS = () => import("./marks.js");

/** Return the stage of one trial. @param {TrialStep} step @param {Page} page @param {Kit} kit
 *  @param {HandSet | null} [handSet] where another device shows it @returns {Stage} */
export function openStage(step, page, kit, handSet = null) {
  const { trial } = step;
  const { main, say, status, log, signal, shelf, patience } = page;
  const player = handSet?.player ?? openPlayer({ trial, kit, label: nameOf, log, signal });
  const around = { say, status, log: log.add };

  /** @type {Stage} */
  const stage = {
    main,
    say,
    element,
    icon,
    player,
    status,
    signal,
    log: log.add,
    draft: log.values,
    marks: null,
    bands,
    figure,
    wear: (node, slot) => wear(node, slot.colour),
    label: nameOf,
    async load() {
      document.body.dataset["state"] = "loading";
      if (handSet !== null) return handSet.load();
      const { contact } = page.study;
      const [place] = step.progress;
      // What a screen needs beside the media is there before it is drawn: nothing comes later and moves it.
      if (trial.slots.some(({ media }) => media.medium !== "video") || trial.playback.sound === "off")
        await Promise.all([stylesheet("theatre"), import("./zoom.js").catch(() => null)]);
      if (trial.extra["marks"]) {
        const { openMarks } = await page.patience.insist(() => fetched(MARKS()));
        stage.marks = await openMarks(trial, stage);
      }
      if (trial.extra["views"]) await Promise.all([stylesheet("views"), import("./views.js").catch(() => null)]);
      await load({ trial, main, shelf, say, status, label: nameOf, page: place, contact, patience, signal, log, player });
      document.body.dataset["state"] = "ready";
      main.replaceChildren();
      void shelf.prefetch(step.prefetch);
    },
    async play(id) {
      if (isOpen([id])) await show([id], { way: "one" });
    },
    async sequence(ids, { gap, isAgain = false, passes = 1 }) {
      if (isAgain || passes > 1 || isOpen(ids)) await show(ids, { way: "sequence", gap, isAgain, passes });
    },
    async sideBySide(ids, { sound = null, isAgain = false }) {
      if (isAgain || isOpen(ids)) await show(ids, { way: "together", sound, isAgain });
    },
    switchTo: (id) => player.toggle(id),
    async ask(id) {
      const { ask } = await page.patience.insist(() => fetched(PARTS.ask()));
      for (;;) {
        const answer = await ask(trial, stage, id);
        if (answer !== "again") return marked(answer);
        log.add("click", id, { what: "again" });
        await show([id], { way: "one", isAgain: true });
      }
    },
    async board(options) {
      const { board, hasTransport } = await page.patience.insist(() => fetched(PARTS.board()));
      if (!hasTransport(trial)) return marked(await board(trial, stage, options, null));
      const { transport } = await page.patience.insist(() => fetched(PARTS.transport()));
      return marked(await board(trial, stage, options, transport));
    },
    async survey(options) {
      const { survey } = await page.patience.insist(() => fetched(PARTS.survey()));
      return marked(await survey(trial, stage, options));
    },
    async mark(id) {
      const { transcript } = await page.patience.insist(() => fetched(PARTS.mark()));
      return transcript(trial, stage, id);
    },
    async type(id) {
      const { typedText } = await page.patience.insist(() => fetched(PARTS.type()));
      return typedText(trial, stage, id);
    },
    async passes(attend) {
      const { passes } = await page.patience.insist(() => fetched(PARTS.passes()));
      const [{ id }] = trial.slots;
      return passes(trial, stage, attend, (how) => show([id], { way: "one", ...how }));
    },
    async compare(rated) {
      const { compare } = await page.patience.insist(() => fetched(PARTS.compare()));
      if (!trial.extra["views"]) return compare(trial, stage, await lineOfTime(), rated);
      const { views } = await page.patience.insist(() => fetched(import("./views.js")));
      return compare(trial, stage, null, rated, views);
    },
    async order(how) {
      const { order } = await page.patience.insist(() => fetched(PARTS.order()));
      return order(trial, stage, await lineOfTime(), how);
    },
    next({ gap: own, ready, word }) {
      const gap = () => own() ?? stage.marks?.gap() ?? null;
      const reason = element("p", { class: "reason", id: "reason" });
      const button = element(
        "button",
        { class: "button button-primary", id: "next", type: "button", "aria-describedby": "reason" },
        word ?? say("next"),
      );
      let [timer, meant] = [0, /** @type {HTMLElement | undefined} */ (undefined)];
      const refresh = (isTelling = false) => {
        const left = gap();
        button.setAttribute("aria-disabled", String(left !== null));
        if (isTelling && timer !== 0) return;
        clearTimeout(timer);
        timer = 0;
        meant?.classList.remove("is-meant");
        reason.textContent = left?.reason ?? ready;
        reason.classList.remove("is-asked");
      };
      /** @type {Promise<void>} */
      const done = new Promise((resolve) => {
        button.addEventListener("click", () => {
          const left = gap();
          log.add("click", null, { what: "next" });
          if (left === null) return resolve();
          reason.classList.add("is-asked");
          status(left.reason);
          left.focus();
        });
      });
      refresh();
      stage.marks?.listen(() => refresh());
      return {
        button,
        reason,
        refresh,
        done,
        tell(words, control) {
          refresh();
          reason.textContent = words;
          reason.classList.add("is-asked");
          meant = control;
          meant?.classList.add("is-meant");
          timer = setTimeout(() => refresh(), TELLING_MS);
        },
      };
    },
    screen: (words) => screen(trial, stage, words),
    fader: (options) => fader(options, around),
    choices(options) {
      void stylesheet("vote");
      return choices(options, around);
    },
    keys: (bindings, until = signal) => page.keys.bind(bindings, until),
    missing: () =>
      Object.fromEntries(
        trial.slots
          .filter(({ id }) => player.failure(id) !== null)
          .map(({ id }) => [id, "media_error"]),
      ),
  };

  /** Return an answer with the marks beside it, where people mark. @param {Answer} answer @returns {Answer} */
  function marked(answer) {
    return stage.marks === null ? answer : { ...answer, marks: stage.marks.answer() };
  }

  /** What sounds behind buttons are looped and seen with, where this page has that. */
  async function lineOfTime() {
    const isWanted = trial.playback.loop === "region" || trial.waveform !== undefined;
    if (!isWanted || trial.slots[0].media.medium !== "audio") return null;
    return (await page.patience.insist(() => fetched(PARTS.transport()))).transport;
  }

  /** Whether slots can be shown and have to be. @param {string[]} ids */
  function isOpen(ids) {
    if (ids.some((id) => player.failure(id) !== null)) return false;
    return trial.playback.watch === "none" || !ids.every((id) => player.isWatched(id));
  }

  /** @param {string[]} ids @param {Partial<Show> & Pick<Show, "way">} how */
  async function show(ids, how) {
    const shown = { gap: 1, sound: null, isAgain: false, title: "", passes: 1, ...how, slots: ids.map(slotOf) };
    if (handSet !== null) return handSet.show(stage, shown);
    const { theatre } = await page.patience.insist(() => fetched(PARTS.play()));
    await theatre(trial, stage, shown);
  }

  /** Letters come from the plan; places that stay have words of their own. @param {Slot} slot */
  function nameOf({ label, id }) {
    if (label !== null && /^[a-z]/.test(label)) return say(`slot.${label}`);
    if (trial.slots.some((other) => other.label === "driving")) return say("slot.avatar");
    return label ?? String.fromCharCode(65 + trial.slots.findIndex((other) => other.id === id));
  }

  /** @param {string} id @returns {Slot} */
  function slotOf(id) {
    const slot = trial.slots.find((one) => one.id === id);
    if (slot === undefined) throw new Error(`no slot ${id} in this trial`);
    return slot;
  }
  return stage;
}
