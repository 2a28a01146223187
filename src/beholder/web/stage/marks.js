// Time marks: buttons and keys that mark what plays, and each mark on a line and in a list, where it can be changed.

import { element, fill, setAttribute, setVariable, write } from "../element.js";
import { stylesheet } from "../stylesheet.js";

/** @import { Binding, Mark, Marks, Slot, Stage, Trial } from "../types" */

/** A mark on this page. @typedef {Mark & { id: number }} Kept */

const KEYS = ["m", "n", "o", "p", "q", "s", "t", "u", "v"]; // no view has these: boards play with A to L, 0 and R
const UNDO = "z";
const STEP_MS = 100;
const LEAP_MS = 1000;
const LEAD_MS = 1000; // a mark is set after what it is about
const FLASH_MS = 700;

/** Return the marks of a trial, as they were before a reload. @param {Trial} trial @param {Stage} stage @returns {Promise<Marks>} */
export async function openMarks(trial, stage) {
  await stylesheet("marks");
  const { say, player, draft, status, icon } = stage;
  const { labels, at_least, most, ask } = /** @type {{ labels: string[], at_least: number, most: number, ask: string | null }} */ (
    trial.extra["marks"]
  );
  // What is stored is the same in all languages of a study.
  const said = /** @type {string[]} */ (trial.extra["marks_said"] ?? []);
  const names = labels.length > 0 ? labels : ["mark"];
  /** @param {string} label */
  const wordOf = (label) => (labels.length > 0 ? (said[labels.indexOf(label)] ?? label) : say("marks.one"));
  const slots = trial.together ? trial.slots.filter(({ rated }) => rated) : trial.slots;
  const isMany = slots.length > 1;
  const canPlay = (trial.playback.max_plays ?? null) === null; // a play from the middle is not counted
  let marks = /** @type {Kept[]} */ (draft.get("marks") ?? []);
  /** @type {Kept[][]} */
  const past = [];
  /** @type {Set<() => void>} */
  const listeners = new Set();

  /** @param {string} id @returns {Slot} */
  const slotOf = (id) => slots.find((slot) => slot.id === id) ?? slots[0];
  const playing = () => (!player.isPlaying ? null : trial.together ? slots[0].id : player.current);
  /** Whether a slot plays that can be marked. */
  const isOn = () => slots.some(({ id }) => id === playing());

  /** @param {Kept[]} next */
  function change(next) {
    past.push(marks);
    put(next);
  }
  /** @param {Kept[]} next */
  function put(next) {
    const order = new Map(slots.map(({ id }, place) => [id, place]));
    marks = [...next].sort((a, b) => (order.get(a.slot) ?? 0) - (order.get(b.slot) ?? 0) || a.ms - b.ms || a.id - b.id);
    draft.set("marks", marks);
    for (const listener of [...listeners]) listener();
  }
  function undo() {
    const before = past.pop();
    if (before === undefined) return;
    stage.log("click", null, { what: "unmark" });
    put(before);
    status(say("marks.undone", { count: say("marks.count", { n: marks.length }) }));
  }

  /** Mark what plays now. @param {string} label @param {"key" | "click"} by */
  function set(label, by) {
    const id = playing();
    if (id === null || !isOn()) return status(say("marks.only-playing"));
    if (marks.length >= most) return status(say("marks.full", { n: most }));
    const slot = slotOf(id);
    const ms = Math.max(0, Math.min(slot.media.ms, Math.round(player.position())));
    stage.log(by, id, { what: "mark", at: ms, label: names.indexOf(label) });
    change([...marks, { id: 1 + Math.max(0, ...marks.map((one) => one.id)), slot: id, ms, label }]);
    const values = { time: clock(ms), label: wordOf(label), slot: stage.label(slot) };
    status(say(isMany ? "marks.made.of" : "marks.made", values));
    for (const button of document.querySelectorAll(".mark-set")) {
      if (!(button instanceof HTMLElement) || button.dataset["label"] !== String(names.indexOf(label))) continue;
      button.classList.add("is-set");
      setTimeout(() => button.classList.remove("is-set"), FLASH_MS);
    }
  }

  /** @type {Binding[]} */
  const bindings = names.map((label, place) => ({
    keys: [KEYS[place]],
    shown: KEYS[place].toUpperCase(),
    label: say("marks.keys.mark", { label: wordOf(label) }),
    run: () => set(label, "key"),
  }));
  bindings.push(
    { keys: [UNDO], shown: UNDO.toUpperCase(), label: say("marks.keys.undo"), run: undo },
    { keys: [], shown: "← →", label: say("marks.keys.move"), run() {} },
  );
  stage.keys(bindings);

  /** What stands on a button. @param {string} label @param {number} place */
  function signs(label, place) {
    return [
      element("span", { class: "mark-dot", "aria-hidden": "true" }),
      element("span", { class: "mark-word" }, wordOf(label)),
      element("kbd", { "aria-hidden": "true" }, KEYS[place].toUpperCase()),
    ];
  }

  const task = () => element("p", { class: "marks-ask" }, ask ?? say("marks.ask"));

  function guide() {
    const words = names.map((label, place) => element("li", { "data-kind": place }, signs(label, place)));
    return element("div", { class: "marks-guide" }, task(), element("ul", { class: "marks-words" }, words));
  }

  function buttons() {
    const made = names.map((label, place) =>
      element(
        "button",
        {
          class: "button mark-set",
          type: "button",
          "data-label": place,
          "data-kind": place,
          "aria-keyshortcuts": KEYS[place].toUpperCase(),
          on: { click: () => set(label, "click") },
        },
        signs(label, place),
      ),
    );
    const draw = () => {
      for (const button of made) setAttribute(button, "aria-disabled", String(!isOn()));
    };
    player.listen((what) => what !== "tick" && draw());
    draw();
    const count = element("span", { class: "marks-count" });
    const tell = () => {
      const n = marks.length;
      write(count, n >= most ? say("marks.full", { n: most }) : n > 0 ? say("marks.count", { n }) : "");
    };
    listeners.add(tell);
    tell();
    return element("div", { class: "marks-buttons", role: "group", "aria-label": say("marks.buttons") }, made, count);
  }

  /** @param {{ clip: boolean }} how */
  function panel({ clip }) {
    const line = lineOf();
    const list = element("ol", { class: "marks-list" });
    const none = element("p", { class: "soft small" }, say(at_least > 0 ? "marks.none.needed" : "marks.none"));
    const back = element(
      "button",
      { class: "button", type: "button", "data-part": "undo", "aria-keyshortcuts": "Z", on: { click: undo } },
      icon("replay"),
      say("marks.undo"),
      element("kbd", { "aria-hidden": "true" }, UNDO.toUpperCase()),
    );
    function draw() {
      const held = document.activeElement;
      const [row, part] =
        held instanceof HTMLElement && list.contains(held)
          ? [held.closest("li")?.dataset["mark"], held.dataset["part"]]
          : [undefined, undefined];
      fill(list, marks.map((one, place) => rowOf(one, place)));
      list.hidden = marks.length === 0;
      none.hidden = marks.length > 0;
      back.hidden = past.length === 0;
      line.draw();
      if (row === undefined) return;
      const again = list.querySelector(`[data-mark="${row}"] [data-part="${part}"]`) ?? (back.hidden ? null : back);
      if (again instanceof HTMLElement) again.focus({ preventScroll: true });
    }
    listeners.add(draw);
    const shown = clip && canPlay && clipBox(slots[0]);
    const node = element(
      "section",
      { class: "marks", "aria-label": say("marks.title") },
      element("h2", { class: "marks-title" }, say("marks.title")),
      task(),
      shown,
      (!clip || canPlay) && buttons(),
      line.element,
      none,
      list,
      back,
    );
    draw();
    return node;
  }

  /** A clip with a button that plays it: there the marks can be looked at again. @param {Slot} slot */
  function clipBox({ id, media }) {
    const [play, pause] = [icon("play"), icon("pause")];
    const word = element("span");
    const press = () => {
      stage.log("click", id, { what: "play" });
      stage.switchTo(id);
    };
    const button = element("button", { class: "button", type: "button", "data-part": "clip", on: { click: press } }, play, pause, word);
    const draw = () => {
      play.toggleAttribute("hidden", player.isPlaying);
      pause.toggleAttribute("hidden", !player.isPlaying);
      write(word, say(player.isPlaying ? "transport.pause" : "transport.play"));
    };
    player.listen((what) => what !== "tick" && draw());
    draw();
    const ratio = media.width / media.height || 16 / 9;
    const frame = media.medium === "video" && element("div", { class: "marks-frame", vars: { ratio } }, player.node(id));
    return element("div", { class: "marks-clip" }, frame, button);
  }

  /** A line for the time of what plays, with its marks. */
  function lineOf() {
    const head = element("div", { class: "marks-head" });
    const pins = element("div", { class: "marks-pins" });
    const node = element(
      "div",
      { class: "marks-line", dir: "ltr", "aria-hidden": "true" },
      element("div", { class: "marks-rail" }),
      pins,
      head,
    );
    let drawn = "";
    const on = () => slotOf(player.current ?? marks.at(0)?.slot ?? slots[0].id);
    function draw() {
      const slot = on();
      const mine = marks.filter((one) => one.slot === slot.id);
      setVariable(node, "--at", String(Math.min(100, (100 * player.position()) / slot.media.ms)));
      const now = JSON.stringify([slot.id, mine]);
      if (now === drawn) return;
      drawn = now;
      fill(
        pins,
        mine.map(({ ms, label }) =>
          element("span", {
            class: "marks-pin",
            "data-kind": names.indexOf(label),
            vars: { at: (100 * ms) / slot.media.ms },
          }),
        ),
      );
    }
    player.listen(draw);
    return { element: node, draw };
  }

  /** @param {Kept} one @param {number} place */
  function rowOf(one, place) {
    const n = place + 1;
    const slot = slotOf(one.slot);
    const values = { n, slot: stage.label(slot) };
    const time = element(
      "div",
      {
        class: "mark-time",
        role: "slider",
        tabindex: 0,
        "data-part": "time",
        "aria-label": say(isMany ? "marks.time.of" : "marks.time", values),
        "aria-orientation": "horizontal",
        "aria-valuemin": 0,
        "aria-valuemax": slot.media.ms / 1000,
        "aria-valuenow": one.ms / 1000,
        "aria-valuetext": `${clock(one.ms)}, ${wordOf(one.label)}`,
        on: { keydown: (/** @type {KeyboardEvent} */ event) => pressed(event, one) },
      },
      element("bdi", { dir: "ltr" }, clock(one.ms)),
    );
    return element(
      "li",
      { class: "mark", "data-mark": one.id, "data-slot": one.slot },
      element("span", { class: "mark-dot", "data-kind": names.indexOf(one.label), "aria-hidden": "true" }),
      isMany && letterOf(slot),
      small("earlier", "−", say("marks.earlier", values), () => move(one, one.ms - STEP_MS)),
      time,
      small("later", "+", say("marks.later", values), () => move(one, one.ms + STEP_MS)),
      names.length > 1
        ? element(
            "select",
            {
              class: "mark-kind",
              "data-part": "kind",
              "aria-label": say("marks.kind", values),
              on: {
                change: (/** @type {Event} */ { target }) => {
                  const label = names[/** @type {HTMLSelectElement} */ (target).selectedIndex];
                  edit(one, { label });
                  status(say("marks.changed", { label: wordOf(label) }));
                },
              },
            },
            names.map((label) => element("option", { selected: label === one.label }, wordOf(label))),
          )
        : element("span", { class: "mark-kind" }, wordOf(one.label)),
      canPlay && small("play", icon("play"), say("marks.play", values), () => jump(one)),
      small("remove", "×", say("marks.remove", values), () => remove(one)),
    );
  }

  /** @param {Slot} slot */
  function letterOf(slot) {
    const letter = element("span", { class: "letter", "aria-hidden": "true" }, stage.label(slot));
    stage.wear(letter, slot);
    return letter;
  }

  /** @param {string} part @param {string | SVGElement} sign @param {string} label @param {() => void} run */
  function small(part, sign, label, run) {
    const attributes = { class: "button mark-button", type: "button", "data-part": part, "aria-label": label, title: label };
    return element("button", { ...attributes, on: { click: run } }, sign);
  }

  /** @param {KeyboardEvent} event @param {Kept} one */
  function pressed(event, one) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { ms } = slotOf(one.slot).media;
    const to = {
      ArrowLeft: one.ms - STEP_MS, ArrowDown: one.ms - STEP_MS, ArrowRight: one.ms + STEP_MS, ArrowUp: one.ms + STEP_MS,
      PageDown: one.ms - LEAP_MS, PageUp: one.ms + LEAP_MS, Home: 0, End: ms,
    }[event.key]; // prettier-ignore
    const isDone = to !== undefined || event.key === "Delete" || event.key === "Backspace";
    if (!isDone) return;
    event.preventDefault();
    if (to !== undefined) move(one, to);
    else remove(one);
  }

  /** @param {Kept} one @param {Partial<Mark>} changed */
  function edit(one, changed) {
    stage.log("click", one.slot, { what: "remark" });
    change(marks.map((other) => (other.id === one.id ? { ...other, ...changed } : other)));
  }

  /** @param {Kept} one @param {number} wanted */
  function move(one, wanted) {
    const ms = Math.max(0, Math.min(slotOf(one.slot).media.ms, wanted));
    if (ms === one.ms) return;
    if (!player.hasPlayed(one.slot, ms)) return status(say("marks.unplayed"));
    edit(one, { ms });
    status(say("marks.moved", { time: clock(ms) }));
  }

  /** @param {Kept} one */
  function remove(one) {
    stage.log("click", one.slot, { what: "unmark" });
    change(marks.filter((other) => other.id !== one.id));
    status(say("marks.removed", { time: clock(one.ms) }));
  }

  /** @param {Kept} one */
  function jump(one) {
    stage.log("click", one.slot, { what: "play" });
    const ids = trial.together ? trial.slots.map(({ id }) => id) : [one.slot];
    const sound = /** @type {string | undefined} */ (trial.extra["sound"]) ?? null;
    void player.playFrom(ids, Math.max(0, one.ms - LEAD_MS), { sound });
  }

  return {
    guide,
    buttons,
    panel,
    gap() {
      const focus = () => {
        const first = document.querySelector(".mark-set");
        if (first instanceof HTMLElement) first.focus();
      };
      const lost = marks.find(({ slot, ms }) => player.failure(slot) === null && !isProved(slot, ms));
      if (lost !== undefined) {
        const row = document.querySelector(`[data-mark="${lost.id}"] [data-part="time"]`);
        const reason = say("marks.replay", { time: clock(lost.ms) });
        return { reason, focus: () => row instanceof HTMLElement && row.focus() };
      }
      const left = at_least - marks.length;
      if (left <= 0 || slots.some(({ id }) => player.failure(id) !== null)) return null;
      return { reason: say("marks.few", { n: left }), focus };
    },
    listen: (listener) => void listeners.add(listener),
    answer: () =>
      marks.filter(({ slot }) => player.failure(slot) === null).map(({ slot, ms, label }) => ({ slot, ms, label })),
  };

  /** Whether the server will find that a place was played: what was lost with a page that broke off was not.
   *  @param {string} slot @param {number} ms */
  function isProved(slot, ms) {
    const { slack_ms: slack } = trial.playback.whole;
    return player.isPlaying || [ms, ms - slack / 2, ms + slack / 2].some((at) => player.hasPlayed(slot, at));
  }
}

/** Return a time to the tenth of a second. @param {number} ms */
function clock(ms) {
  const tenths = Math.round(ms / 100);
  const rest = String((tenths % 600) / 10);
  return `${Math.floor(tenths / 600)}:${(rest.includes(".") ? rest : `${rest}.0`).padStart(4, "0")}`;
}

