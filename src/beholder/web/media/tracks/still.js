// Images and texts: they "play" while they can be seen, until they have been in view for long enough.

import { element } from "../../element.js";
import { markup } from "../../markup.js";

/** @import { Hears, OpenTracks, Track } from "./track" */
/** @import { Slot } from "../../types" */

const IN_VIEW = 0.9; // of it, or of the window where it is larger than that
// So fine that of a text as long as a hundred windows one is passed when it fills the window: no other event tells.
const STEPS = Array.from({ length: 1001 }, (_, place) => place / 1000);

/** @type {OpenTracks} */
export function openTracks(slots, { hears, label, signal }) {
  return slots.map((slot) => openTrack(slot, label(slot), hears(slot), signal));
}

/** @param {Slot} slot @param {string} name @param {Hears} hears @param {AbortSignal} signal @returns {Track} */
function openTrack(slot, name, hears, signal) {
  const isImage = slot.media.medium === "image";
  const image = element("img", {
    class: "clip clip-image",
    "data-slot": slot.id,
    alt: name,
    draggable: "false",
    decoding: "sync",
  });
  const text = element("div", {
    class: "clip clip-text prose",
    "data-slot": slot.id,
    role: "region",
    "aria-label": name,
    tabindex: "0",
  });
  const node = isImage ? image : text;
  node.addEventListener("contextmenu", (event) => event.preventDefault(), { signal });
  const { ms } = slot.media;
  let url = "";
  let [seen, since] = [0, /** @type {number | null} */ (null)]; // in view before, and from when on now
  let [isOn, isInView] = [false, false];
  let timer = 0;

  const position = () => Math.min(ms, Math.round(seen + (since === null ? 0 : performance.now() - since)));
  /** Let time pass, or not. */
  function run() {
    clearTimeout(timer);
    if (isOn && isInView) {
      since ??= performance.now();
      timer = setTimeout(finish, ms - position());
    } else {
      seen = position();
      since = null;
    }
  }
  function finish() {
    if (!isOn || since === null) return;
    if (position() < ms) return run();
    [seen, since, isOn] = [ms, null, false];
    watcher.disconnect();
    hears.ended();
  }

  const watcher = new IntersectionObserver(
    (entries) => {
      const wasInView = isInView;
      for (const entry of entries) isInView = isEnough(entry);
      if (!isOn || wasInView === isInView) return;
      run();
      if (isInView) hears.found();
      else hears.lost("pause");
    },
    { threshold: STEPS },
  );
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    watcher.disconnect();
    URL.revokeObjectURL(url);
  });

  return {
    node,
    isStill: true,
    rounds: 0,
    duration: ms,
    get position() {
      return position();
    },
    get isOver() {
      return !isOn && seen >= ms;
    },
    async attach(blob) {
      if (isImage) {
        URL.revokeObjectURL(url);
        url = URL.createObjectURL(blob);
        image.src = url;
        try {
          await image.decode();
        } catch {
          return "decode";
        }
        return image.naturalWidth > 0 ? null : "decode";
      }
      try {
        const html = new TextDecoder("utf-8", { fatal: true }).decode(await blob.arrayBuffer());
        text.replaceChildren(markup(html));
      } catch {
        return "decode";
      }
      return text.textContent?.trim() ? null : "decode";
    },
    start(from) {
      [seen, since, isOn, isInView] = [from, null, true, false];
      watcher.disconnect();
      // What covers a part of it on purpose, as the line of a wipe, leaves its frame in view.
      const place = node.closest("[data-sight]") ?? node;
      watcher.observe(place);
      // The clock starts with the first look: nothing counts before it is there to be seen.
      return new Promise((resolve) => {
        const look = () => {
          const box = place.getBoundingClientRect();
          isInView = isOn && isEnough({ boundingClientRect: box, intersectionRect: within(box) });
          run();
          resolve();
          setTimeout(() => isOn && !isInView && hears.lost("pause")); // once it is known to have begun
        };
        requestAnimationFrame(() => requestAnimationFrame(look));
      });
    },
    halt() {
      isOn = false;
      watcher.disconnect();
      run();
    },
    takeOver: () => false,
    mute() {},
    count: () => ({ total: null, dropped: 0, width: slot.media.width, height: slot.media.height }),
  };
}

/** @param {DOMRectReadOnly} box @returns {{ width: number, height: number }} */
function within({ left, top, right, bottom }) {
  return {
    width: Math.max(0, Math.min(right, innerWidth) - Math.max(left, 0)),
    height: Math.max(0, Math.min(bottom, innerHeight) - Math.max(top, 0)),
  };
}

/** Whether as much of it can be seen as fits. @param {{ boundingClientRect: { width: number, height: number },
 *  intersectionRect: { width: number, height: number } }} entry */
function isEnough({ boundingClientRect: whole, intersectionRect: part }) {
  const most = Math.min(whole.width, innerWidth) * Math.min(whole.height, innerHeight);
  return most > 0 && part.width * part.height >= IN_VIEW * most;
}
