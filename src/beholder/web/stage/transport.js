// What plays, where it is, which part of it loops, and a waveform that tells nothing about what is rated.

import { wear } from "../colour.js";
import { setAttribute, write } from "../element.js";
import { stylesheet } from "../stylesheet.js";
import { moment, seconds, timeline } from "./timeline.js";
import { waveform } from "./waveform.js";

/** @import { Binding, Stage, Trial } from "../types" */

/** Return the transport of a trial. `reference` is the button of the reference, if there is one; `signal` ends its keys.
 *  @param {Trial} trial @param {Stage} stage
 *  @param {{ reference: HTMLElement | null, note: string, signal?: AbortSignal }} parts */
export async function transport(trial, stage, { reference, note, signal = stage.signal }) {
  await stylesheet("transport");
  const { element, icon, player, say, draft } = stage;
  const hasLoop = trial.playback.loop === "region";
  const ms = Math.min(...trial.slots.map(({ media }) => media.ms));
  const kept = /** @type {{ part: [number, number], isOn: boolean } | undefined} */ (draft.get("loop"));
  let part = kept?.part ?? /** @type {[number, number]} */ ([0, ms]);
  let isOn = hasLoop && (kept?.isOn ?? false);

  const [play, pause] = [icon("play"), icon("pause")];
  const [playWord, pauseWord] = [say("transport.play"), say("transport.pause")].map((word) => element("span", {}, word));
  const switchWord = element("span", { class: "transport-word" }, playWord, pauseWord);
  const toggle = element(
    "button",
    { class: "button", id: "pause", type: "button", on: { click: () => press() } },
    play,
    pause,
    switchWord,
  );
  const loop = element(
    "button",
    { class: "button toggle", id: "loop", type: "button", "aria-pressed": "false", on: { click: () => turn(!isOn) } },
    icon("loop"),
    say("transport.loop"),
  );
  const letter = element("span", { class: "letter" });
  const doing = element("span");
  const now = element("p", { class: "transport-now" }, letter, doing);
  const clock = element("b");
  const total = element("span");
  const time = element("p", { class: "transport-time" }, element("bdi", { dir: "ltr" }, clock, total));
  const line = timeline({
    ms,
    part,
    say,
    element,
    wave: waveOf(trial, stage, ms),
    onChange(next, { isFinal }) {
      part = next;
      if (!isFinal) return draw();
      draft.set("loop", { part, isOn });
      tell();
      apply();
    },
  });
  const hint = element("p", { class: "transport-hint" });

  function press() {
    const id = player.current ?? trial.slots.find((slot) => player.mayPlay(slot.id))?.id;
    stage.log("click", id ?? null, { what: "pause" });
    if (id !== undefined) stage.switchTo(id);
  }

  /** @param {boolean} next */
  function turn(next) {
    isOn = next;
    draft.set("loop", { part, isOn });
    tell();
    apply();
  }

  function tell() {
    stage.log("change", null, { loop: isOn ? part.map(Math.round) : null });
  }

  /** What has not been heard whole plays whole: a part must not keep its slider closed. */
  function isWhole() {
    const id = player.current;
    return id !== null && trial.playback.watch === "whole" && !player.isWatched(id) && player.failure(id) === null;
  }

  const isPart = () => part[0] > 0 || part[1] < ms;

  function apply() {
    const wanted = isOn && isPart() ? part : null;
    if (String(wanted) !== String(player.region)) player.setRegion(wanted);
    draw();
  }

  function draw() {
    const slot = trial.slots.find(({ id }) => id === player.current);
    play.toggleAttribute("hidden", player.isPlaying);
    pause.toggleAttribute("hidden", !player.isPlaying);
    playWord.classList.toggle("is-said", !player.isPlaying);
    pauseWord.classList.toggle("is-said", player.isPlaying);
    setAttribute(loop, "aria-pressed", String(isOn));
    line.draw({ at: player.position(), isOn, isHeld: isOn && isWhole() });
    letter.hidden = slot === undefined;
    if (slot !== undefined) {
      wear(letter, slot.colour);
      write(letter, stage.label(slot));
    }
    write(doing, slot === undefined ? note : say(player.isPlaying ? "transport.playing" : "transport.paused"));
    write(clock, seconds(player.position()));
    write(total, ` ${say("transport.of", { total: seconds(slot?.media.ms ?? ms) })}`);
    const values = { from: moment(part[0]), to: moment(part[1]), label: slot ? stage.label(slot) : "" };
    const key = !isOn ? "whole" : isWhole() ? "first" : "part";
    write(hint, [hasLoop && say(`transport.hint.${key}`, values), keeps()].filter(Boolean).join(" "));
  }

  function keeps() {
    return trial.playback.switching === "keep" && say("transport.keeps");
  }

  player.listen(draw);
  apply();
  if (hasLoop) bindKeys();

  function bindKeys() {
    /** @param {"from" | "to"} end */
    const put = (end) => {
      if (player.current === null) return;
      isOn = true;
      line.put(end, player.position());
    };
    /** @type {(keys: string[], label: string, run: () => void) => Binding} */
    const binding = (keys, label, run) => ({
      keys,
      shown: keys[0].toUpperCase(),
      label: say(`transport.keys.${label}`),
      run() {
        stage.log("key", player.current, { key: keys[0] });
        run();
      },
    });
    stage.keys(
      [
        binding(["o"], "loop", () => turn(!isOn)),
        binding([",", "["], "from", () => put("from")),
        binding([".", "]"], "to", () => put("to")),
        binding(["w"], "clear", () => {
          isOn = false;
          line.clear();
        }),
      ],
      signal,
    );
  }
  return element(
    "section",
    { class: "transport", "aria-label": say("transport.label") },
    element(
      "div",
      { class: "transport-box" },
      element("div", { class: "transport-row" }, reference, toggle, hasLoop && loop, now, time),
      line.element,
      hint,
    ),
  );
}

/** Return the drawing on the line of time, and whose it is; null where the page has none.
 *  @param {Trial} trial @param {Stage} stage @param {number} ms */
function waveOf(trial, stage, ms) {
  const { player, say, signal } = stage;
  const drawn = trial.slots.filter(({ id }) => trial.waveform?.includes(id));
  const sounds = drawn.map(({ id }) => player.sound(id)).filter((sound) => sound !== null);
  if (sounds.length === 0) return null;
  const name = drawn.length === 1 ? stage.label(drawn[0]) : say("timeline.wave.all");
  const label = say(drawn.length === 1 ? "timeline.wave.one" : "timeline.wave.many", { label: name });
  return { drawing: waveform({ sounds, ms, label, signal }), name };
}
