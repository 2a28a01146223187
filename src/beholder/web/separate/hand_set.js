// The hand-set: the page that asks while another device shows. What was played there is known from the server alone.

import { element, fill } from "../element.js";
import { icon } from "../icons.js";
import { stylesheet } from "../stylesheet.js";

/** @import { Page } from "../run.js" */
/** @import { Show } from "../stage/theatre.js" */
/** @import { HandSetState, Player, SeenSlot, Stage, StageCode, TrialStep } from "../types" */
/** @typedef {Awaited<ReturnType<typeof openHandSet>>} HandSet */

const ASK_MS = 1000;
const MOST_CODES = 3; // shown by themselves, one after the other: who is gone must not keep a list
const GRACE_MS = 6000; // a stage asks less often between two trials: so long it is not called lost
const SPACE = "http://www.w3.org/2000/svg";
/** @type {SeenSlot} */
const NOTHING = { watched: false, share: 0, begun: 0, whole: 0, failure: null };

/** Return what stands for the player and the screen of a trial that another device shows.
 *  @param {TrialStep} step @param {Page} page */
export async function openHandSet(step, page) {
  const { trial, key } = step;
  const { client, say, signal, main, log, status, patience } = page;
  const { playback } = trial;
  /** @type {Set<(what: "state") => void>} */
  const listeners = new Set();
  const begun = performance.now();
  /** The stage in whose place another one is to be coupled. @type {number | null} */
  let replaced = null;
  /** What ended the session, or moved it elsewhere. @type {unknown} */
  let trouble = null;
  await Promise.all([stylesheet("vote"), stylesheet("apart")]);
  /** @type {HandSetState} */
  let state = await patience.insist(() => client.stage(key));
  void follow();

  async function follow() {
    while (!signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, ASK_MS));
      if (signal.aborted) return;
      try {
        hear(await patience.insist(() => client.stage(key)));
      } catch (error) {
        trouble = error; // the session is over, or goes on elsewhere: whoever waits here is told
        return hear(state);
      }
    }
  }
  /** @param {HandSetState} told */
  function hear(told) {
    state = told;
    if (told.stage?.number !== replaced) replaced = null; // the new one is there
    for (const listener of [...listeners]) listener("state");
  }
  /** Resolve when something holds of the state. @param {() => boolean} holds @returns {Promise<void>} */
  function until(holds) {
    return new Promise((resolve, reject) => {
      const listener = () => {
        if (trouble === null && !holds()) return;
        listeners.delete(listener);
        if (trouble === null) resolve();
        else reject(trouble);
      };
      listener();
      if (trouble === null && !holds()) listeners.add(listener);
      signal.addEventListener("abort", () => listeners.delete(listener));
    });
  }

  /** @param {string} id */
  const seen = (id) => state.slots[id] ?? NOTHING;
  /** @type {Player & { attach(id: string, blob: Blob): Promise<string | null>, fail(id: string, what: string): void }} */
  const player = {
    current: null,
    get isPlaying() {
      return state.stage?.here === true && state.stage.is === "playing";
    },
    region: null,
    play: async () => false,
    restart: async () => false,
    together: async () => false,
    playFrom: async () => false,
    hasPlayed: () => false,
    sight() {},
    sound: () => null,
    pause() {},
    toggle() {},
    watched: (id) => seen(id).share,
    isWatched: (id) => playback.watch === "none" || seen(id).watched,
    wholePlays: (id) => (playback.watch === "none" ? Infinity : seen(id).whole),
    mayPlay(id) {
      const limit = playback.max_plays ?? null;
      if (seen(id).failure !== null) return false;
      return limit === null || seen(id).begun < limit || !player.isWatched(id);
    },
    failure: (id) => seen(id).failure,
    position: () => 0,
    setRegion() {},
    node: () => element("div", { hidden: true }),
    listen(listener) {
      listeners.add(listener);
    },
    attach: async () => null,
    fail() {},
  };

  const isThere = () => replaced === null && state.stage?.here === true;
  const isReady = () => isThere() && state.stage?.is !== "loading" && state.stage?.is !== "press" && state.stage?.is !== null;

  /** Resolve when the stage is there and has everything; until then say what is missing. */
  async function attend() {
    let shown = "";
    const draw = () => {
      let next = sheetFor();
      if (next === "code" && state.code === null) {
        if (shownCodes < MOST_CODES) return void askForCode();
        next = "expired";
      }
      const id = next === "code" ? `code ${state.code?.text}` : next;
      if (id === shown) return;
      shown = id;
      document.body.dataset["state"] = "ready";
      const { title, nodes } = next === "code" ? codeSheet() : wordSheet(next);
      fill(main, element("div", { class: "sheet apart" }, element("section", { class: "panel apart-panel" }, title, nodes)));
      title.focus({ preventScroll: true });
      status(title.textContent ?? "");
    };
    if (isReady()) return;
    listeners.add(draw);
    draw();
    await until(isReady);
    listeners.delete(draw);
  }
  function sheetFor() {
    if (state.stage === null || replaced !== null) return "code";
    if (isThere()) return state.stage.is === "press" ? "press" : "loading";
    return state.stage.is === null && performance.now() - begun < GRACE_MS ? "loading" : "lost";
  }
  let [isAsking, shownCodes] = [false, 0];
  async function askForCode() {
    if (isAsking) return;
    isAsking = true;
    shownCodes += 1;
    try {
      hear(await patience.insist(() => client.stageCode(key)));
    } finally {
      isAsking = false;
    }
  }

  function codeSheet() {
    const code = /** @type {StageCode} */ (state.code);
    const title = element("h1", { tabindex: "-1" }, say("apart.code.title"));
    const keep =
      replaced !== null && element("button", { class: "button", id: "keep", type: "button" }, say("apart.keep"));
    if (keep) {
      keep.addEventListener("click", () => {
        replaced = null;
        hear(state);
      });
    }
    const letters = `${code.text.slice(0, 3)} ${code.text.slice(3)}`;
    return {
      title,
      nodes: [
        element("p", { class: "soft" }, say("apart.code.text")),
        element(
          "div",
          { class: "apart-code" },
          element(
            "ol",
            { class: "apart-steps" },
            element("li", {}, say("apart.code.open"), element("b", { class: "apart-address", dir: "ltr" }, code.address)),
            element("li", {}, say("apart.code.enter"), element("b", { class: "apart-letters", id: "stage-code", dir: "ltr" }, letters)),
          ),
          element("figure", { class: "apart-qr" }, qrOf(code.qr, say("apart.code.qr")), element("figcaption", { class: "small soft" }, say("apart.code.scan"))),
        ),
        element("p", { class: "small soft" }, say("apart.code.wait")),
        keep && element("div", { class: "apart-foot" }, keep),
      ],
    };
  }
  /** @param {string} word loading, press, lost or expired */
  function wordSheet(word) {
    const title = element("h1", { tabindex: "-1" }, say(`apart.${word}.title`));
    const anew = element("button", { class: "button", id: "anew", type: "button" }, say(word === "expired" ? "apart.again" : "apart.anew"));
    anew.addEventListener("click", () => {
      shownCodes = 0;
      log.add("click", null, { what: "couple" });
      replaced = state.stage?.number ?? null;
      void askForCode();
    });
    return { title, nodes: [element("p", {}, say(`apart.${word}.text`)), element("div", { class: "apart-foot" }, anew)] };
  }

  /** Let the stage show slots until they have been watched as the study asks, or would not play.
   *  @param {Stage} stage @param {Show} how */
  async function show(stage, { slots, way, gap, passes, isAgain, title: heading }) {
    const ids = slots.map(({ id }) => id);
    const { medium } = slots[0].media;
    const isPair = slots.length > 1;
    let isAsked = isAgain;
    let word = "ready";
    while (!signal.aborted) {
      await attend();
      if (ids.some((id) => player.failure(id) !== null)) return;
      // After a reload of this page what was ordered before may still be playing: it is waited for.
      const isUnderWay = player.isPlaying && state.order > 0 && state.stage?.order === state.order && word === "ready" && !isAsked;
      if (!isUnderWay) {
        const several = !isPair ? "" : slots[0].label === "reference" ? "reference" : passes > 1 ? "twice" : "pair";
        if (!isAsked) await pressPlay(word, medium, several, heading);
        if (signal.aborted) return;
        if (!isReady()) continue;
        log.add("click", ids[0], { what: "play" });
        const ms = log.events.at(-1)?.[0] ?? 0;
        const number = state.order + 1;
        const order = { key, number, ms, slots: ids, way: way === "one" ? "one" : "sequence", gap, passes };
        hear(await patience.insist(() => client.stageOrder(order)));
      }
      const outcome = await watch(medium);
      if (outcome === "over" || ids.some((id) => player.failure(id) !== null)) return;
      isAsked = false;
      word = "stopped";
    }
  }
  /** @param {string} word @param {string} medium @param {string} several in which order, of more than one
   *  @param {string} heading */
  async function pressPlay(word, medium, several, heading) {
    const kind = medium === "audio" ? "audio" : "video";
    const title = element("h1", { tabindex: "-1" }, word === "ready" && heading !== "" ? heading : say(`apart.${word}.title`));
    const play = element(
      "button",
      { class: "button button-primary", id: "play", type: "button" },
      icon("play"),
      say(several === "" ? "apart.play" : "apart.play.pair"),
    );
    const size = state.stage?.screen;
    const text = `${say(`apart.${word}.${kind}`)} ${several === "" ? "" : say(`apart.${several}`)}`.trim();
    const facts = size ? say("apart.screen", { width: size[0], height: size[1] }) : "";
    draw(title, element("p", {}, text), element("p", { class: "small soft" }, facts), element("div", { class: "vote-foot" }, play));
    play.focus({ preventScroll: true });
    if (word === "stopped") status(title.textContent ?? "");
    const pressed = new Promise((resolve) => play.addEventListener("click", resolve, { once: true, signal }));
    // A stage that goes away while somebody reads, or wants a press itself, is told at once.
    await Promise.race([pressed, until(() => !isReady())]);
  }
  /** Wait for the end of what plays on the stage. @param {string} medium @returns {Promise<"over" | "stopped">} */
  async function watch(medium) {
    const { order } = state;
    const pageThen = state.stage?.page;
    const numberThen = state.stage?.number;
    const title = element("h1", { tabindex: "-1" }, say(`apart.playing.${medium === "audio" ? "audio" : "video"}`));
    const text = element("p", {}, say("apart.playing.text"));
    draw(title, text);
    title.focus({ preventScroll: true });
    status(title.textContent ?? "");
    /** @returns {"over" | "stopped" | null} */
    const outcome = () => {
      const { stage } = state;
      if (stage === null || !stage.here || stage.page !== pageThen || stage.number !== numberThen) return "stopped";
      if (stage.order !== order) return null; // it has not heard of it yet
      if (stage.is === "over") return "over";
      if (stage.is === "stopped" || stage.is === "failed" || stage.is === "left") return "stopped";
      return null;
    };
    const hint = () => {
      text.textContent = say(state.stage?.is === "press" ? "apart.press.text" : "apart.playing.text");
    };
    listeners.add(hint);
    await until(() => outcome() !== null);
    listeners.delete(hint);
    return outcome() ?? "stopped";
  }
  /** @param {...HTMLElement} nodes */
  function draw(...nodes) {
    document.body.dataset["state"] = "ready";
    fill(main, element("div", { class: "surround" }, element("section", { class: "vote vote-short apart-card" }, nodes)));
  }

  return { player, load: attend, show };
}

/** Return a QR code: dark on light in any colours of the page, as cameras expect it.
 *  @param {string[]} rows @param {string} label */
function qrOf(rows, label) {
  const drawing = document.createElementNS(SPACE, "svg");
  drawing.setAttribute("viewBox", `0 0 ${rows.length} ${rows.length}`);
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", label);
  const path = document.createElementNS(SPACE, "path");
  const cells = rows.flatMap((row, y) => [...row].map((cell, x) => (cell === "1" ? `M${x} ${y}h1v1h-1z` : "")));
  path.setAttribute("d", cells.join(""));
  drawing.append(path);
  return drawing;
}
