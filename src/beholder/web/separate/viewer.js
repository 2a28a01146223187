// The page of a separate stage: a second device that shows the clips of a session, and nothing else. It asks the server
// every moment what is to be shown, so that it works through any proxy, and tells what was.

import { connectStage, couple, Declined, Unreachable } from "../client.js";
import { element, fill } from "../element.js";
import { MediaError, openShelf } from "../media/shelf.js";
import { openPlayer } from "../media/player.js";
import { openTracks as soundTracks } from "../media/tracks/audio.js";
import { openTracks as videoTracks } from "../media/tracks/video.js";
import { device, witness } from "../witness.js";
import { loadWords } from "../words.js";

/** @import { Log } from "../log.js" */
/** @import { Event, Json, Media, Say, StageOrder, StageState, Trial } from "../types" */
/** @typedef {ReturnType<typeof openScene>} Scene */
/** @typedef {ReturnType<typeof openBoard>} Board */

const ASK_MS = 700;
const IDLE_MS = 1500; // between two trials
const AGAIN_MS = 1500; // while nobody answers
const TOKEN = "beholder:stage";

void start();

async function start() {
  const { say, direction } = await loadWords();
  document.documentElement.dir = direction;
  const board = openBoard(say);
  addEventListener("pageshow", (event) => event.persisted && location.reload());
  let token = kept();
  for (;;) {
    token ??= await enterCode(board);
    keep(token);
    const isOver = await serve(token, board);
    keep(null);
    token = null;
    if (isOver) return board.say("ended");
  }
}

/** Return what is on the page: the clips, and a word of how it stands. @param {Say} say */
function openBoard(say) {
  const hall = element("div", { class: "viewer-hall" });
  const title = element("h1", { class: "viewer-title" });
  const text = element("p", { class: "viewer-text", "aria-live": "polite" });
  const more = element("div", { class: "viewer-more" });
  const card = element("section", { class: "viewer-card" }, title, text, more);
  const main = element("main", { id: "main", class: "viewer" }, hall, card);
  fill(document.body, main);
  return {
    hall,
    words: say,
    canFill: true,
    /** Say how it stands, with what can be done about it. @param {string} word @param {...HTMLElement} controls */
    say(word, ...controls) {
      document.body.dataset["state"] = word;
      title.textContent = say(`viewer.${word}.title`);
      const next = say(`viewer.${word}.text`);
      if (text.textContent !== next) text.textContent = next;
      fill(more, ...controls);
      card.hidden = false;
    },
    /** Nothing but the clip; of a sound a word. @param {boolean} isSeen */
    clear(isSeen) {
      document.body.dataset["state"] = "playing";
      if (isSeen) card.hidden = true;
      else this.say("playing");
    },
  };
}

/** Resolve with the token of this stage, once somebody has entered a code that is right. @param {Board} board
 *  @returns {Promise<string>} */
function enterCode(board) {
  const { words } = board;
  const problem = element("p", { class: "viewer-problem", id: "problem", role: "alert" });
  const field = element("input", {
    class: "viewer-code", id: "code", type: "text", autocomplete: "off", autocapitalize: "characters", spellcheck: "false",
    maxlength: "12", "aria-describedby": "problem",
  }); // prettier-ignore
  // After the #, so that no server or log sees it on the way.
  field.value = decodeURIComponent(location.hash.slice(1));
  const button = element("button", { class: "button button-primary", id: "couple", type: "submit" }, words("viewer.couple"));
  const form = element(
    "form",
    { class: "viewer-form" },
    element("label", { for: "code" }, words("viewer.code.label")),
    field,
    problem,
    button,
  );
  board.say("code", form);
  (field.value === "" ? field : button).focus();
  return new Promise((resolve) => {
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      void fillScreen(board);
      button.disabled = true;
      problem.textContent = "";
      try {
        const { token } = await couple({ code: field.value, device: device() });
        history.replaceState(null, "", location.pathname);
        return resolve(token);
      } catch (error) {
        problem.textContent = error instanceof Declined ? error.message : words("viewer.away");
      }
      button.disabled = false;
      field.focus();
    });
  });
}

/** Show what the session wants until it is over, or another device takes the place of this one; tell which.
 *  @param {string} token @param {Board} board @returns {Promise<boolean>} */
async function serve(token, board) {
  const server = connectStage(token);
  const page = crypto.randomUUID().replaceAll("-", "").slice(0, 12);
  const shelf = openShelf();
  /** @type {Scene | null} */
  let scene = null;
  let isFresh = true;
  /** @type {() => void} */
  let wake = () => {};
  board.say("waiting");
  const left = new AbortController();
  addEventListener("pagehide", () => scene && void server.report(scene.leave(), { leaving: true }).catch(() => {}), {
    signal: left.signal,
  });
  try {
    for (;;) {
      const batch = scene?.batch() ?? { key: null, page, from: 0, events: [] };
      try {
        const told = await server.report(batch);
        scene?.stored(batch);
        if (told.ended) return true;
        if (told.key !== (scene?.key ?? null)) {
          scene?.close();
          scene = null;
          board.say("waiting");
          if (told.key !== null && told.trial !== null) {
            // What was ordered before this page was there is not played by it: who ordered it is asked first.
            const done = isFresh ? (told.order?.number ?? 0) : 0;
            scene = openScene({ key: told.key, trial: told.trial, page, done, board, shelf, onState: () => wake() });
          }
        }
        isFresh = false;
        if (told.order !== null) scene?.take(told.order);
        scene?.reached(true);
      } catch (error) {
        if (error instanceof Declined) return error.status === 410;
        if (!(error instanceof Unreachable)) throw error;
        if (scene === null) board.say("away");
        scene?.reached(false);
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
        continue;
      }
      if (scene?.isDue()) continue;
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, scene === null ? IDLE_MS : ASK_MS);
        wake = () => {
          clearTimeout(timer);
          resolve(null);
        };
      });
    }
  } finally {
    left.abort();
    scene?.close();
  }
}

/** Return one trial on this stage: its clips, and the log of how they were shown.
 *  @param {{ key: string, trial: Trial, page: string, done: number, board: Board, shelf: ReturnType<typeof openShelf>,
 *            onState: () => void }} parts `done`: the last order that is not played any more */
function openScene({ key, trial, page, done, board, shelf, onState }) {
  const { hall } = board;
  const over = new AbortController();
  const { signal } = over;
  const isSeen = trial.slots.some(({ media }) => media.medium === "video");
  const isFull = trial.playback.fullscreen && isSeen && document.fullscreenEnabled;
  /** @type {(Event | [number, "state", null, Json])[]} */
  const events = [];
  const begun = performance.now();
  let [sent, tried] = [0, 0];
  /** @type {StageState} */
  let state = "loading";
  let isReached = true;
  let told = done; // the order that the state is about
  /** @type {(() => void) | null} */
  let pressed = null;
  let playing = Promise.resolve();

  const now = () => Math.round(performance.now() - begun);
  const log = {
    /** @type {Log["add"]} */
    add(kind, slot, data) {
      events.push([now(), kind, slot, data]);
    },
    get events() {
      return /** @type {Event[]} */ (events);
    },
  };
  log.add("shown", null, {});
  witness(/** @type {Log} */ (/** @type {unknown} */ (log)), signal);
  const open = new Map(
    trial.slots.map(({ media }) => [media.medium, media.medium === "video" ? videoTracks : soundTracks]),
  );
  const player = openPlayer({
    trial, kit: { open, follow: null }, label: () => "", signal,
    log: /** @type {Log} */ (/** @type {unknown} */ (log)),
  }); // prettier-ignore
  const nodes = new Map(trial.slots.map((slot) => [slot.id, sized(player.node(slot.id), slot.media, trial.playback.size)]));
  fill(hall, ...nodes.values());
  document.addEventListener(
    "fullscreenchange",
    () => isFull && document.fullscreenElement === null && player.pause(),
    { signal },
  );
  document.addEventListener("visibilitychange", () => void stayAwake(), { signal });
  void load();

  /** @param {StageState} next */
  function become(next) {
    if (signal.aborted) return;
    state = next;
    events.push([now(), "state", null, { is: state, order: told }]);
    draw();
    onState();
  }
  function draw() {
    if (state === "playing") return board.clear(isSeen);
    if (state === "press") return board.say("press", pressButton());
    board.say(!isReached ? "away" : state === "loading" ? "loading" : state === "failed" ? "failed" : "waiting");
  }
  function pressButton() {
    const button = element("button", { class: "button button-primary", id: "press", type: "button" }, board.words("viewer.press"));
    button.addEventListener("click", async () => {
      await fillScreen(board);
      pressed?.();
    });
    queueMicrotask(() => button.focus());
    return button;
  }
  /** Whether somebody has to press here first: browsers fill a screen, and let it sound, for nobody else. */
  const isPressDue = () => isFull && board.canFill && document.fullscreenElement === null;

  /** @returns {Promise<void>} */
  function waitForPress() {
    /** @type {Promise<void>} */
    const press = new Promise((resolve) => {
      pressed = resolve;
      signal.addEventListener("abort", () => resolve());
    });
    become("press");
    return press;
  }

  async function load() {
    for (const { id, media } of trial.slots) await fetchOne(id, media);
    if (signal.aborted || player.failure(trial.slots[0].id) !== null) return become("failed");
    if (isPressDue()) await waitForPress();
    become("ready");
  }
  /** @param {string} id @param {Media} media */
  async function fetchOne(id, media) {
    const started = performance.now();
    for (let tries = 0; !signal.aborted; tries += 1) {
      try {
        const problem = await player.attach(id, await shelf.get(media, () => {}));
        if (problem === null) return log.add("load", id, { ms: Math.round(performance.now() - started), bytes: media.bytes });
        shelf.spurn(media); // came, and could not be shown: fetched anew, once
        if (tries > 0 && trial.playback.skip) return player.fail(id, problem);
      } catch (error) {
        if (error instanceof MediaError && tries > 0 && trial.playback.skip) return player.fail(id, "load");
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }

  /** @param {StageOrder} order */
  async function play({ number, slots, gap, passes }) {
    told = number;
    if (isPressDue()) await waitForPress();
    await stayAwake();
    become("playing");
    const turns = Array.from({ length: passes }, () => slots).flat();
    for (const [place, id] of turns.entries()) {
      show(null);
      if (place > 0) await new Promise((resolve) => setTimeout(resolve, gap * 1000));
      if (signal.aborted) return;
      show(id);
      const end = heard();
      if (!(await player.restart(id, { isOnce: true }))) {
        if (player.failure(id) !== null) return finish("failed");
        if (signal.aborted) return;
        if (document.hidden) return finish("stopped");
        await waitForPress(); // the browser refused: nobody has pressed anything here
        return play({ number, slots, gap, passes });
      }
      const what = await end;
      if (player.failure(id) !== null) return finish("failed");
      if (what === "stopped" || player.wholePlays(id) < 1 + Math.floor(place / slots.length)) return finish("stopped");
    }
    finish("over");
  }
  /** @param {StageState} outcome */
  function finish(outcome) {
    show(null);
    become(outcome);
  }
  /** @param {string | null} id */
  function show(id) {
    for (const [slot, node] of nodes) node.classList.toggle("is-shown", slot === id);
  }
  /** Resolve when what plays has ended, or was stopped. @returns {Promise<"ended" | "stopped">} */
  function heard() {
    return new Promise((resolve) => {
      player.listen((what) => {
        if (what === "ended" || what === "stopped") resolve(what);
      });
      signal.addEventListener("abort", () => resolve("stopped"));
    });
  }

  return {
    key,
    /** @param {StageOrder} order */
    take(order) {
      if (order.number <= done) return;
      done = order.number;
      player.pause();
      playing = playing.then(() => (done === order.number && !signal.aborted ? play(order) : undefined));
    },
    /** Whether there is something to tell at once. */
    isDue: () => events.length > Math.max(sent, tried) && events.at(-1)?.[1] === "state",
    /** What is new; what was tried once keeps its ends, so that sending it again changes nothing. */
    batch() {
      if (tried <= sent && events.length > sent) {
        if (events.at(-1)?.[1] !== "state") events.push([now(), "state", null, { is: state, order: told }]);
        tried = events.length;
      }
      return { key, page, from: sent, events: events.slice(sent, tried) };
    },
    /** @param {{ key: string | null, from: number, events: unknown[] }} batch */
    stored(batch) {
      if (batch.key === key) sent = Math.max(sent, batch.from + batch.events.length);
    },
    /** @param {boolean} is */
    reached(is) {
      if (is === isReached) return;
      isReached = is;
      draw();
    },
    /** The last word of a page that goes away. */
    leave() {
      player.pause();
      events.push([now(), "state", null, { is: "left", order: told }]);
      return { key, page, from: sent, events: events.slice(sent) };
    },
    close() {
      over.abort();
      fill(hall);
    },
  };
}

/** Return the node of a clip as large as the study says. @param {HTMLElement} node @param {Media} media
 *  @param {string} size */
function sized(node, media, size) {
  if (size === "fit" || media.width === 0) return node;
  const share = size === "native" ? 1 : parseFloat(size) / 100;
  node.classList.add("is-sized");
  node.style.setProperty("--clip-width", `${(media.width * share) / devicePixelRatio}px`);
  return node;
}

/** Fill the screen, where the browser does that; it wants a press for it, as it does for sound. @param {Board} board */
async function fillScreen(board) {
  void stayAwake();
  if (!document.fullscreenEnabled || document.fullscreenElement !== null) return;
  await document.documentElement.requestFullscreen({ navigationUI: "hide" }).catch(() => {
    board.canFill = false; // refused to a press as well: as large as the window
  });
}

/** Keep the screen from going dark, where the browser can. */
async function stayAwake() {
  if (!document.hidden) await navigator.wakeLock?.request("screen").catch(() => null);
}

/** The token, kept for as long as this tab is open, so that a reload goes on. @returns {string | null} */
function kept() {
  try {
    return sessionStorage.getItem(TOKEN);
  } catch {
    return null;
  }
}

/** @param {string | null} token */
function keep(token) {
  try {
    if (token === null) sessionStorage.removeItem(TOKEN);
    else sessionStorage.setItem(TOKEN, token);
  } catch {
    // forbidden here: after a reload a new code is needed
  }
}
