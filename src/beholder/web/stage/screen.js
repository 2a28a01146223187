// The place for what is rated: mid-grey, a frame in the colour of what plays, nothing over the picture.

import { wear } from "../colour.js";
import { element, fill } from "../element.js";
import { stylesheet } from "../stylesheet.js";

/** @import { Media, Stage, Trial } from "../types" */

/** Return the screen with all slots of a trial in it, one visible.
 *  @param {Trial} trial @param {Stage} stage @param {{ hint: string, note: string }} words */
export function screen(trial, stage, { hint, note }) {
  const { player, say, label } = stage;
  const { medium } = trial.slots[0].media;
  const empty = element(
    "div",
    { class: "screen-empty" },
    element("p", {}, hint),
    element("p", { class: "small" }, note),
  );
  const letter = element("span", { class: "letter" });
  const now = element("span", {}, say(medium === "image" || medium === "text" ? "screen.shown" : "screen.now"));
  const tag = element("p", { class: "screen-tag", hidden: true }, now, letter);
  const clock = element("bdi", { dir: "ltr" });
  const time = element("p", { class: "screen-time", hidden: true }, clock);
  const nodes = trial.slots.map((slot) => player.node(slot.id));
  const clips = element("div", { class: "screen-clips" }, empty, nodes);
  const frame = element("div", { class: `frame frame-${medium}` }, clips, tag, time);
  sizeTo(frame, trial.playback.size, trial.slots[0].media);

  function draw() {
    const slot = trial.slots.find(({ id }) => id === player.current);
    for (const node of nodes) node.classList.toggle("is-shown", node.dataset["slot"] === player.current);
    now.hidden = !player.isPlaying && slot?.media.medium !== "image" && slot?.media.medium !== "text";
    empty.hidden = slot !== undefined;
    tag.hidden = time.hidden = slot === undefined;
    if (slot !== undefined && !["video", "audio"].includes(slot.media.medium)) time.hidden = true;
    frame.classList.toggle("is-coloured", slot?.colour != null);
    wear(frame, slot?.colour ?? null);
    if (slot === undefined) return;
    fill(letter, label(slot));
    clock.textContent = `${minutes(player.position())} / ${minutes(slot.media.ms)}`;
  }
  player.listen(draw);
  draw();
  const section = element(
    "section",
    { class: "screen", "aria-label": say("screen.label") },
    element("div", { class: "screen-box" }, frame),
  );
  const isSilent = medium === "video" && trial.playback.sound === "off";
  if (medium !== "video" || isSilent) void furnish(section, clips, isSilent, medium, stage);
  return section;
}

/** What only some pages need comes with them. @param {HTMLElement} section @param {HTMLElement} clips
 *  @param {boolean} isSilent @param {string} medium @param {Stage} stage */
async function furnish(section, clips, isSilent, medium, stage) {
  await stylesheet("theatre");
  if (isSilent) section.append(element("p", { class: "screen-foot" }, stage.say("screen.silent")));
  if (medium !== "image") return;
  const { zoom } = await import("./zoom.js");
  section.append(element("div", { class: "screen-foot" }, zoom([clips], stage)));
}

/** Tell the style sheet how large a clip may be. @param {HTMLElement} node @param {string} size
 *  @param {Media} media */
export function sizeTo(node, size, media) {
  node.style.setProperty("--ratio", String(media.width / media.height || 16 / 9));
  const isSized = size !== "fit" && media.width > 0;
  node.classList.toggle("is-sized", isSized);
  if (!isSized) return;
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
