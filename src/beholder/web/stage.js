// What a view draws with. Everything made here is labelled, logged, kept over a reload, and in the study's language.

import { fetched } from "./client.js";
import { wear } from "./colour.js";
import { element } from "./element.js";
import { icon } from "./icons.js";
import { load } from "./loading.js";
import { openPlayer } from "./player.js";
import { bands, choices, fader } from "./scale.js";
import { screen } from "./screen.js";

/** @import { Page } from "./run.js" */
/** @import { Slot, Stage, TrialStep } from "./types" */

const TELLING_MS = 8000;

/** Return the stage of one trial. @param {TrialStep} step @param {Page} page
 *  @returns {Stage} */
export function openStage(step, page) {
  const { trial } = step;
  const { main, say, status, log, signal, shelf } = page;
  const player = openPlayer({ trial, log, signal });
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
    bands,
    wear: (node, slot) => wear(node, slot.colour),
    label: (slot) => slot.label ?? String.fromCharCode(65 + trial.slots.indexOf(slot)),
    async load() {
      document.body.dataset["state"] = "loading";
      await load({ trial, main, shelf, say, status, label: stage.label, page: step.progress[0], signal, log, player });
      document.body.dataset["state"] = "ready";
      main.replaceChildren();
      void shelf.prefetch(step.prefetch);
    },
    async play(id) {
      if (player.failure(id) !== null || (trial.playback.watch !== "none" && player.isWatched(id))) return;
      await show(id, { isAgain: false });
    },
    switchTo: (id) => player.toggle(id),
    async ask(id) {
      const { ask } = await page.patience.insist(() => fetched(import("./card.js")));
      for (;;) {
        const answer = await ask(trial, stage, id);
        if (answer !== "again") return answer;
        log.add("click", id, { what: "again" });
        await show(id, { isAgain: true });
      }
    },
    next({ gap, ready, word }) {
      const reason = element("p", { class: "reason", id: "reason" });
      const button = element(
        "button",
        { class: "button button-primary", id: "next", type: "button", "aria-describedby": "reason" },
        word ?? say("next"),
      );
      let [timer, meant] = [0, /** @type {HTMLElement | undefined} */ (undefined)];
      const refresh = () => {
        const left = gap();
        clearTimeout(timer);
        meant?.classList.remove("is-meant");
        reason.textContent = left?.reason ?? ready;
        reason.classList.remove("is-asked");
        button.setAttribute("aria-disabled", String(left !== null));
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
          timer = setTimeout(refresh, TELLING_MS);
        },
      };
    },
    screen: ({ hint, note }) => screen({ trial, player, say, label: stage.label, hint, note }),
    fader: (options) => fader(options, around),
    choices: (options) => choices(options, around),
    keys: (bindings, until = signal) => page.keys.bind(bindings, until),
    missing: () =>
      Object.fromEntries(
        trial.slots
          .filter(({ id, rated }) => rated && player.failure(id) !== null)
          .map(({ id }) => [id, "media_error"]),
      ),
  };

  /** @param {string} id @param {{ isAgain: boolean }} how */
  async function show(id, { isAgain }) {
    const { theatre } = await page.patience.insist(() => fetched(import("./theatre.js")));
    await theatre({ main, slot: slotOf(id), playback: trial.playback, player, say, status, isAgain, signal });
  }

  /** @param {string} id @returns {Slot} */
  function slotOf(id) {
    const slot = trial.slots.find((one) => one.id === id);
    if (slot === undefined) throw new Error(`no slot ${id} in this trial`);
    return slot;
  }
  return stage;
}
