// The shapes that stand beside words, so that colour never says anything alone; and elements of SVG.

const SPACE = "http://www.w3.org/2000/svg";

/** Return an element of SVG. @param {string} tag @param {{ [name: string]: string | number | null }} attributes
 *  @param {...(Node | string)} children @returns {SVGElement} */
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

/** A disc with a tick, an octagon with a cross, a triangle, a ring with a bar, a dot in a ring.
 *  @type {{ [kind: string]: [outline: string, inside: string] }} */
const SHAPES = {
  pass: ["M12 1.5a10.5 10.5 0 1 0 0 21a10.5 10.5 0 1 0 0-21z", "M7 12.4l3.4 3.4L17 9"],
  fail: ["M7.8 1.8h8.4l6 6v8.4l-6 6H7.8l-6-6V7.8z", "M8.5 8.5l7 7M15.5 8.5l-7 7"],
  attention: ["M12 2l11 19.5H1z", "M12 9v6M12 18v.2"],
  unknown: ["M12 2.5a9.5 9.5 0 1 0 0 19a9.5 9.5 0 1 0 0-19z", "M7.5 12h9"],
  now: ["M12 2.5a9.5 9.5 0 1 0 0 19a9.5 9.5 0 1 0 0-19z", "M12 8.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 1 0 0-7z"],
};

/** Return a shape; it says nothing to screen readers, as words stand beside it. @param {string} kind */
export function shape(kind) {
  const [outline, inside] = SHAPES[kind] ?? /** @type {[string, string]} */ (SHAPES["unknown"]);
  return svg(
    "svg",
    { viewBox: "0 0 24 24", class: `shape shape-${kind}`, "aria-hidden": "true" },
    svg("path", { d: outline, class: "shape-outline" }),
    svg("path", { d: inside, class: "shape-inside" }),
  );
}
