// The place for the clips on a rating page: mid-grey, a frame in the colour of what plays, nothing over the picture.

import { wear } from "./colour.js";
import { element, fill } from "./element.js";

/** @import { Media, Player, Say, Slot, Trial } from "./types" */

/** Return the screen with all clips of a trial in it, one visible.
 *  @param {{ trial: Trial, player: Player, say: Say,
 *            label: (slot: Slot) => string, hint: string, note: string }} parts */
export function screen({ trial, player, say, label, hint, note }) {
  const empty = element(
    "div",
    { class: "screen-empty" },
    element("p", {}, hint),
    element("p", { class: "small" }, note),
  );
  const letter = element("span", { class: "letter" });
  const now = element("span", {}, say("screen.now"));
  const tag = element("p", { class: "screen-tag", hidden: true }, now, letter);
  const clock = element("bdi", { dir: "ltr" });
  const time = element("p", { class: "screen-time", hidden: true }, clock);
  const videos = trial.slots.map((slot) => player.video(slot.id));
  const frame = element("div", { class: "frame" }, element("div", { class: "screen-clips" }, empty, videos), tag, time);
  sizeTo(frame, trial.playback.size, trial.slots[0].media);

  function draw() {
    const slot = trial.slots.find(({ id }) => id === player.current);
    for (const video of videos) video.classList.toggle("is-shown", video.dataset["slot"] === player.current);
    now.hidden = !player.isPlaying;
    empty.hidden = slot !== undefined;
    tag.hidden = time.hidden = slot === undefined;
    frame.classList.toggle("is-coloured", slot?.colour != null);
    wear(frame, slot?.colour ?? null);
    if (slot === undefined) return;
    fill(letter, label(slot));
    clock.textContent = `${minutes(player.position())} / ${minutes(slot.media.ms)}`;
  }
  player.listen(draw);
  draw();
  return element(
    "section",
    { class: "screen", "aria-label": say("screen.label") },
    element("div", { class: "screen-box" }, frame),
  );
}

/** Tell the style sheet how large a clip may be. @param {HTMLElement} node @param {string} size
 *  @param {Media} media */
export function sizeTo(node, size, media) {
  node.style.setProperty("--ratio", String(media.width / media.height || 16 / 9));
  node.classList.toggle("is-sized", size !== "fit");
  if (size === "fit") return;
  const share = size === "native" ? 1 : parseFloat(size) / 100;
  const draw = () => node.style.setProperty("--clip-width", `${(media.width * share) / devicePixelRatio}px`);
  draw();
  matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener("change", draw, { once: true });
}

/** @param {number} ms */
function minutes(ms) {
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
