// The timeline of a page: a lane for the page itself, one for each stimulus, one for each control with its path.

import { element } from "../../web/element.js";
import { ticks } from "./charts.js";
import { number, place as clockOf } from "./format.js";
import { svg } from "./shapes.js";

/** @import { ControlPath, Desk, Timeline } from "./types" */

const TALL = { page: 26, slot: 28, control: 46, axis: 22 };
const GAP = 4;
const MARKED = new Set(["click", "key", "press", "error"]);

/** @typedef {{ kind: "page" | "slot" | "control", label: string, note: string, tall: number, draw: (lane: Lane) => void }} Row */
/** @typedef {{ group: SVGElement, x: (ms: number) => number, tall: number, wide: number }} Lane */

/** Return the timeline with its element; `pick` hears at which moment somebody points.
 *  @param {Timeline} timeline @param {Desk} desk @param {(ms: number) => void} pick */
export function drawTimeline(timeline, { say }, pick) {
  const length = Math.max(1, timeline.length_ms);
  const labelOf = (/** @type {string | null} */ slot) => timeline.slots.find(({ id }) => id === slot)?.label ?? slot ?? "";
  const played = [...new Set([...timeline.slots.map(({ id }) => id), ...timeline.plays.map(({ slot }) => slot)])];
  /** @type {Row[]} */
  const rows = [
    { kind: "page", label: say("replay.thepage"), note: "", tall: TALL.page, draw: (lane) => drawPage(lane, timeline) },
    ...played.map((slot) => ({
      kind: /** @type {const} */ ("slot"),
      label: say("replay.slot", { slot: labelOf(slot) }),
      note: timeline.slots.find(({ id }) => id === slot)?.condition ?? "",
      tall: TALL.slot,
      draw: (/** @type {Lane} */ lane) => drawPlays(lane, timeline, slot),
    })),
    ...timeline.controls.map((control) => ({
      kind: /** @type {const} */ ("control"),
      label: labelOf(control.slot) ? say("replay.control", { slot: labelOf(control.slot) }) : control.text,
      note: labelOf(control.slot) ? control.text : "",
      tall: TALL.control,
      draw: (/** @type {Lane} */ lane) => drawPath(lane, control, length),
    })),
  ];
  const picture = svg("svg", { class: "lanes-picture", role: "img", "aria-label": say("replay.picture") });
  const cursor = element("div", { class: "lanes-cursor", "aria-hidden": "true" });
  const drawing = element("div", { class: "lanes-drawing" }, picture, cursor);
  const labels = element(
    "div",
    { class: "lanes-labels", "aria-hidden": "true" },
    rows.map(({ label, note, kind, tall }) =>
      element("div", { class: `lane-label lane-${kind}`, vars: { tall: `${tall + GAP}px` } }, element("b", { title: label }, label), note ? element("span", { class: "soft", title: note }, note) : null),
    ),
  );
  const box = element("div", { class: "lanes" }, labels, drawing);
  let wide = 0;
  let now = 0;

  const x = (/** @type {number} */ ms) => (ms / length) * wide;
  function draw() {
    const width = Math.floor(drawing.clientWidth);
    if (width === wide || width === 0) return;
    wide = width;
    const whole = rows.reduce((sum, { tall }) => sum + tall + GAP, 0) + TALL.axis;
    picture.replaceChildren();
    for (const [name, value] of Object.entries({ width, height: whole, viewBox: `0 0 ${width} ${whole}` })) picture.setAttribute(name, String(value));
    picture.append(hatches());
    let y = 0;
    for (const { tall, kind, draw: drawRow } of rows) {
      const group = svg("g", { transform: `translate(0 ${y})`, class: `lane lane-${kind}` }, svg("rect", { x: 0, y: 0, width, height: tall, class: "lane-ground" }));
      drawRow({ group, x, tall, wide });
      picture.append(group);
      y += tall + GAP;
    }
    for (const away of timeline.away)
      picture.append(svg("rect", { x: x(away.from_ms), y: 0, width: Math.max(2, x(away.to_ms) - x(away.from_ms)), height: y - GAP, class: "lane-away" }));
    for (const tick of ticks(0, length / 1000).slice(0, wide < 400 ? 6 : 12))
      picture.append(
        svg("line", { x1: x(tick * 1000), x2: x(tick * 1000), y1: y - GAP, y2: y + 2, class: "plot-guide" }),
        svg("text", { x: Math.min(wide - 12, Math.max(8, x(tick * 1000))), y: y + 15, class: "plot-tick", "text-anchor": "middle" }, `${number(tick)} s`),
      );
    show(now);
  }
  /** @param {number} ms */
  function show(ms) {
    now = ms;
    cursor.style.setProperty("--at", `${x(ms)}px`);
    cursor.dataset["at"] = clockOf(ms);
  }

  /** @param {PointerEvent} event */
  const point = (event) => pick(((event.clientX - drawing.getBoundingClientRect().left) / wide) * length);
  drawing.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    drawing.setPointerCapture(event.pointerId);
    point(event);
  });
  drawing.addEventListener("pointermove", (event) => {
    if (drawing.hasPointerCapture(event.pointerId)) point(event);
  });
  const watched = new ResizeObserver(draw);
  watched.observe(drawing);
  return { element: box, show, close: () => watched.disconnect() };
}

/** Return the hatching of what was looked away from, and of what stalled. */
function hatches() {
  const hatch = (/** @type {string} */ id) =>
    svg(
      "pattern",
      { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      svg("line", { x1: 0, y1: 0, x2: 0, y2: 6, class: id }),
    );
  return svg("defs", {}, hatch("hatch-away"), hatch("hatch-stall"));
}

/** @param {Lane} lane @param {Timeline} timeline */
function drawPage({ group, x, tall }, { full, moments }) {
  for (const one of full) group.append(svg("rect", { x: x(one.from_ms), y: tall - 4, width: Math.max(2, x(one.to_ms) - x(one.from_ms)), height: 4, class: "lane-full" }));
  for (const { ms, kind } of moments) if (MARKED.has(kind)) group.append(svg("circle", { cx: x(ms), cy: tall / 2, r: 3, class: `lane-mark lane-mark-${kind}` }));
}

/** @param {Lane} lane @param {Timeline} timeline @param {string} slot */
function drawPlays({ group, x, tall }, { plays, stalls, moments }, slot) {
  for (const play of plays.filter((one) => one.slot === slot)) {
    const width = Math.max(2, x(play.to_ms) - x(play.from_ms));
    const told = `${clockOf(play.at)}–${clockOf(play.to)}`;
    group.append(svg("rect", { x: x(play.from_ms), y: 3, width, height: tall - 6, rx: 3, class: `lane-play lane-play-${play.why}` }, svg("title", {}, told)));
    if (width > 110) group.append(svg("text", { x: x(play.from_ms) + 8, y: tall / 2 + 4, class: "lane-told" }, told));
    if (play.why === "ended") group.append(svg("rect", { x: x(play.to_ms) - 3, y: 3, width: 3, height: tall - 6, class: "lane-end" }));
  }
  for (const stall of stalls.filter((one) => one.slot === slot)) group.append(svg("rect", { x: x(stall.from_ms), y: 3, width: Math.max(3, x(stall.to_ms) - x(stall.from_ms)), height: tall - 6, class: "lane-stall" }));
  for (const { ms, kind, slot: own } of moments) if (kind === "seek" && own === slot) group.append(svg("path", { d: `M${x(ms) - 4} 2h8l-4 6z`, class: "lane-seek" }));
}

/** @param {Lane} lane @param {ControlPath} control @param {number} length */
function drawPath({ group, x, tall }, { path, scale }, length) {
  const points = path.filter(([, value]) => typeof value === "number");
  const low = scale?.min ?? Math.min(...points.map(([, value]) => Number(value)), 0);
  const high = scale?.max ?? Math.max(...points.map(([, value]) => Number(value)), 1);
  const y = (/** @type {number} */ value) => tall - 7 - ((value - low) / (high - low || 1)) * (tall - 14);
  let d = "";
  for (const [ms, value] of points) d += d ? `H${x(ms)}V${y(Number(value))}` : `M${x(ms)} ${y(Number(value))}`;
  if (d) group.append(svg("path", { d: `${d}H${x(length)}`, class: "lane-path" }));
  for (const [ms, value] of path) {
    const told = typeof value === "number" ? number(value) : "·";
    group.append(svg("circle", { cx: x(ms), cy: typeof value === "number" ? y(value) : tall / 2, r: path.length > 60 ? 2 : 4, class: "lane-dot" }, svg("title", {}, `${clockOf(ms)}: ${told}`)));
  }
  const last = points.at(-1);
  if (last !== undefined) {
    const left = x(last[0]) > x(length) - 40;
    group.append(svg("text", { x: x(last[0]) + (left ? -8 : 8), y: Math.max(12, y(Number(last[1])) - 5), class: "lane-told lane-value", "text-anchor": left ? "end" : "start" }, number(Number(last[1]))));
  }
}
