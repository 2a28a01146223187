// Elements by nodes: text goes in as text, marked words as elements, numbers reach the style sheets as custom properties.

/** @import { Child, MakeElement, Words } from "./types" */

/** The marks that words can have, and nothing else becomes an element. */
const MARKS = new Set(["strong", "em", "code"]);

/** Return a new element. Attributes that are null, undefined or false are left out; `true` gives an empty one.
 *  @type {MakeElement} */
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  const { on, vars, ...rest } = attributes;
  for (const [name, value] of Object.entries(rest)) {
    if (value !== null && value !== undefined && value !== false)
      node.setAttribute(name, value === true ? "" : isWords(value) ? plain(value) : String(value));
  }
  for (const [name, listener] of Object.entries(on ?? {})) node.addEventListener(name, listener);
  for (const [name, value] of Object.entries(vars ?? {})) node.style.setProperty(`--${name}`, String(value));
  fill(node, ...children);
  return node;
}

/** Put children into a node, in place of what was there.
 *  @param {Element} node @param {...Child} children */
export function fill(node, ...children) {
  /** @type {(Node | string)[]} */
  const flat = [];
  /** @param {Child} child */
  const add = (child) => {
    if (Array.isArray(child)) child.forEach(add);
    else if (child instanceof Node) flat.push(child);
    else if (isMark(child)) flat.push(MARKS.has(child.mark) ? element(child.mark, {}, child.words) : plain(child));
    else if (child !== null && child !== undefined && child !== false) flat.push(String(child));
  };
  children.forEach(add);
  node.replaceChildren(...flat);
}

/** Return words without their marks: for labels, for who hears them, and to compare.
 *  @param {Words} words @returns {string} */
export function plain(words) {
  if (typeof words === "string") return words;
  return Array.isArray(words) ? words.map(plain).join("") : plain(words.words);
}

/** @param {unknown} value @returns {value is Exclude<Words, string | Words[]>} */
function isMark(value) {
  return typeof value === "object" && value !== null && "mark" in value;
}

/** Whether a value is words with marks. @param {unknown} value @returns {value is Words} */
function isWords(value) {
  return Array.isArray(value) || isMark(value);
}

// What is drawn in every frame touches only what has changed: otherwise the browser lays out the page 60 times a second.

/** @param {Element} node @param {string} words */
export function write(node, words) {
  if (node.textContent !== words) node.textContent = words;
}

/** @param {Element} node @param {string} name @param {string} value */
export function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/** @param {HTMLElement} node @param {string} name a custom property @param {string} value */
export function setVariable(node, name, value) {
  if (node.style.getPropertyValue(name) !== value) node.style.setProperty(name, value);
}
