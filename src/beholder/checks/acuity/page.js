// Visual acuity: small rings, one after the other, each answered by where its gap is.

import { element } from "../../element.js";
import { stylesheet } from "../../stylesheet.js";
import { ask, CANNOT, shownScale } from "../../check_kit/frame.js";
import { pictures, worse } from "../../check_kit/pictures.js";

/** @import { Page } from "../../run.js" */
/** @import { CheckPage } from "../../types" */

const BLANK_MS = 300;
const SPACE = "http://www.w3.org/2000/svg";
const EIGHTH = 45;
/** Directions as they lie on the page, row by row; 0 is right, each next one an eighth of a turn anticlockwise. */
const PLACES = [3, 2, 1, 4, null, 0, 5, 6, 7];
/** The same on the block of digits of a keyboard, by the key, with and without Num Lock. @type {{ [key: string]: number }} */
const BLOCK = { 6: 0, 9: 1, 8: 2, 7: 3, 4: 4, 1: 5, 2: 6, 3: 7, pageup: 1, home: 3, end: 5, pagedown: 7 };
/** @type {{ [key: string]: [across: number, up: number] }} */
const ARROWS = { ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowLeft: [-1, 0], ArrowDown: [0, -1] };

/** @type {CheckPage} */
export default async function acuity(step, page) {
  if (step.public["skip"]) return {}; // the size of a pixel is not known
  const { say, log, status } = page;
  await stylesheet("vision");
  /** @type {string[]} */
  const names = step.public["rings"];
  const coming = Promise.all(pictures(step, page, names, () => say("picture")));
  coming.catch(() => {}); // heard of below
  const distance = step.public["distance"];
  const ready = await ask(step, page, {
    title: say("title"),
    text: say("text"),
    body: element(
      "ul",
      { class: "acuity-list" },
      ["glasses", "sit", "guess"].map((key) => element("li", {}, say(key, { distance }))),
    ),
    next: say("start"),
  });
  if (ready === "cannot") return CANNOT;

  const images = await coming;
  /** @type {number[]} */
  const directions = [];
  /** @type {number[]} */
  const ms = [];
  let scale = 1;
  let since = 0;
  const patch = element("div", { class: "acuity-patch" });
  /** @type {(value: "over") => void} */
  let finish = () => {};
  /** @type {Promise<"over">} */
  const over = new Promise((resolve) => {
    finish = resolve;
  });
  const show = () => {
    const image = images[directions.length];
    patch.replaceChildren(image);
    scale = worse(scale, shownScale(image));
    since = performance.now();
  };
  /** @param {number} direction */
  const answer = (direction) => {
    if (since === 0) return; // between two rings
    ms.push(performance.now() - since);
    since = 0;
    directions.push(direction);
    log.add("change", null, { what: names[directions.length - 1], value: direction });
    patch.replaceChildren();
    setTimeout(() => {
      if (page.signal.aborted) return;
      if (directions.length === names.length) return finish("over");
      refresh();
      status(place());
      show();
    }, BLANK_MS);
  };
  const place = () => say("place", { place: Math.min(directions.length + 1, names.length), total: names.length });
  let refresh = () => {};
  const dial = element(
    "div",
    { class: "acuity-dial", dir: "ltr", role: "group", "aria-label": say("dial") },
    PLACES.map((direction) => (direction === null ? patch : button(direction, page, answer))),
  );
  listen(page, answer);
  const asked = ask({ ...step, told: null }, page, {
    title: say("title"),
    text: say(matchMedia("(hover: none) and (pointer: coarse)").matches ? "task" : "task.keys"),
    isPlain: true,
    body: element("div", { class: "check-surround acuity" }, dial),
    gap: () => ({ reason: place(), focus: () => {} }),
    onShown: (again) => {
      refresh = again;
      show();
    },
  });
  const way = await Promise.race([asked, over]);
  return way === "cannot" ? CANNOT : { directions, ms, scale };
}

/** Return the button of a direction: a ring with its gap there.
 *  @param {number} direction @param {Page} page @param {(direction: number) => void} answer */
function button(direction, { say }, answer) {
  const ring = document.createElementNS(SPACE, "svg");
  ring.setAttribute("viewBox", "-5 -5 10 10");
  ring.setAttribute("class", "acuity-ring");
  ring.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(SPACE, "path");
  line.setAttribute("d", "M 3.87 1 A 4 4 0 1 1 3.87 -1");
  line.setAttribute("transform", `rotate(${-EIGHTH * direction})`);
  ring.append(line);
  const label = say(`direction.${direction}`);
  return element(
    "button",
    {
      class: "button acuity-way",
      type: "button",
      "data-direction": direction,
      "aria-label": label,
      on: { click: () => answer(direction) },
    },
    ring,
  );
}

/** Listen to the digits, where single keys are on, and to the arrows, one or two at a time.
 *  @param {Page} page @param {(direction: number) => void} answer */
function listen({ keys, say, signal }, answer) {
  keys.bind(
    [
      { keys: Object.keys(BLOCK), shown: "1 … 9", label: say("keys.digits"), run: (key) => answer(BLOCK[key]) },
      { keys: [], shown: "← ↑ → ↓", label: say("keys.arrows"), run: () => {} },
    ],
    signal,
  );
  /** @type {Set<string>} */
  const held = new Set();
  /** @type {Set<string>} */
  const pressed = new Set();
  document.addEventListener(
    "keydown",
    (event) => {
      if (!(event.key in ARROWS) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      held.add(event.key);
      if (!event.repeat) pressed.add(event.key);
    },
    { signal },
  );
  document.addEventListener(
    "keyup",
    ({ key }) => {
      held.delete(key);
      if (!(key in ARROWS) || held.size > 0) return;
      const [across, up] = [0, 1].map((axis) => [...pressed].reduce((sum, one) => sum + ARROWS[one][axis], 0));
      pressed.clear();
      if (across === 0 && up === 0) return;
      answer((Math.round((Math.atan2(up, across) * 180) / Math.PI / EIGHTH) + 8) % 8);
    },
    { signal },
  );
}
