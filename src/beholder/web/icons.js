// The few drawings on our pages, as nodes. They follow the colour of the text beside them.

const SPACE = "http://www.w3.org/2000/svg";

/** Outlines are drawn with the pen, solids are filled. @type {Record<string, {lines?: string[], solid?: string[]}>} */
const DRAWINGS = {
  play: { solid: ["M7.5 4.8v14.4L19.6 12z"] },
  pause: { solid: ["M6.5 5.5h3.6v13H6.5zM13.9 5.5h3.6v13h-3.6z"] },
  replay: { lines: ["M4.6 9.2a8 8 0 1 1-.5 4.3", "M4.4 4v5.4h5.4"] },
  tick: { lines: ["M5 12.8l4.7 4.7L19.5 7"] },
  offline: {
    lines: [
      "M3.5 3.5l17 17",
      "M9.2 16.2a4.3 4.3 0 0 1 5.6 0",
      "M5.3 12.5a10 10 0 0 1 4-2.4",
      "M18.7 12.5a10 10 0 0 0-4.6-2.6",
      "M2.2 8.8a15 15 0 0 1 4.3-2.9",
      "M21.8 8.8A15 15 0 0 0 11 4.7",
      "M12 19.9v.1",
    ],
  },
  copy: {
    lines: [
      "M10.5 9h9a1.5 1.5 0 0 1 1.5 1.5v9a1.5 1.5 0 0 1-1.5 1.5h-9A1.5 1.5 0 0 1 9 19.5v-9A1.5 1.5 0 0 1 10.5 9z",
      "M5 15H4.2A1.2 1.2 0 0 1 3 13.8V4.2A1.2 1.2 0 0 1 4.2 3h9.6A1.2 1.2 0 0 1 15 4.2V5",
    ],
  },
  help: {
    lines: ["M12 2a10 10 0 1 0 0 20a10 10 0 1 0 0-20", "M9.4 9.2a2.7 2.7 0 1 1 4 2.5c-.9.5-1.4 1-1.4 2", "M12 17v.1"],
  },
  down: { lines: ["M12 3.5v12.5", "M6.2 10.8l5.8 5.8l5.8-5.8", "M4 20.8h16"] },
  attention: { lines: ["M12 3.2L22 20.6H2z", "M12 10v4.8", "M12 17.6v.1"] },
  back: { lines: ["M19.5 12h-15", "M10.5 5.5L4 12l6.5 6.5"] },
  sound: { lines: ["M15.5 8.6a5 5 0 0 1 0 6.8", "M18.4 5.8a9 9 0 0 1 0 12.4"], solid: ["M3 9.2v5.6h3.6l5.4 4.6V4.6L6.6 9.2z"] },
  loop: { lines: ["M17 3l4 4l-4 4", "M21 7H8a5 5 0 0 0-5 5", "M7 21l-4-4l4-4", "M3 17h13a5 5 0 0 0 5-5"] },
  mark: {
    lines: ["M2.6 12c4-6.6 14.8-6.6 18.8 0", "M2.6 12c4 6.6 14.8 6.6 18.8 0"],
    solid: ["M12 8.9a3.1 3.1 0 1 0 0 6.2a3.1 3.1 0 1 0 0-6.2"],
  },
};

/** Return a drawing. It says nothing to screen readers: a word stands beside it.
 *  @param {string} name @returns {SVGElement} */
export function icon(name) {
  const drawing = document.createElementNS(SPACE, "svg");
  drawing.setAttribute("viewBox", "0 0 24 24");
  drawing.setAttribute("aria-hidden", "true");
  drawing.setAttribute("class", `icon icon-${name}`);
  const { lines = [], solid = [] } = DRAWINGS[name];
  for (const [paths, kind] of /** @type {[string[], string][]} */ ([
    [lines, "line"],
    [solid, "solid"],
  ])) {
    for (const path of paths) {
      const node = document.createElementNS(SPACE, "path");
      node.setAttribute("d", path);
      node.setAttribute("class", `icon-${kind}`);
      drawing.append(node);
    }
  }
  return drawing;
}
