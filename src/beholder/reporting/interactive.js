/* What a mark of a figure stands for, where somebody points, touches or goes with the arrow keys. */

const NEAR = 28; // pixels from a mark at which it is still meant

const tip = document.createElement("p");
tip.className = "tip";
tip.setAttribute("role", "status");
tip.hidden = true;
document.body.append(tip);

/** @type {Map<string, Element[]>} */
const byName = new Map();
/** @type {Element[]} */
let lit = [];

/** @param {Element} mark */
const words = (mark) => (mark.getAttribute("data-tip") || "").split("\n");

function hide() {
  tip.hidden = true;
  for (const mark of lit) mark.classList.remove("is-told");
  lit = [];
}

/** Show what a mark stands for, and light everything on the page that stands for the same condition.
 *  @param {Element} mark */
function show(mark) {
  hide();
  const [name = "", ...rest] = words(mark);
  const head = document.createElement("b");
  head.textContent = name;
  tip.replaceChildren(head, ...rest.flatMap((line) => [document.createElement("br"), line]));
  tip.hidden = false;
  lit = byName.get(name) || [mark];
  for (const one of lit) one.classList.add("is-told");
  const box = mark.getBoundingClientRect();
  const own = tip.getBoundingClientRect();
  const left = box.left + box.width / 2 - own.width / 2;
  const above = box.top - own.height - 10;
  tip.style.left = `${Math.max(8, Math.min(left, document.documentElement.clientWidth - own.width - 8))}px`;
  tip.style.top = `${above < 8 ? box.bottom + 10 : above}px`;
}

/** Return how far a point is from a mark, in pixels.
 *  @param {DOMRect} box @param {number} x @param {number} y */
function distance(box, x, y) {
  const across = Math.max(box.left - x, 0, x - box.right);
  const down = Math.max(box.top - y, 0, y - box.bottom);
  // Where marks lie on each other, the smaller one is meant.
  return Math.hypot(across, down) + Math.min(box.width, 400) / 1000;
}

/** @param {HTMLElement} figure */
function enliven(figure) {
  const marks = [...figure.querySelectorAll("[data-tip]")];
  if (!marks.length) return;
  for (const mark of marks) {
    const [name = ""] = words(mark);
    byName.set(name, [...(byName.get(name) || []), mark]);
  }
  let place = -1;
  figure.tabIndex = 0;
  figure.setAttribute("role", "group");
  figure.setAttribute("aria-label", "Figure; the arrow keys go from mark to mark");

  /** @param {PointerEvent} event */
  const point = (event) => {
    let best = NEAR;
    let found = -1;
    marks.forEach((mark, index) => {
      const far = distance(mark.getBoundingClientRect(), event.clientX, event.clientY);
      if (far < best) [best, found] = [far, index];
    });
    if (found < 0) hide();
    else if (found !== place || tip.hidden) show(/** @type {Element} */ (marks[found]));
    place = found;
  };
  figure.addEventListener("pointermove", point);
  figure.addEventListener("pointerdown", point);
  figure.addEventListener("pointerleave", hide);
  figure.addEventListener("blur", hide);
  figure.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") hide();
    if (!step) return;
    event.preventDefault();
    place = (place + step + marks.length) % marks.length;
    show(/** @type {Element} */ (marks[place]));
  });
}

for (const figure of document.querySelectorAll(".figure")) enliven(/** @type {HTMLElement} */ (figure));
addEventListener("scroll", hide, { passive: true, capture: true });
