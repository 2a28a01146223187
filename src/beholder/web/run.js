// The runner: one step at a time, each as the server hands it out, the next only after the answer is stored.

import { arrive, connect, Declined, fetched } from "./client.js";
import { element, fill } from "./element.js";
import { openFrame } from "./frame/frame.js";
import { openHelp } from "./frame/help.js";
import { openKeys } from "./keys.js";
import { openLog } from "./log.js";
import { openShelf } from "./media/shelf.js";
import { openOutbox } from "./outbox.js";
import { openPatience } from "./patience.js";
import { notice, pressed } from "./frame/sheet.js";
import { consent } from "./steps/consent.js";
import { text } from "./steps/text.js";
import { trial } from "./steps/trial.js";
import { openStorage } from "./storage.js";
import { meetTabs } from "./tabs.js";
import { device, watchInput, witness } from "./witness.js";
import { loadWords, timeOf } from "./words.js";

/** @import { Client } from "./client.js" */
/** @import { Keys } from "./keys.js" */
/** @import { Kiosk } from "./kiosk/kiosk.js" */
/** @import { Log } from "./log.js" */
/** @import { Shelf } from "./media/shelf.js" */
/** @import { Outbox } from "./outbox.js" */
/** @import { Patience } from "./patience.js" */
/** @import { Storage } from "./storage.js" */
/** @import { Arrival, Json, Say, Step } from "./types" */

/** What a step gets.
 *  @typedef {{ main: HTMLElement, say: Say, language: string, status: (text: string) => void,
 *              log: Log, signal: AbortSignal, shelf: Shelf, keys: Keys,
 *              patience: Patience, study: Arrival["study"], kiosk: Kiosk | null }} Page */

/** The kinds of steps; those after the first trial, and those that most studies lack, come when they are needed.
 *  @type {{ [kind: string]: () => Promise<(step: any, page: Page) => Promise<Json>> | ((step: any, page: Page) => Promise<Json>) }} */
const STEPS = {
  consent: () => consent,
  text: () => text,
  trial: () => trial,
  check: async () => (await fetched(import("./steps/check.js"))).check,
  questions: async () => (await fetched(import("./steps/questions.js"))).questions,
  volume: async () => (await fetched(import("./steps/volume.js"))).volume,
  break: async () => (await fetched(import("./steps/pause.js"))).pause,
  end: async () => (await fetched(import("./steps/end.js"))).end,
};
// A no that is meant for this person, and those with a title of their own.
const CLOSED = new Set(["finished", "earlier_run", "blocked", "full", "closed", "not_open", "halted", "excluded"]);
const TITLED = new Set(["finished", "earlier_run", "full", "excluded"]);
const SENDING_MS = 1500;

await start(document.documentElement.dataset["study"] ?? "");

/** @param {string} name of the study */
async function start(name) {
  const { say, language, direction } = await loadWords(document.documentElement.lang || "en");
  document.documentElement.dir = direction;
  const kept = openStorage("beholder:", { lasting: true });
  const keys = openKeys(kept);
  const input = watchInput();
  const patience = openPatience(() => connection());
  // A clip goes on only under eyes and ears: whatever plays hears of it, and logs the pause.
  const help = openHelp({
    say,
    keys,
    hasKeys: () => input() === "keyboard" || !matchMedia("(hover: none) and (pointer: coarse)").matches,
    onOpen: () => dispatchEvent(new Event("halt")),
  });
  const frame = openFrame({ say, title: document.title, onHelp: () => help.show(), onTry: patience.tryNow });
  document.body.append(help.element);
  /** @type {Outbox | null} */
  let outbox = null;
  /** @type {string | null} */
  let word = null;
  /** @type {Step | null} */
  let shown = null;
  let isPreview = false;

  function connection() {
    const waiting = outbox?.waiting ?? 0;
    frame.banner.show({ isOnline: navigator.onLine, isReached: patience.isReached, waiting, notice: word });
    frame.topbar.setSaved({
      waiting,
      isReached: patience.isReached,
      isAny:
        !isPreview &&
        shown !== null &&
        shown.kind !== "consent" &&
        (shown.kind !== "end" || shown.outcome === "completed"),
      isAll: shown?.kind === "end",
    });
  }
  connection();

  const station = document.documentElement.dataset["station"] ?? "";
  const kiosk =
    station === ""
      ? null
      : await (await fetched(import("./kiosk/kiosk.js"))).openKiosk(Number(station), { say, main: frame.main, patience });

  let arrival;
  try {
    arrival = await (kiosk === null
      ? come(name, kept, patience)
      : patience.insist(() => arrive({ study: name, params: kiosk.params, device: device() })));
  } catch (error) {
    if (!(error instanceof Declined)) throw error;
    decline(error);
    return;
  }

  isPreview = arrival.preview !== null;
  const study = arrival.study;
  const client = connect(arrival.token);
  const session = nameOf(arrival.token);
  const storage = openStorage(`beholder:${name}:`, { lasting: !isPreview });
  const shelf = openShelf();
  const tab = await meetTabs(session, () => {
    if (!isPreview) {
      word = say("tabs");
      connection();
    }
  });
  const box = openOutbox({ client, patience, storage, session, tab, onChange: connection });
  outbox = box;
  document.title = study.title;
  frame.topbar.setTitle(kiosk === null ? study.title : `${study.title} · ${kiosk.name}`);

  /** @type {(step: Step) => void} */
  let jump = () => {};
  const withdraw = async () => {
    const answer = await patience.insist(() => client.withdraw());
    jump("step" in answer ? answer.step : answer);
  };
  const preview =
    arrival.preview === null
      ? null
      : (await import("./frame/preview.js")).openPreview({
          say,
          steps: arrival.preview.steps,
          onPick: async (key) => jump(await patience.insist(() => client.step(key))),
        });
  if (preview !== null) document.body.prepend(preview.element);

  let step = (await box.recover()) ?? arrival.step;
  for (;;) {
    const over = new AbortController();
    /** @type {Promise<Step>} */
    const jumped = new Promise((resolve) => {
      jump = resolve;
    });
    /** @type {Step} */
    const next = await Promise.race([show(step, over.signal), jumped]);
    over.abort();
    step = next;
  }

  /** Show a step until its answer is stored; return the step after it.
   *  @param {Step} step @param {AbortSignal} signal @returns {Promise<Step>} */
  async function show(step, signal) {
    shown = step;
    document.body.dataset["step"] = step.key;
    document.body.dataset["kind"] = step.kind;
    frame.topbar.setStep(step);
    const isEnd = step.kind === "end";
    const isGone = isEnd && (step.outcome === "withdrawn" || step.outcome === "no_consent");
    const way = { word: isEnd ? "erase" : "withdraw", run: withdraw }; // after the end there is nothing to stop
    // Where groups of participants have their own, they are not known before there is a list.
    help.setStudy({ ...study, instructions: step.instructions ?? study.instructions }, isGone ? null : way);
    frame.setFoot({
      contact: study.contact,
      word: way.word,
      onWithdraw: isGone ? null : () => help.show({ isWithdrawing: true }),
    });
    preview?.setStep(isEnd ? `end:${step.outcome}` : step.key);
    connection();
    const log = openLog({ key: step.key, session, tab, storage, outbox: box, signal, isQuiet: step.kind === "end" });
    log.add("shown", null, { again: log.events.length > 0 });
    witness(log, signal);

    for (;;) {
      const attempt = new AbortController();
      signal.addEventListener("abort", () => attempt.abort(), { signal: attempt.signal });
      document.body.dataset["state"] = step.kind === "trial" ? "loading" : "ready";
      frame.main.replaceChildren();
      frame.main.inert = false;
      scrollTo(0, 0);
      try {
        const answer = await patience.insist(async () => STEPS[step.kind]());
        const answering = answer(step, {
          main: frame.main,
          say,
          language,
          status: frame.status,
          log,
          signal: attempt.signal,
          shelf,
          keys,
          patience,
          study,
          kiosk,
        });
        focusHeading();
        return await send(step, log, await answering, signal);
      } catch (error) {
        if (signal.aborted) return new Promise(() => {});
        const after = await afterRefusal(error, client);
        if (after !== null) return after;
        word = /** @type {Declined} */ (error).message || say("refused"); // 413, 422: nothing stored, the page is still theirs
        connection();
      } finally {
        attempt.abort();
      }
    }
  }

  /** @param {Step} step @param {Log} log @param {Json} answer @param {AbortSignal} signal
   *  @returns {Promise<Step>} */
  async function send(step, log, answer, signal) {
    const { body, batch } = log.seal(answer, input());
    document.body.dataset["state"] = "sending";
    frame.main.inert = true;
    const timer = setTimeout(() => {
      if (!signal.aborted) tell(notice(say("sending.title"), say("sending.text")));
    }, SENDING_MS);
    try {
      const stored = await box.submit(step.key, body, batch);
      log.close();
      word = null;
      if (stored.feedback && !signal.aborted) await feedback(stored.feedback);
      return stored.step;
    } finally {
      clearTimeout(timer);
    }
  }

  /** @param {string} words */
  async function feedback(words) {
    const on = element("button", { class: "button button-primary", id: "next", type: "button" }, say("go-on"));
    tell(notice(say("feedback.title"), words, on));
    await pressed(on);
  }

  /** @param {unknown} error @param {Client} client @returns {Promise<Step | null>} */
  async function afterRefusal(error, client) {
    if (!(error instanceof Declined)) {
      tell(
        notice(
          say("broken.title"),
          say("broken.text"),
          element(
            "button",
            { class: "button button-primary", type: "button", on: { click: () => location.reload() } },
            say("broken.reload"),
          ),
        ),
      );
      console.error(error);
      return new Promise(() => {});
    }
    if (error.step !== null) return error.step;
    if (error.status === 409 || error.status === 410) return patience.insist(() => client.step());
    if (error.status === 413 || error.status === 422 || error.status === 400) return null;
    decline(error);
    return new Promise(() => {});
  }

  /** Say why this person cannot come in or go on, and show the way back. @param {Declined} error */
  function decline({ code, at, message, returnUrl }) {
    const time = at !== null && timeOf(at, language);
    const words = time ? say(`closed.${code}.text`, { time }) : message || say("closed.text");
    const back =
      returnUrl !== null &&
      element("a", { class: "button button-primary", id: "return", href: returnUrl }, say("closed.return"));
    tell(notice(say(time || TITLED.has(code) ? `closed.${code}` : "closed.title"), words, back || null));
  }

  /** @param {HTMLElement} node */
  function tell(node) {
    fill(frame.main, node);
    frame.main.inert = false;
    focusHeading();
  }

  function focusHeading() {
    const heading = frame.main.querySelector("[tabindex='-1']");
    if (heading instanceof HTMLElement) heading.focus({ preventScroll: true });
  }
}

/** Come to the study: by what is in the address, else by what this device remembers.
 *  @param {string} study @param {Storage} storage @param {Patience} patience */
async function come(study, storage, patience) {
  const params = Object.fromEntries(new URLSearchParams(location.search));
  const known = Object.keys(params).length === 0 ? storage.get(`${study}:resume`) : null;
  /** @param {Record<string, string>} with_ */
  const ask = (with_) => patience.insist(() => arrive({ study, params: with_, device: device() }));
  let arrival;
  try {
    arrival = await ask(known === null ? params : { resume: known });
  } catch (error) {
    if (known === null || !(error instanceof Declined) || CLOSED.has(error.code)) throw error;
    storage.remove(`${study}:resume`); // of another store, long gone
    arrival = await ask(params);
  }
  if (arrival.preview === null && arrival.link) {
    const link = new URL(arrival.link, location.href);
    history.replaceState(null, "", link.pathname + link.search);
    storage.set(`${study}:resume`, link.searchParams.get("resume") ?? arrival.token);
  }
  return arrival;
}

/** Return a short name of a session for what is kept on this device; not the token itself. @param {string} token */
function nameOf(token) {
  let [one, two] = [0x811c9dc5, 0x01000193];
  for (const letter of token) {
    one = Math.imul(one ^ letter.charCodeAt(0), 0x01000193);
    two = Math.imul(two ^ letter.charCodeAt(0), 0x85ebca6b);
  }
  return (one >>> 0).toString(16) + (two >>> 0).toString(16);
}
