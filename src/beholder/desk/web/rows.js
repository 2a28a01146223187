// A long list: only the rows in sight are in the page, and the server is asked for the pages that they are on.

import { element, fill } from "../../web/element.js";

/** @import { Child } from "../../web/types" */

const EXTRA = 12;
/** Taller than this, browsers no longer scroll by single rows. */
const MOST_TALL = 8_000_000;

/** Return a list of rows with its element. `read` returns the page that begins at a row; `open` opens a row that is chosen
 *  with Enter. @template T
 *  @param {{ label: string, heads: string[], kind: string, total: number, page: number, first: T[],
 *            read: (offset: number) => Promise<T[]>, draw: (row: T) => Child[], open?: (row: T) => void, tall?: number }} parts */
export function openRows({ label, heads, kind, total, page, first, read, draw, open, tall = 45 }) {
  /** @type {Map<number, T[] | Promise<void>>} */
  const pages = new Map([[0, first]]);
  const body = element("div", { class: "rows-body", role: "rowgroup" });
  const inner = element("div", { class: "rows-inner", vars: { tall: `${Math.min(MOST_TALL, total * tall)}px` } }, body);
  const headRow = element(
    "div",
    { class: "rows-head", role: "row", "aria-rowindex": 1 },
    heads.map((head) => element("span", { role: "columnheader" }, head)),
  );
  const box = element(
    "div",
    { class: `rows rows-${kind}`, role: "table", "aria-label": label, "aria-rowcount": total + 1, tabindex: 0, vars: { row: `${tall}px` } },
    element("div", { class: "rows-heads", role: "rowgroup" }, headRow),
    inner,
  ); // prettier-ignore
  let drawn = "";
  let isClosed = false;

  /** @param {number} at @returns {T | undefined} */
  function rowAt(at) {
    const number = Math.floor(at / page);
    const known = pages.get(number);
    if (Array.isArray(known)) return known[at - number * page];
    if (known === undefined) {
      const asked = read(number * page).then(
        (rows) => {
          pages.set(number, rows);
          drawn = "";
          if (!isClosed) show();
        },
        () => void pages.delete(number),
      );
      pages.set(number, asked);
    }
    return undefined;
  }

  function show() {
    const start = Math.max(0, Math.floor(box.scrollTop / tall) - EXTRA);
    const end = Math.min(total, Math.ceil((box.scrollTop + box.clientHeight) / tall) + EXTRA);
    const span = `${start}-${end}`;
    if (span === drawn) return;
    const active = document.activeElement instanceof HTMLElement && body.contains(document.activeElement) ? document.activeElement.closest("[aria-rowindex]")?.getAttribute("aria-rowindex") : null;
    drawn = span;
    body.style.setProperty("--from", `${start * tall}px`);
    fill(
      body,
      Array.from({ length: end - start }, (_, place) => {
        const at = start + place;
        const row = rowAt(at);
        return element(
          "div",
          { class: `rows-row${row === undefined ? " is-waiting" : ""}`, role: "row", "aria-rowindex": at + 2 },
          row === undefined
            ? heads.map(() => element("span", { role: "cell" }, element("i", { class: "rows-blank", "aria-hidden": "true" })))
            : draw(row).map((cell, column) => element("span", { role: "cell", "data-head": heads[column] ?? "" }, cell)),
        );
      }),
    );
    if (active) /** @type {HTMLElement | null} */ (body.querySelector(`[aria-rowindex="${active}"] a, [aria-rowindex="${active}"] button`))?.focus({ preventScroll: true });
  }

  /** @param {number} at */
  function focusRow(at) {
    const to = Math.max(0, Math.min(total - 1, at));
    const top = to * tall;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + 2 * tall > box.scrollTop + box.clientHeight) box.scrollTop = top + 2 * tall - box.clientHeight;
    show();
    /** @type {HTMLElement | null} */ (body.querySelector(`[aria-rowindex="${to + 2}"] a, [aria-rowindex="${to + 2}"] button`))?.focus({ preventScroll: true });
  }

  const moves = /** @type {{ [key: string]: number }} */ ({ ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity });
  box.addEventListener("keydown", (event) => {
    if (event.target instanceof HTMLElement && event.target.matches("input, select, textarea")) return;
    const by = moves[event.key];
    const here = event.target instanceof HTMLElement ? event.target.closest("[aria-rowindex]") : null;
    const at = Number(here?.getAttribute("aria-rowindex") ?? 1) - 2;
    if (by !== undefined) {
      event.preventDefault();
      focusRow(at + by);
    } else if (event.key === "Enter" && event.target === box && open) {
      const row = rowAt(0);
      if (row !== undefined) open(row);
    }
  });
  box.addEventListener("scroll", show, { passive: true });
  const watched = new ResizeObserver(show);
  watched.observe(box);
  return {
    element: box,
    /** Draw the rows in sight anew. */
    redraw() {
      drawn = "";
      show();
    },
    /** Bring a row into sight, a third of the way down. @param {number} at */
    bring(at) {
      const top = at * tall;
      if (top < box.scrollTop || top + 2 * tall > box.scrollTop + box.clientHeight)
        box.scrollTop = Math.max(0, top - box.clientHeight / 3);
    },
    close() {
      isClosed = true;
      watched.disconnect();
    },
  };
}
