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
import { openPresence } from "./presence.js";
import { openPresses, watchClicks } from "./presses.js";
import { consent } from "./steps/consent.js";
import { text } from "./steps/text.js";
import { openStorage } from "./storage.js";
import { meetTabs } from "./tabs.js";
import { device, watchInput, witness } from "./witness.js";
import { addressIn, loadWords, timeOf } from "./words.js";

/** @import { Client } from "./client.js" */
/** @import { Frame } from "./frame/frame.js" */
/** @import { Keys } from "./keys.js" */
/** @import { Kiosk } from "./kiosk/kiosk.js" */
/** @import { Log } from "./log.js" */
/** @import { Shelf } from "./media/shelf.js" */
/** @import { Outbox } from "./outbox.js" */
/** @import { Patience } from "./patience.js" */
/** @import { Presence } from "./presence.js" */
/** @import { Presses } from "./presses.js" */
/** @import { Storage } from "./storage.js" */
/** @import { Arrival, Json, Say, Step, Words } from "./types" */
/** @typedef {ReturnType<typeof openHelp>} Help */
/** @typedef {ReturnType<typeof import("./frame/preview.js").openPreview>} PreviewBar */

/** What a step gets.
 *  @typedef {{ main: HTMLElement, say: Say, language: string, status: (text: Words) => void,
 *              log: Log, signal: AbortSignal, shelf: Shelf, keys: Keys,
 *              patience: Patience, client: Client, study: Arrival["study"], kiosk: Kiosk | null }} Page */

/** The kinds of steps: what is shown first is here, so that there is something to read soon; the rest comes later.
 *  @type {{ [kind: string]: () => Promise<(step: any, page: Page) => Promise<Json>> | ((step: any, page: Page) => Promise<Json>) }} */
const STEPS = {
  consent: () => consent,
  text: () => text,
  trial: async () => (await fetched(import("./steps/trial.js"))).trial,
  check: async () => (await fetched(import("./steps/check.js"))).check,
  questions: async () => (await fetched(import("./steps/questions.js"))).questions,
  volume: async () => (await fetched(import("./steps/volume.js"))).volume,
  break: async () => (await fetched(import("./steps/pause.js"))).pause,
  end: async () => (await fetched(import("./steps/end.js"))).end,
};
// A no that is meant for this person, and those with a title of their own.
const CLOSED = new Set(["finished", "earlier_run", "blocked", "full", "enough", "closed", "not_open", "halted", "excluded"]);
const TITLED = new Set([
  ...["finished", "earlier_run", "full", "no_room", "enough", "halted", "excluded", "lab", "unknown_token", "no_id"],
  ...["no_key", "odd_id", "placeholder", "other_device", "other_posting", "unlisted"],
]);
const SENDING_MS = 1500;
const SLOW_MS = 300; // what comes faster needs no word

// Not awaited: modules that come later wait until this one has run.
void start(document.documentElement.dataset["study"] ?? "");

/** What the runner shows around a step: the frame, the help, and what the banner says.
 *  @typedef {{ say: Say, language: string, frame: Frame, help: Help, keys: Keys, patience: Patience,
 *              input: ReturnType<typeof watchInput>, bannerText: string | null, isPreview: boolean, step: Step | null,
 *              outbox: Outbox | null, presence: Presence | null }} Shell */

/** A session on this page: what belongs to one participant.
 *  @typedef {{ study: Arrival["study"], client: Client, session: string, tab: string, storage: Storage, shelf: Shelf,
 *              outbox: Outbox, kiosk: Kiosk | null, preview: PreviewBar | null, presses: Presses | null,
 *              draft: Arrival["draft"],
 *              jump: (step: Step) => void }} Session */

/** Run a study: arrive, then show one step after the other. @param {string} name of the study */
async function start(name) {
  const { say, language, direction } = await loadWords();
  document.documentElement.dir = direction;
  const kept = openStorage("beholder:", { lasting: true });
  const shell = openShell(say, language, openKeys(kept));
  showConnection(shell);
  const kiosk = await enterKiosk(shell);
  let arrival;
  try {
    const params = { ...languageOf(paramsOf(location.search)), ...kiosk?.params };
    arrival = await (kiosk === null
      ? enter(name, kept, shell.patience)
      : shell.patience.insist(() => arrive({ study: name, params, device: device() })));
  } catch (error) {
    if (!(error instanceof Declined)) throw error;
    decline(shell, error);
    return;
  }
  if (isElsewhere(arrival.study.language)) {
    location.replace(addressIn(arrival.study.language));
    return;
  }
  const session = await openSession(name, arrival, shell, kiosk);
  await runSteps(shell, session, (await session.outbox.recover()) ?? arrival.step);
}

/** Return the frame of the page, with its help.
 *  @param {Say} say @param {string} language @param {Keys} keys @returns {Shell} */
function openShell(say, language, keys) {
  const input = watchInput();
  const patience = openPatience(() => showConnection(shell));
  // A clip plays only while it can be seen and heard: opening the help pauses it, and the pause is logged.
  const help = openHelp({
    say,
    keys,
    hasKeys: () => input() === "keyboard" || !matchMedia("(hover: none) and (pointer: coarse)").matches,
    onOpen: () => dispatchEvent(new Event("halt")),
  });
  const frame = openFrame({ say, title: document.title, onHelp: () => help.show(), onTry: patience.tryNow });
  frame.setFoot({ contact: document.documentElement.dataset["contact"] ?? null, word: "", onWithdraw: null });
  document.body.append(help.element);
  /** @type {Shell} */
  const shell = {
    say,
    language,
    frame,
    help,
    keys,
    patience,
    input,
    bannerText: null,
    isPreview: false,
    step: null,
    outbox: null,
    presence: null,
  };
  return shell;
}

/** Show in the banner and the top bar what is saved and whether the server is reached. @param {Shell} shell */
function showConnection({ frame, patience, outbox, bannerText, step, isPreview }) {
  const waiting = outbox?.waiting ?? 0;
  frame.banner.show({ isOnline: navigator.onLine, isReached: patience.isReached, waiting, notice: bannerText });
  frame.topbar.setSaved({
    waiting,
    isReached: patience.isReached,
    isAny:
      !isPreview && step !== null && step.kind !== "consent" && (step.kind !== "end" || step.outcome === "completed"),
    isAll: step?.kind === "end",
  });
}

/** Return the station of a laboratory that this page is on; null elsewhere. @param {Shell} shell */
async function enterKiosk({ say, frame, patience }) {
  const station = document.documentElement.dataset["station"] ?? "";
  if (station === "") return null;
  return (await fetched(import("./kiosk/kiosk.js"))).openKiosk(Number(station), { say, main: frame.main, patience });
}

/** @param {string} name @param {Arrival} arrival @param {Shell} shell @param {Kiosk | null} kiosk
 *  @returns {Promise<Session>} */
async function openSession(name, arrival, shell, kiosk) {
  const { say, patience, frame } = shell;
  shell.isPreview = arrival.preview !== null;
  const study = arrival.study;
  const client = connect(arrival.token);
  const session = nameOf(arrival.token);
  const storage = openStorage(`beholder:${name}:`, { lasting: !shell.isPreview });
  const shelf = openShelf();
  const tab = await meetTabs(session, () => {
    if (!shell.isPreview) {
      shell.bannerText = say("tabs");
      showConnection(shell);
    }
  });
  const outbox = openOutbox({ client, patience, storage, session, tab, onChange: () => showConnection(shell) });
  shell.outbox = outbox;
  if (!shell.isPreview) shell.presence = openPresence(client, tab);
  document.title = study.title;
  frame.topbar.setTitle(kiosk === null ? study.title : `${study.title} · ${kiosk.name}`);
  /** @type {Session} */
  const opened = {
    study, client, session, tab, storage, shelf, outbox, kiosk, preview: null, presses: null,
    draft: arrival.draft, jump: () => {},
  }; // prettier-ignore
  if (study.presses) {
    opened.presses = openPresses(say);
    frame.main.before(opened.presses.decoys);
  }
  if (arrival.preview !== null) {
    const { openPreview } = await import("./frame/preview.js");
    opened.preview = openPreview({
      say,
      steps: arrival.preview.steps,
      onPick: async (key) => opened.jump(await patience.insist(() => client.step(key))),
    });
    document.body.prepend(opened.preview.element);
  }
  return opened;
}

/** Show one step after the other; a withdrawal or the preview jumps to another one.
 *  @param {Shell} shell @param {Session} session @param {Step} first */
async function runSteps(shell, session, first) {
  let step = first;
  for (;;) {
    const over = new AbortController();
    /** @type {Promise<Step>} */
    const jumped = new Promise((resolve) => {
      session.jump = resolve;
    });
    /** @type {Step} */
    const next = await Promise.race([show(shell, session, step, over.signal), jumped]);
    over.abort();
    step = next;
  }
}

/** Show a step until its answer is stored; return the step after it.
 *  @param {Shell} shell @param {Session} session @param {Step} step @param {AbortSignal} signal
 *  @returns {Promise<Step>} */
async function show(shell, session, step, signal) {
  showFrame(shell, session, step);
  const log = openLog({
    key: step.key,
    session: session.session,
    tab: session.tab,
    storage: session.storage,
    outbox: session.outbox,
    signal,
    isQuiet: step.kind === "end",
    elsewhere: session.draft,
  });
  log.add("shown", null, { again: log.events.length > 0 });
  witness(log, signal);
  watchClicks(log, signal);
  // Before somebody agrees, nothing is looked at.
  if (step.kind !== "consent" && step.kind !== "end") session.presses?.watch(log, signal);
  for (;;) {
    const attempt = new AbortController();
    signal.addEventListener("abort", () => attempt.abort(), { signal: attempt.signal });
    try {
      const given = await ask(shell, session, step, log, attempt.signal);
      return await send(shell, session.outbox, step, log, given, signal);
    } catch (error) {
      if (signal.aborted) return new Promise(() => {});
      const after = await afterRefusal(shell, session, error);
      if (after !== null) return after;
      // 413, 422: nothing is stored, and the page stays.
      shell.bannerText = /** @type {Declined} */ (error).message || shell.say("refused");
      showConnection(shell);
    } finally {
      attempt.abort();
    }
  }
}

/** Show what surrounds a step: its place, help, the foot, and how to withdraw.
 *  @param {Shell} shell @param {Session} session @param {Step} step */
function showFrame(shell, session, step) {
  const { frame, help } = shell;
  const { study } = session;
  shell.step = step;
  document.body.dataset["step"] = step.key;
  document.body.dataset["kind"] = step.kind;
  frame.topbar.setStep(step);
  frame.setReminder((step.kind === "trial" && step.reminder) || "");
  const isEnd = step.kind === "end";
  const isWithdrawn = isEnd && (step.outcome === "withdrawn" || step.outcome === "no_consent");
  // After the end there is nothing to stop.
  const withdrawal = { word: isEnd ? "erase" : "withdraw", run: () => withdraw(shell, session) };
  // Where groups of participants have their own, they are not known before there is a list.
  help.setStudy({ ...study, instructions: step.instructions ?? study.instructions }, isWithdrawn ? null : withdrawal);
  frame.setFoot({
    contact: study.contact,
    word: withdrawal.word,
    onWithdraw: isWithdrawn ? null : () => help.show({ isWithdrawing: true }),
  });
  session.preview?.setStep(isEnd ? `end:${step.outcome}` : step.key);
  showConnection(shell);
}

/** @param {Shell} shell @param {Session} session */
async function withdraw({ patience }, session) {
  const reply = await patience.insist(() => session.client.withdraw());
  session.jump("step" in reply ? reply.step : reply);
}

/** Show the page of a step and return the answer that is given there.
 *  @param {Shell} shell @param {Session} session @param {Step} step @param {Log} log @param {AbortSignal} signal
 *  @returns {Promise<Json>} */
async function ask(shell, session, step, log, signal) {
  const { frame, patience } = shell;
  document.body.dataset["state"] = step.kind === "trial" ? "loading" : "ready";
  frame.main.replaceChildren();
  frame.main.inert = false;
  scrollTo(0, 0);
  const coming = element("div", { class: "sheet sheet-middle" }, element("p", { class: "first" }, shell.say("loading.step")));
  const slow = setTimeout(() => !signal.aborted && frame.main.append(coming), SLOW_MS);
  const view = await patience.insist(async () => STEPS[step.kind]());
  clearTimeout(slow);
  coming.remove();
  const answering = view(step, {
    main: frame.main,
    say: shell.say,
    language: shell.language,
    status: frame.status,
    log,
    signal,
    shelf: session.shelf,
    keys: shell.keys,
    patience,
    client: session.client,
    study: session.study,
    kiosk: session.kiosk,
  });
  focusHeading(frame.main);
  // While somebody reads the first page, the trials come, and the last page, which has to open even if the server has
  // stopped by then.
  if (step.kind !== "end") void Promise.all([STEPS["trial"](), STEPS["end"]()]).catch(() => {});
  return answering;
}

/** @param {Shell} shell @param {Outbox} outbox @param {Step} step @param {Log} log @param {Json} given
 *  @param {AbortSignal} signal @returns {Promise<Step>} */
async function send(shell, outbox, step, log, given, signal) {
  const { say, frame } = shell;
  const { body, batch } = log.seal(given, shell.input());
  document.body.dataset["state"] = "sending";
  frame.main.inert = true;
  const timer = setTimeout(() => {
    if (!signal.aborted) showNotice(frame.main, notice(say("sending.title"), say("sending.text")));
  }, SENDING_MS);
  try {
    const stored = await outbox.submit(step.key, body, batch);
    log.close();
    shell.bannerText = null;
    if (stored.feedback && !signal.aborted) await feedback(shell, stored.feedback);
    return stored.step;
  } finally {
    clearTimeout(timer);
  }
}

/** @param {Shell} shell @param {Words} words */
async function feedback({ say, frame }, words) {
  const on = element("button", { class: "button button-primary", id: "next", type: "button" }, say("go-on"));
  showNotice(frame.main, notice(say("feedback.title"), words, on));
  await pressed(on);
}

/** Return the step after an answer that was refused; null where the page stays.
 *  @param {Shell} shell @param {Session} session @param {unknown} error @returns {Promise<Step | null>} */
async function afterRefusal(shell, session, error) {
  const { say, frame, patience } = shell;
  if (!(error instanceof Declined)) {
    const reload = element(
      "button",
      { class: "button button-primary", type: "button", on: { click: () => location.reload() } },
      say("broken.reload"),
    );
    showNotice(frame.main, notice(say("broken.title"), say("broken.text"), reload));
    console.error(error);
    return new Promise(() => {});
  }
  if (error.step !== null) return error.step;
  if (error.code === "unknown_token") {
    location.reload(); // nothing was answered for so long that the session is gone: they begin anew
    return new Promise(() => {});
  }
  if (error.status === 409 || error.status === 410) return patience.insist(() => session.client.step());
  if (error.status === 413 || error.status === 422 || error.status === 400) return null;
  decline(shell, error);
  return new Promise(() => {});
}

/** Say why this person cannot begin or go on, and show the way back. @param {Shell} shell @param {Declined} error */
function decline({ say, language, frame, presence }, { code, at, message, returnUrl }) {
  presence?.end();
  const time = at !== null && timeOf(at, language);
  const words = time ? say(`closed.${code}.text`, { time }) : message || say("closed.text");
  const back =
    returnUrl !== null &&
    element("a", { class: "button button-primary", id: "return", href: returnUrl }, say("closed.return"));
  const title = say(time || TITLED.has(code) ? `closed.${code}` : "closed.title");
  showNotice(frame.main, notice(title, words, back || null));
}

/** @param {HTMLElement} main @param {HTMLElement} node */
function showNotice(main, node) {
  fill(main, node);
  main.inert = false;
  focusHeading(main);
}

/** @param {HTMLElement} main */
function focusHeading(main) {
  const heading = main.querySelector("[tabindex='-1']");
  if (heading instanceof HTMLElement) heading.focus({ preventScroll: true });
}

/** Arrive at the study: by the parameters of the address, else by what this device remembers.
 *  @param {string} study @param {Storage} storage @param {Patience} patience */
async function enter(study, storage, patience) {
  const search = location.search;
  const params = paramsOf(search);
  // The language says nothing of who comes.
  const spoken = languageOf(params);
  const who = Object.fromEntries(Object.entries(params).filter(([name]) => !(name in spoken)));
  const isBare = Object.keys(who).length === 0;
  const last = `${study}:resume`;
  const first = `${study}:address`;
  // An id in the address is readable: only the browser that began under it goes on by it, also where several share it.
  const own = `${last}:${nameOf(Object.keys(spoken).length === 0 ? search : new URLSearchParams(who).toString())}`;
  const resume = isBare ? storage.get(last) : null;
  const token = storage.get(own) ?? storage.get(last) ?? "";
  /** @param {Record<string, string>} with_ */
  const ask = (with_) => patience.insist(() => arrive({ study, params: with_, device: device(), token }));
  const named = resume === null ? params : { resume, ...spoken };
  // A session in which nothing was answered is removed after a while: then they come as they did at first.
  const before = named["resume"] === storage.get(last) ? paramsOf(storage.get(first) ?? "") : {};
  let arrival;
  try {
    arrival = await ask({ ...before, ...named });
  } catch (error) {
    if (resume === null || !(error instanceof Declined) || CLOSED.has(error.code)) throw error;
    storage.remove(last); // of another store, long gone
    arrival = await ask(params);
  }
  if (arrival.preview === null && arrival.link) {
    const link = new URL(arrival.link, location.href);
    for (const [name, value] of Object.entries(spoken)) link.searchParams.set(name, value);
    history.replaceState(null, "", link.pathname + link.search);
    storage.set(last, arrival.token);
    if (!("resume" in named)) storage.set(first, search);
    if (!isBare && !("resume" in params)) storage.set(own, arrival.token);
  }
  return arrival;
}

/** @param {string} search of an address @returns {Record<string, string>} */
function paramsOf(search) {
  return Object.fromEntries(new URLSearchParams(search));
}

/** Return what an address says of the language: which one, and whether it was chosen on the first page.
 *  @param {Record<string, string>} params @returns {Record<string, string>} */
function languageOf(params) {
  return Object.fromEntries(Object.entries(params).filter(([name]) => name === "lang" || name === "chosen"));
}

/** Whether this page is in another language than the session, and was not just loaded for it. @param {string} language */
function isElsewhere(language) {
  return document.documentElement.lang !== language && new URLSearchParams(location.search).get("lang") !== language;
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
