// A lens over a pair: the pixels of the files as they are, each as one or several pixels of the screen, never blended.
// It follows pointer, finger and keys; where both are in view each has a lens at the same place.

import { element, setAttribute, write } from "../element.js";

/** @import { Binding, Stage } from "../types" */
/** @import { Look } from "./views.js" */

const FACTORS = [1, 2, 3, 4, 6, 8]; // pixels of the screen for each of the file
const WIDEST_PX = 220;
const SHARE = 0.55; // of the picture at most
const ABOVE_PX = 76; // a finger covers what is under it: the lens stands above
const RIM_PX = 2; // as style/views.css has it: beside the pixels, and not over them
const STEP_PX = 8;
const LEAP_PX = 64;

/** Return the lens. `places` hold the pictures, in the order of `nodes`; `room` is where both are in one place.
 *  @param {{ nodes: HTMLElement[], places: HTMLElement[], room: HTMLElement, look: Look, pair: HTMLElement, stage: Stage,
 *            signal: AbortSignal, onOpen: () => void }} parts */
export function magnifier({ nodes, places, room, look, pair, stage, signal, onOpen }) {
  const { say } = stage;
  /** Where on the picture, 0 to 1. */
  let at = [0.5, 0.5];
  let isTouched = false;
  /** @type {number | null} */
  let factor = null;
  // One over each picture, of which one is enough for keys, and one over both.
  const lenses = [room, ...places].map((place, index) => {
    const canvas = element("canvas", { class: "lens-canvas" });
    const lens = element(
      "div",
      index < 2
        ? { class: "lens", role: "application", tabindex: 0, hidden: true, on: { keydown: moved } }
        : { class: "lens", "aria-hidden": "true", hidden: true },
      canvas,
    );
    pair.append(lens);
    return { lens, canvas, place };
  });
  const isInPlace = () => look.view !== "side-by-side";
  /** The places that can be looked at in this view. */
  const inView = () => (isInPlace() ? [room] : places);

  /** Pixels of a file. @param {HTMLElement} node */
  const sizeOf = (node) =>
    node instanceof HTMLVideoElement
      ? [node.videoWidth, node.videoHeight]
      : node instanceof HTMLImageElement
        ? [node.naturalWidth, node.naturalHeight]
        : [0, 0];

  /** How many pixels of the screen one of the file has on the page. */
  function scale() {
    const [width] = sizeOf(nodes[0]);
    return width > 0 ? (inView()[0].clientWidth * devicePixelRatio) / width : 1;
  }
  /** The first factor that is larger than the picture on the page: a lens shows more. */
  const chosen = () => factor ?? FACTORS.find((one) => one > scale() * 1.1) ?? FACTORS[FACTORS.length - 1];

  /** @param {number} side */
  function zoom(side) {
    const next = FACTORS[FACTORS.indexOf(chosen()) + side];
    if (next === undefined || !look.isMagnified) return;
    factor = next;
    stage.log("view", null, { factor });
    draw();
  }

  /** @param {boolean} [isStart] as it was before the page was loaded anew */
  function open(isStart = false) {
    look.isMagnified = isStart || !look.isMagnified;
    stage.log("view", null, { magnifier: look.isMagnified });
    draw();
    if (!isStart) onOpen();
  }

  function draw() {
    setAttribute(toggle, "aria-pressed", String(look.isMagnified));
    pair.classList.toggle("is-magnified", look.isMagnified);
    write(amount, `${chosen()} ×`);
    setAttribute(out, "aria-disabled", String(!look.isMagnified || chosen() === FACTORS[0]));
    setAttribute(closer, "aria-disabled", String(!look.isMagnified || chosen() === FACTORS[FACTORS.length - 1]));
    const [x, y] = at.map((one) => Math.round(100 * one));
    for (const { lens, canvas, place } of lenses) {
      lens.hidden = !look.isMagnified || !inView().includes(place);
      if (lens.hidden) continue;
      if (lens.tabIndex === 0) setAttribute(lens, "aria-label", say("views.magnifier.place", { x, y }));
      drawOne(lens, canvas, place);
    }
  }

  /** @param {HTMLElement} lens @param {HTMLCanvasElement} canvas @param {HTMLElement} place */
  function drawOne(lens, canvas, place) {
    const inner = place.getBoundingClientRect();
    const css = Math.min(WIDEST_PX, SHARE * Math.min(inner.width, inner.height));
    // Whole pixels of the screen, and whole pixels of the file in it.
    const times = chosen();
    const side = sideOf(css, times);
    if (canvas.width !== side) canvas.width = canvas.height = side;
    canvas.style.inlineSize = canvas.style.blockSize = `${side / devicePixelRatio}px`;
    const half = side / devicePixelRatio / 2;
    const lift = isTouched ? ABOVE_PX : 0;
    const left = snap(inner.left + at[0] * inner.width - half);
    const top = snap(inner.top + at[1] * inner.height - half - lift);
    // By its place in the window: what stands in the page may lie between two pixels of the screen.
    Object.assign(lens.style, { left: `${left - RIM_PX}px`, top: `${top - RIM_PX}px` });

    const context = canvas.getContext("2d");
    if (context === null) return;
    context.imageSmoothingEnabled = false;
    context.fillStyle = "#808080";
    context.fillRect(0, 0, side, side);
    const seen = side / times; // pixels of the file
    const shown = look.view === "flip" ? nodes.findIndex((node) => node.dataset["slot"] === look.shown) : places.indexOf(place);
    if (look.view !== "wipe") return paint(context, nodes[shown], seen, side);
    const [width] = sizeOf(nodes[0]);
    const cut = ((look.line / 100) * width - corner(nodes[0], seen)[0]) * times;
    paint(context, nodes[1], seen, side);
    context.save();
    context.beginPath();
    context.rect(0, 0, cut, side);
    context.clip();
    context.fillRect(0, 0, side, side);
    paint(context, nodes[0], seen, side);
    context.restore();
  }

  /** Which pixel of the file stands in the corner of the lens. @param {HTMLElement} node @param {number} seen */
  function corner(node, seen) {
    return sizeOf(node).map((size, axis) => Math.round(at[axis] * size - seen / 2));
  }

  /** @param {CanvasRenderingContext2D} context @param {HTMLElement} node @param {number} seen @param {number} side */
  function paint(context, node, seen, side) {
    const [width, height] = sizeOf(node);
    const [x, y] = corner(node, seen);
    // Only what is there: the part of a source outside of a picture is told differently by browsers.
    const [from, to] = [[Math.max(0, x), Math.max(0, y)], [Math.min(width, x + seen), Math.min(height, y + seen)]];
    if (to[0] <= from[0] || to[1] <= from[1]) return;
    const times = side / seen;
    const source = /** @type {HTMLVideoElement | HTMLImageElement} */ (node);
    const [w, h] = [to[0] - from[0], to[1] - from[1]];
    context.drawImage(source, from[0], from[1], w, h, (from[0] - x) * times, (from[1] - y) * times, w * times, h * times);
  }

  // Where it is

  /** @param {PointerEvent} event */
  function follow(event) {
    if (!look.isMagnified) return;
    const place = inView().find((one) => holds(one.getBoundingClientRect(), event)) ?? null;
    if (place === null) return;
    const { left, top, width, height } = place.getBoundingClientRect();
    isTouched = event.pointerType === "touch";
    at = [(event.clientX - left) / width, (event.clientY - top) / height];
    draw();
  }
  pair.addEventListener("pointerdown", follow);
  pair.addEventListener("pointermove", follow);
  for (const name of ["resize", "scroll"]) {
    addEventListener(name, () => look.isMagnified && draw(), { signal, capture: true, passive: true });
  }

  /** @param {KeyboardEvent} event */
  function moved(event) {
    const step = event.shiftKey ? LEAP_PX : STEP_PX;
    /** @type {{ [key: string]: [number, number] }} */
    const steps = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    const by = steps[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const box = [inView()[0].clientWidth, inView()[0].clientHeight];
    isTouched = false;
    at = at.map((one, axis) => Math.max(0, Math.min(1, one + by[axis] / box[axis])));
    draw();
  }

  const toggle = element(
    "button",
    { class: "button toggle", id: "pair-magnifier", type: "button", "aria-pressed": "false", on: { click: () => open() } },
    say("views.magnifier"),
  );
  /** @param {string} name @param {string} sign @param {number} side */
  const button = (name, sign, side) =>
    element(
      "button",
      { class: "button zoom-button", type: "button", "aria-label": say(`zoom.${name}`), on: { click: () => zoom(side) } },
      sign,
    );
  const [out, closer] = [button("out", "−", -1), button("in", "+", 1)];
  const amount = element("span", { class: "lens-factor" });

  /** @type {Binding[]} */
  const bindings = [
    { keys: ["m"], shown: "M", label: say("views.keys.magnifier"), run: () => open() },
    { keys: ["+", "="], shown: "+", label: say("zoom.in"), run: () => zoom(1) },
    { keys: ["-"], shown: "−", label: say("zoom.out"), run: () => zoom(-1) },
  ];
  return {
    tools: element("div", { class: "zoom", role: "group", "aria-label": say("views.magnifier") }, toggle, out, amount, closer),
    bindings,
    draw,
    open,
  };
}

// Browsers set boxes on whole pixels of the page, some on whole ones of the screen: the lens stands on both where it can.

/** Return the side of a lens of about so many pixels of the page, in pixels of the screen.
 *  @param {number} css @param {number} times pixels of the screen for each of the file */
function sideOf(css, times) {
  for (let side = Math.floor(css); side > css / 2; side -= 1) {
    if (Number.isInteger((side * devicePixelRatio) / times)) return side * devicePixelRatio;
  }
  return Math.max(1, Math.round((css * devicePixelRatio) / times)) * times;
}

/** @param {number} px */
function snap(px) {
  const grid = Number.isInteger(devicePixelRatio) ? 1 : devicePixelRatio;
  return Math.round(px * grid) / grid;
}

/** @param {DOMRect} box @param {PointerEvent} event */
function holds({ left, right, top, bottom }, { clientX: x, clientY: y }) {
  return x >= left && x <= right && y >= top && y <= bottom;
}
