// A pair of images or videos on one page with its questions: side by side, one in place of the other, or with a line
// between them. Both stay where they are in the document and play on one clock; a view only says what covers what, so
// that a change of view, a flip or a move of the line shows no empty picture and costs no time.

import { card, told } from "./card.js";
import { isStill } from "./column.js";
import { element, fill, setAttribute, setVariable, write } from "../element.js";
import { magnifier } from "./magnifier.js";
import { sizeTo } from "./screen.js";
import { stylesheet } from "../stylesheet.js";
import { wipe } from "./wipe.js";

/** @import { Answer, Binding, Json, Slot, Stage, Trial } from "../types" */
/** @import { Ballot, Hooks } from "./ballot.js" */

/** @typedef {"side-by-side" | "flip" | "wipe"} View */
/** What a person has on the screen. `uncovered`: how much of each was seen at most, 0 to 1.
 *  @typedef {{ view: View, shown: string, line: number, isMagnified: boolean, uncovered: number[] }} Look */

const HOLD_MS = 300; // held for longer, a flip is taken back when it is let go
const LEAST = 10; // percent of the width: less of a video than this is not seen
const UNCOVERED = 0.9; // of a picture: as the server has it (server/views.py)

/** Show a pair in its views with the questions beside it; return the answer after Next.
 *  @param {Trial} trial @param {Stage} stage
 *  @param {{ make: (hooks: Hooks) => Ballot, nothing: Answer, failed: string }} parts
 *  @returns {Promise<Answer>} */
export async function views(trial, stage, { make, nothing, failed }) {
  const { say, player, main, label, draft } = stage;
  await Promise.all([stylesheet("theatre"), stylesheet("views")]);
  const done = new AbortController();
  const { slots } = trial;
  const ids = slots.map(({ id }) => id);
  const { medium } = slots[0].media;
  const still = isStill(medium);
  const offered = /** @type {View[]} */ (trial.extra["views"]);
  const kept = /** @type {Partial<Look>} */ (draft.get("view") ?? {});
  /** @type {Look} */
  const look = { view: offered[0], shown: ids[0], line: 50, isMagnified: false, uncovered: [0, 0], ...kept };
  const names = slots.map((slot) => label(slot));
  const isFailed = () => ids.some((id) => player.failure(id) !== null);
  const isAsked = trial.playback.watch !== "none";

  // What is left to do

  const unwatched = () => (isAsked ? slots.filter(({ id }) => !player.isWatched(id)) : []);
  const covered = () => (isAsked ? slots.filter((_, place) => look.uncovered[place] < UNCOVERED) : []);
  /** @param {Slot[]} some */
  const named = (some) => some.map((slot) => label(slot)).join(say("list.comma"));

  /** Return what is left to see, in words, or null where both have been seen. */
  function left() {
    const unseen = unwatched();
    if (unseen.length > 0) return say(`compare.left.${still ? medium : trial.playback.watch}`, { labels: named(unseen) });
    return covered().length === 0 ? null : say(`views.left.${look.view === "wipe" ? "wipe" : "flip"}`, { labels: named(covered()) });
  }
  /** Return the control for what is left to see. */
  function control() {
    const unseen = unwatched();
    if (look.view === "flip" && !(unseen.length > 0 ? unseen : covered()).some(({ id }) => id === look.shown)) return flipper;
    return look.view === "wipe" && (still || unseen.length === 0) ? line.handle : play;
  }

  /** @type {() => void} */
  let giveUp = () => {};
  /** @type {Promise<"failed">} */
  const lost = new Promise((resolve) => {
    giveUp = () => resolve("failed");
  });
  const ballot = make({
    onChange: () => wayOn.refresh(),
    onLocked(reason) {
      stage.status(reason);
      wayOn.tell(reason, control());
    },
  });
  const wayOn = stage.next({
    ready: say("card.ready"),
    gap() {
      const reason = left();
      return reason === null ? ballot.gap() : { reason, focus: () => control().focus() };
    },
  });

  // The picture

  const nodes = slots.map(({ id }) => player.node(id));
  const clips = nodes.map((node) => element("div", { class: "screen-clips" }, node));
  const line = wipe({
    say, names, at: look.line,
    onMove(at) {
      look.line = at;
      cover();
    },
    onRest(told) {
      stage.log("view", null, told);
      keep();
    },
  }); // prettier-ignore
  const figures = slots.map((slot, place) => {
    const frame = element("div", { class: `frame frame-${medium}`, "data-sight": true }, clips[place]);
    sizeTo(frame, trial.playback.size, slot.media);
    const name = element("figcaption", { class: "pair-name" }, element("span", { class: "letter" }, names[place]));
    return element("figure", { class: "pair-side", "data-slot": slot.id }, name, frame);
  });
  // What stands over both, wherever one of them covers the other.
  const room = element("div", { class: "screen-clips" });
  const rim = element("div", { class: `frame frame-${medium}` }, room, line.element);
  sizeTo(rim, trial.playback.size, slots[0].media);
  const over = element("div", { class: "pair-side pair-over" }, element("div", { class: "pair-name" }), rim);
  const pair = element("section", { class: `pair pair-${medium}`, "aria-label": say("screen.label") }, figures, over);
  const lens =
    trial.extra["magnifier"] === true
      ? magnifier({ nodes, places: clips, room, look, stage, pair, signal: done.signal, onOpen })
      : null;

  // The controls

  const switches = offered.map((view) =>
    element(
      "button",
      { class: "button toggle", type: "button", "data-view": view, on: { click: () => open(view, "click") } },
      say(`views.${view}`),
    ),
  );
  const [playWord, flipWord] = [element("span"), element("span")];
  const playIcons = [stage.icon("play"), stage.icon("pause")];
  const play = element(
    "button",
    { class: "button", id: "pair-play", type: "button", on: { click: () => press("click") } },
    playIcons,
    playWord,
  );
  const progress = element("div", { class: "pair-progress", "aria-hidden": "true" }, element("div"));
  const flipper = element("button", { class: "button", id: "pair-flip", type: "button" }, stage.icon("loop"), flipWord);
  const hint = element("p", { class: "pair-hint" });
  const tools = element(
    "div",
    { class: "showcase-bar pair-bar" },
    offered.length > 1 &&
      element("div", { class: "pair-views", role: "group", "aria-label": say("views.switch") }, switches),
    element("div", { class: "pair-tools" }, !still && play, !still && progress, flipper, lens?.tools),
    hint,
  );
  holdable(flipper, { mayHold: () => true, isOnlyHeld: false });
  holdable(pair, { mayHold: () => look.view === "flip" && !look.isMagnified, isOnlyHeld: true });

  const view = element(
    "div",
    { class: `trial showcase showcase-beside showcase-${medium} showcase-pair` },
    element("div", { class: "showcase-view" }, pair, tools),
    element(
      "section",
      { class: "showcase-deck", "aria-label": say("compare.deck") },
      element("p", { class: "eyebrow" }, say("compare.deck")),
      ballot.sections,
      element("div", { class: "showcase-foot" }, wayOn.reason, wayOn.button),
    ),
  );
  fill(main, view);
  view.querySelector("h1")?.focus({ preventScroll: true });

  function onOpen() {
    keep();
    refresh();
  }

  function keep() {
    draft.set("view", { ...look });
  }

  /** Begin with a view. @param {View} next @param {"click" | "key" | "start"} by */
  function open(next, by) {
    if (by !== "start" && next === look.view) return;
    line.rest();
    look.view = next;
    /** @type {{ [view in View]: { [name: string]: Json } }} */
    const more = { "side-by-side": {}, flip: { shown: true }, wipe: { line: look.line } };
    stage.log("view", next === "flip" ? look.shown : null, { view: next, by, ...more[next] });
    if (by !== "start") {
      keep();
      stage.status(say(`views.${next}`));
    }
    cover();
  }

  /** Show the other one in the same place. @param {string} by @param {string} [to] */
  function flip(by, to = ids.find((id) => id !== look.shown) ?? ids[0]) {
    if (look.view !== "flip" || to === look.shown || done.signal.aborted) return;
    look.shown = to;
    stage.log("view", to, { shown: true, by });
    cover();
    keep();
    stage.status(say("views.shown", { label: names[ids.indexOf(to)] }));
  }

  /** Let what is seen follow from the view, the flip and the line. */
  function cover() {
    const shares = { "side-by-side": [1, 1], flip: ids.map((id) => +(id === look.shown)), wipe: [look.line / 100, 1 - look.line / 100] };
    const shown = shares[look.view];
    look.uncovered = look.uncovered.map((most, place) => Math.max(most, shown[place]));
    pair.dataset["view"] = look.view;
    pair.dataset["shown"] = look.shown;
    setVariable(pair, "--line", String(look.line));
    // Who is seen lies above who is not, and of a wipe the first above the second.
    const top = shown.findIndex((share) => share > 0);
    figures.forEach((figure, place) => {
      figure.classList.toggle("is-top", place === top);
      figure.classList.toggle("is-whole", shown[place] === 1);
      figure.classList.toggle("is-shown", shown[place] > 0);
    });
    const inSight = ids.filter((_, place) => shown[place] >= LEAST / 100);
    if (still) attend(inSight);
    else player.sight(inSight);
    lens?.draw();
    refresh();
  }

  // Playing

  let attended = "";
  /** Let the images that are in sight count, each from where it was. @param {string[]} inSight */
  function attend(inSight) {
    const due = inSight.filter((id) => isAsked && !player.isWatched(id) && player.failure(id) === null);
    if (document.hidden || (due.join() === attended && player.isPlaying)) return;
    attended = due.join();
    if (due.length > 0) void player.together(due, { sound: null, from: null });
    else if (player.isPlaying) player.pause();
  }

  const mayPlay = () => !isFailed() && ids.every((id) => player.mayPlay(id));
  /** @param {string} by */
  function press(by) {
    stage.log(by === "key" ? "key" : "click", null, { what: "pair-play" });
    if (player.isPlaying) return player.pause();
    if (!mayPlay()) return;
    const from = nodes.some((node) => node instanceof HTMLVideoElement && node.ended) ? 0 : player.position();
    void player.together(ids, { sound: null, from });
  }

  /** Bring what is paused to the same moment, so that a flip compares the same frame. */
  function align() {
    const [lead] = nodes;
    for (const node of nodes.slice(1)) {
      if (!(node instanceof HTMLVideoElement) || !(lead instanceof HTMLVideoElement) || lead.ended) continue;
      if (Math.abs(node.currentTime - lead.currentTime) > 0.001) node.currentTime = lead.currentTime;
    }
  }

  // Drawing

  function refresh() {
    if (done.signal.aborted) return;
    if (isFailed()) return giveUp();
    ballot.lock(left());
    wayOn.refresh();
    pair.dataset["due"] = unwatched().map(({ id }) => id).join(" ");
    pair.dataset["state"] = player.isPlaying && !still ? "playing" : "paused";
    for (const one of switches) setAttribute(one, "aria-pressed", String(one.dataset["view"] === look.view));
    flipper.hidden = look.view !== "flip";
    const other = names[ids.findIndex((id) => id !== look.shown)];
    write(flipWord, say("views.flip.to", { label: other }));
    line.draw({ at: look.line, isOn: look.view === "wipe" });
    const hinted = look.isMagnified ? "magnifier" : look.view;
    write(hint, hinted === "side-by-side" ? "" : say(`views.hint.${hinted}`));
    if (still) return;
    playIcons.forEach((icon, place) => icon.toggleAttribute("hidden", player.isPlaying !== (place === 1)));
    const isBegun = ids.some((id) => player.watched(id) > 0);
    write(playWord, say(player.isPlaying ? "transport.pause" : isBegun && player.position() === 0 ? "views.again" : "transport.play"));
    setAttribute(play, "aria-disabled", String(!player.isPlaying && !mayPlay()));
  }

  player.listen((what) => {
    if (done.signal.aborted) return;
    setVariable(progress, "--at", String(Math.min(1, player.position() / slots[0].media.ms)));
    if (player.isPlaying && !still) lens?.draw();
    if (what === "tick") return;
    if (what === "stopped" && !still) align();
    refresh();
    if (still && what === "ended" && !isFailed()) cover();
  });
  for (const node of nodes) node.addEventListener("seeked", () => lens?.draw(), { signal: done.signal });
  if (still) document.addEventListener("visibilitychange", () => document.hidden || cover(), { signal: done.signal });

  // Keys, and presses that are held

  /** Flip when something is pressed, and back when it was held. @param {HTMLElement} node
   *  @param {{ mayHold: () => boolean, isOnlyHeld: boolean }} how */
  function holdable(node, { mayHold, isOnlyHeld }) {
    let since = 0;
    node.addEventListener("pointerdown", (event) => {
      if (!event.isPrimary || event.button !== 0 || !mayHold()) return;
      since = event.timeStamp;
      flip(isOnlyHeld ? "hold" : "click");
    });
    /** By when it happened, and not when a busy page heard of it. @param {Event} event */
    const release = (event) => {
      if (since > 0 && (isOnlyHeld || event.timeStamp - since > HOLD_MS)) flip("release");
      since = 0;
    };
    const until = { signal: done.signal };
    addEventListener("pointerup", release, until);
    addEventListener("pointercancel", release, until);
    // By keyboard, or by what reads the page aloud: no pointer was put down.
    if (!isOnlyHeld) node.addEventListener("click", (event) => event.detail === 0 && flip("key"));
  }

  let [pressed, isHeld] = [0, false];
  document.addEventListener(
    "keydown",
    (event) => {
      if (!event.repeat) [pressed, isHeld] = [event.timeStamp, false];
    },
    { signal: done.signal, capture: true },
  );
  document.addEventListener(
    "keyup",
    (event) => {
      if (isHeld && event.key.toLowerCase() === "f" && event.timeStamp - pressed > HOLD_MS) flip("release");
      isHeld = false;
    },
    { signal: done.signal },
  );
  /** @type {Binding[]} */
  const bindings = [{ keys: ["enter"], shown: say("keys.enter"), label: say("keys.next"), run: () => wayOn.button.click() }];
  if (offered.includes("flip")) {
    bindings.push({
      keys: ["f"], shown: "F", label: say("views.keys.flip"),
      run() {
        isHeld = true;
        flip("key");
      },
    });
    bindings.push({
      keys: ["a", "b"], shown: "A, B", label: say("views.keys.show"),
      run: (key) => flip("key", ids[key === "a" ? 0 : 1]),
    });
  } // prettier-ignore
  if (offered.length > 1) {
    bindings.push({
      keys: ["v"], shown: "V", label: say("views.keys.view"),
      run: () => open(offered[(offered.indexOf(look.view) + 1) % offered.length], "key"),
    });
  } // prettier-ignore
  if (!still) bindings.push({ keys: [" "], shown: say("keys.space"), label: say("compare.keys.pause"), run: () => press("key") });
  stage.keys([...ballot.bindings(), ...bindings, ...(lens?.bindings ?? [])], done.signal);

  open(look.view, "start");
  if (look.isMagnified) lens?.open(true);
  const outcome = await Promise.race([lost, wayOn.done]);
  line.rest();
  done.abort();
  player.pause();
  if (outcome !== "failed") return { ...ballot.answer(), ...told(stage.missing()) };
  return /** @type {Answer} */ (await card(trial, stage, { make: null, again: null, failed, nothing }));
}
