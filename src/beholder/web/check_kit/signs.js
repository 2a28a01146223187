// The signs of the list: each state has a shape of its own, so that colour is never alone.

const SPACE = "http://www.w3.org/2000/svg";

const RING = "M12 2a10 10 0 1 0 0 20a10 10 0 1 0 0-20z";
const ASK = "M9.4 9.2a2.7 2.7 0 1 1 4 2.5c-.9.5-1.4 1-1.4 2M12 17v.1";

/** The shape, filled or drawn as a line, then what is drawn on it.
 *  @type {Record<string, ["solid" | "line", ...string[]]>} */
const SIGNS = {
  pass: ["solid", "M12 1a11 11 0 1 0 0 22a11 11 0 1 0 0-22z", "M7 12.4l3.4 3.4L17 9"],
  fail: ["solid", "M7.5 1.5h9l6 6v9l-6 6h-9l-6-6v-9z", "M8.5 8.5l7 7M15.5 8.5l-7 7"],
  attention: ["solid", "M12 2L23 21.5H1z", "M12 9v6M12 18v.2"],
  unknown: ["line", RING, "M7.5 12h9"],
  now: ["line", RING, "M12 6.5V12l3.6 2.2"],
  asks: ["line", RING, ASK],
  todo: ["line", RING],
};

/** Return the sign of a state; a word stands beside it. @param {string} state @returns {SVGElement} */
export function sign(state) {
  const [shape, ...lines] = SIGNS[state] ?? SIGNS["unknown"];
  const drawing = document.createElementNS(SPACE, "svg");
  drawing.setAttribute("viewBox", "0 0 24 24");
  drawing.setAttribute("aria-hidden", "true");
  lines.forEach((line, place) => {
    const path = document.createElementNS(SPACE, "path");
    path.setAttribute("d", line);
    path.setAttribute("class", place === 0 ? `sign-${shape}` : "sign-on");
    drawing.append(path);
  });
  drawing.setAttribute("class", `sign sign-is-${shape}`);
  return drawing;
}
