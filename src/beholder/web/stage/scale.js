// Controls for one value: a standing slider without a handle until it is set, and a list of words.

import { element, plain } from "../element.js";

/** @import { ChoicesOptions, Control, ControlOptions, EventKind, Json, Say, Scale, Words } from "../types" */

/** @typedef {{ say: Say, status: (text: Words) => void,
 *              log: (kind: EventKind, slot: string | null, data: Json) => void }} Surroundings */

const CHANGES_APART_MS = 100;
const LEAPS = 10; // Page Up and Page Down cross a tenth of the scale

/** Return a slider. @param {ControlOptions} options @param {Surroundings} around @returns {Control} */
export function fader({ scale, label, value, question, slot, onChange, onLocked }, { say, status, log }) {
  /** @type {string | null} */
  let locked = null;
  let loggedAt = 0;
  const input = element("input", {
    class: "fader-input",
    type: "range",
    min: scale.min,
    max: scale.max,
    step: scale.step,
    "aria-label": label,
    "aria-orientation": "vertical",
    "data-question": question,
    "data-slot": slot,
  });
  const shown = element("output", { class: "fader-value", "aria-hidden": "true" });
  const isAtHandle = scale.numbers === "handle" || scale.numbers === "both";
  const handle = element("span", { class: "fader-number", "aria-hidden": "true" });
  const node = element("div", { class: "fader" }, input, isAtHandle && handle, shown);
  node.classList.toggle("is-numbered", isAtHandle);

  function draw() {
    node.dataset["state"] = value !== null ? "set" : locked !== null ? "locked" : "open";
    input.value = String(value ?? middle(scale));
    const share = String(value === null ? 0 : (100 * (value - scale.min)) / (scale.max - scale.min));
    for (const one of [input, handle]) one.style.setProperty("--value", share);
    input.setAttribute("aria-disabled", String(locked !== null));
    input.setAttribute("aria-valuetext", value === null ? say("scale.unset") : spoken(scale, value));
    handle.textContent = value === null ? "" : figure(scale, value);
    const given = isAtHandle || scale.numbers === "none" ? "✓" : handle.textContent;
    shown.textContent = value !== null ? given : locked !== null ? "–" : say("scale.set");
  }

  /** @param {string} reason */
  function refuse(reason) {
    draw();
    status(reason);
    onLocked?.(reason);
  }

  /** @param {number} next @param {{ isFinal: boolean }} how */
  function set(next, { isFinal }) {
    if (locked !== null) return refuse(locked);
    const isNew = value !== next;
    value = next;
    draw();
    if (isFinal || (isNew && performance.now() - loggedAt >= CHANGES_APART_MS)) {
      loggedAt = performance.now();
      log("change", slot, { question, value });
    }
    if (isNew) onChange(value);
  }

  input.addEventListener("input", () => set(Number(input.value), { isFinal: false }));
  input.addEventListener("change", () => set(Number(input.value), { isFinal: true }));
  input.addEventListener("pointerdown", (event) => {
    if (locked !== null) {
      event.preventDefault();
      input.focus();
      refuse(locked);
    } else if (value === null && event.button === 0) {
      // The browser keeps a hidden handle in the middle: a press near it would take hold of it and answer 50.
      set(under(input, scale, event.clientY), { isFinal: true });
    }
  });
  input.addEventListener("keydown", (event) => {
    const move = steps(event.key, scale);
    if (move === null || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (move === "least" || move === "most") set(move === "least" ? scale.min : scale.max, { isFinal: true });
    else set(value === null ? middle(scale) : onScale(scale, value + move * scale.step), { isFinal: true });
  });

  draw();
  return {
    element: node,
    get value() {
      return value;
    },
    lock(reason) {
      if (reason === locked) return;
      locked = reason;
      draw();
    },
    focus: () => input.focus(),
  };
}

/** Return a list of answers, the highest on top. @param {ChoicesOptions} options
 *  @param {Surroundings} around @returns {Control} */
export function choices({ scale, label, value, question, slot, onChange, labelledBy, hasKeys }, { log }) {
  /** @type {HTMLInputElement[]} */
  const inputs = [];
  const node = element("div", {
    class: "choices",
    role: "radiogroup",
    "aria-labelledby": labelledBy,
    "aria-label": labelledBy ? null : label,
  });
  for (const number of values(scale).reverse()) {
    const input = element("input", {
      class: "choice-dot",
      type: "radio",
      name: `${question}.${slot}`,
      value: number,
      checked: number === value,
      "data-question": question,
      "data-slot": slot,
      on: {
        change: () => {
          value = number;
          log("change", slot, { question, value });
          onChange(number);
        },
      },
    });
    inputs.push(input);
    const key = hasKeys && number >= 0 && number <= 9 && Number.isInteger(number);
    node.append(
      element(
        "label",
        { class: "choice" },
        input,
        element("span", {}, worded(scale, number)),
        key && element("kbd", { "aria-hidden": "true" }, number),
      ),
    );
  }
  return {
    element: node,
    get value() {
      return value;
    },
    lock() {},
    focus: () => (inputs.find((input) => input.checked) ?? inputs[0]).focus(),
  };
}

/** Return the words of a scale beside its sliders, and the bands that run behind them.
 *  @param {Scale} scale */
export function bands(scale) {
  const sorted = [...scale.labels].sort((a, b) => b[0] - a[0]);
  const width = (scale.max - scale.min) / sorted.length;
  // Words in the middle of equal bands own their bands; other words stand where their value is.
  const isEven = sorted.every(([value], place) => Math.abs(value - (scale.max - width * (place + 0.5))) < width / 1000);
  /** @param {number} value */
  const at = (value) => ({ at: (100 * (value - scale.min)) / (scale.max - scale.min) });
  const labels = element(
    "ul",
    { class: "bands", "aria-hidden": "true" },
    sorted.map(([value, word]) => element("li", { vars: at(value) }, element("span", {}, word))),
    numbered(scale, isEven).map((value) =>
      element("li", { class: "band-number", vars: at(value) }, figure(scale, value)),
    ),
  );
  const field = element(
    "ul",
    { class: "band-field", "aria-hidden": "true" },
    isEven ? sorted.map(() => element("li")) : [],
  );
  return { labels, field };
}

/** Return the values whose numbers stand along a scale: the edges of its bands, the places of its words, or quarters.
 *  @param {Scale} scale @param {boolean} isEven whether its words stand in the middle of bands @returns {number[]} */
function numbered(scale, isEven) {
  if (scale.numbers !== "ticks" && scale.numbers !== "both") return [];
  const parts = isEven && scale.labels.length > 0 ? scale.labels.length : 4;
  const edges = Array.from({ length: parts + 1 }, (_, place) => scale.min + (place * (scale.max - scale.min)) / parts);
  const isAtWords = scale.labels.length > 0 && !isEven;
  const found = isAtWords ? [scale.min, ...scale.labels.map(([value]) => value), scale.max] : edges;
  return [...new Set(found.map((value) => onScale(scale, value)))];
}

/** Return every value of a scale, from low to high. @param {Scale} scale */
export function values(scale) {
  const count = Math.round((scale.max - scale.min) / scale.step) + 1;
  return Array.from({ length: count }, (_, place) => onScale(scale, scale.min + place * scale.step));
}

/** Return the words of a value. Where some values have none, or the study wants it so, all show their number.
 *  @param {Scale} scale @param {number} value @returns {Words} */
export function worded(scale, value) {
  const words = new Map(scale.labels);
  const word = words.get(value);
  if (word === undefined) return String(value);
  const isPlain = scale.numbers !== "ticks" && values(scale).every((one) => words.has(one));
  return isPlain ? word : [`${value} `, word];
}

/** Return the value of a standing slider at a height of the window. Half a handle hangs over each end.
 *  @param {HTMLElement} input @param {Scale} scale @param {number} y */
function under(input, scale, y) {
  const box = input.getBoundingClientRect();
  const handle = -2 * parseFloat(getComputedStyle(input).marginTop); // as the style sheet draws it
  const share = (box.bottom - handle / 2 - y) / (box.height - handle);
  return onScale(scale, scale.min + share * (scale.max - scale.min));
}

/** @param {Scale} scale */
function middle(scale) {
  return onScale(scale, (scale.min + scale.max) / 2);
}

/** Return the nearest value that the scale has. @param {Scale} scale @param {number} value */
function onScale(scale, value) {
  const steps = Math.round((Math.min(scale.max, Math.max(scale.min, value)) - scale.min) / scale.step);
  return Number((scale.min + steps * scale.step).toFixed(9));
}

/** Return a value with as many decimals as the steps of its scale have. @param {Scale} scale @param {number} value */
export function figure(scale, value) {
  return value.toFixed(String(scale.step).split(".")[1]?.length ?? 0);
}

/** Return by how much Page Up and Page Down move a slider. @param {Scale} scale */
export function leap(scale) {
  return scale.step * Math.max(1, Math.round((scale.max - scale.min) / scale.step / LEAPS));
}

/** Return a value with its nearest word. @param {Scale} scale @param {number} value */
function spoken(scale, value) {
  const near = [...scale.labels].sort((a, b) => Math.abs(a[0] - value) - Math.abs(b[0] - value))[0];
  const number = figure(scale, value);
  return near === undefined ? number : `${number}, ${plain(near[1])}`;
}

/** Return how many steps a key moves a slider, or an end of it, or null.
 *  @param {string} key @param {Scale} scale @returns {number | "least" | "most" | null} */
function steps(key, scale) {
  const far = Math.round(leap(scale) / scale.step);
  switch (key) {
    case "ArrowUp":
    case "ArrowRight":
      return 1;
    case "ArrowDown":
    case "ArrowLeft":
      return -1;
    case "PageUp":
      return far;
    case "PageDown":
      return -far;
    case "Home":
      return "least";
    case "End":
      return "most";
    default:
      return null;
  }
}
