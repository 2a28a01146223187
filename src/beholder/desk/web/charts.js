// The charts of the desk: bars of steps, columns of who left, a heat map of the plan, means with intervals.

import { element } from "../../web/element.js";
import { count, number } from "./format.js";
import { svg } from "./shapes.js";

/** @import { Say } from "../../web/types" */
/** @import { ConditionMean, Fill, StepCount } from "./types" */

/** Return where people are: a bar for each step, of who went on, who is there, who was ended, and who left.
 *  @param {StepCount[]} steps @param {number} planned @param {Say} say */
export function flow(steps, planned, say) {
  const most = Math.max(1, ...steps.map(({ reached }) => reached));
  return element(
    "ol",
    { class: "flow" },
    steps.map((step, place) => {
      const { reached, here, left, ended } = step;
      const parts = { on: reached - here - left - ended, now: here, out: ended, left };
      const notes = [left > 0 && say("flow.left", { n: left }), ended > 0 && say("flow.ended", { n: ended }), here > 0 && say("flow.here", { n: here })];
      const words = notes.filter(Boolean).join(", ");
      const isLast = place === steps.length - 1;
      return element(
        "li",
        { class: "flow-step" },
        element("span", { class: "flow-name" }, step.title),
        element(
          "span",
          { class: "flow-bar", "aria-hidden": "true" },
          Object.entries(parts).map(([kind, n]) => (n > 0 ? element("i", { class: `flow-${kind}`, vars: { share: (100 * n) / most } }) : null)),
        ),
        element("b", { class: "flow-reached" }, count(reached)),
        element("span", { class: "flow-note" }, isLast && planned > 0 ? say("flow.planned", { n: planned }) : words),
      );
    }),
  );
}

/** Return what the parts of the bars mean. @param {Say} say */
export const flowKey = (say) =>
  element(
    "p",
    { class: "key" },
    ["on", "now", "out", "left"].map((kind) => element("span", {}, element("i", { class: `flow-${kind}`, "aria-hidden": "true" }), say(`flow.key.${kind}`))),
  );

/** Return a column for each place at which somebody could leave. @param {[string, number][]} columns @param {string} label */
export function columns(columns, label) {
  const most = Math.max(1, ...columns.map(([, n]) => n));
  return element(
    "ol",
    { class: "columns", "aria-label": label },
    columns.map(([name, n]) =>
      element(
        "li",
        { class: `column${n === 0 ? " is-none" : ""}` },
        element("span", { class: "column-value" }, count(n)),
        element("span", { class: "column-bar", "aria-hidden": "true", vars: { share: (100 * n) / most } }),
        element("span", { class: "column-name" }, name),
      ),
    ),
  );
}

/** Return how full the plan is: a row for each condition, a column for each content. @param {Fill} fill @param {Say} say */
export function heat({ contents, conditions, cells }, say) {
  const shares = cells.flat().filter((cell) => cell !== null && cell.planned > 0).map((cell) => share(cell));
  const middle = shares.length > 0 ? shares.reduce((sum, one) => sum + one, 0) / shares.length : 0;
  const isNumbered = contents.length > 12;
  return element(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": say("heat.title") },
    element(
      "table",
      { class: "heat" },
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, say("heat.condition")), contents.map((name, at) => element("th", { scope: "col", title: name }, element("span", {}, isNumbered ? String(at + 1) : name))), element("th", { scope: "col", class: "heat-all" }, say("heat.all")))),
      element(
        "tbody",
        {},
        conditions.map((condition, row) => {
          const own = cells[row] ?? [];
          const sum = own.reduce((total, cell) => total + (cell?.finished ?? 0), 0);
          return element(
            "tr",
            {},
            element("th", { scope: "row" }, condition),
            own.map((cell, column) => {
              if (cell === null) return element("td", { class: "heat-cell is-missing" }, element("span", { class: "unseen" }, say("heat.missing")));
              const { finished, coming, planned } = cell;
              const isShort = middle > 0.1 && planned > 0 && share(cell) < middle * 0.8;
              const step = planned > 0 ? Math.min(6, Math.max(1, Math.ceil(share(cell) * 6))) : 1;
              const title = say("heat.cell", { condition, content: contents[column] ?? "", finished, coming, planned });
              return element("td", { class: `heat-cell heat-${step}${isShort ? " is-short" : ""}`, title }, count(finished), isShort ? element("span", { class: "unseen" }, ` ${say("heat.short")}`) : null);
            }),
            element("td", { class: "heat-all" }, count(sum)),
          );
        }),
      ),
    ),
  );
}

/** @param {{ finished: number, planned: number } | null} cell */
const share = (cell) => (cell === null || cell.planned === 0 ? 0 : cell.finished / cell.planned);

/** Return what is furthest behind the others, or null. @param {Fill} fill */
export function shortest({ contents, conditions, cells }) {
  const every = cells.flatMap((row, at) =>
    row.map((cell, column) => ({ cell, condition: conditions[at] ?? "", content: contents[column] ?? "" })),
  );
  const planned = every.filter(({ cell }) => cell !== null && cell.planned > 0);
  if (planned.length === 0) return null;
  const middle = planned.reduce((sum, { cell }) => sum + share(cell), 0) / planned.length;
  const least = planned.reduce((one, other) => (share(other.cell) < share(one.cell) ? other : one));
  const behind = middle > 0 ? 1 - share(least.cell) / middle : 0;
  return middle > 0.1 && behind > 0.2 ? { ...least, behind } : null;
}

const ROW = 34;
const LEFT = 150;
const RIGHT = 128;

/** Return means on one scale, with their intervals where they may be seen.
 *  @param {ConditionMean[]} conditions @param {string} label @param {Say} say @param {number} width */
export function means(conditions, label, say, width) {
  const known = conditions.filter(({ mean }) => mean !== null);
  const ends = known.flatMap(({ mean, ci_low, ci_high }) => [mean, ci_low ?? mean, ci_high ?? mean]).map(Number);
  const [low, high] = ends.length > 0 ? range(Math.min(...ends), Math.max(...ends)) : [0, 1];
  const room = Math.max(80, width - LEFT - RIGHT);
  const x = (/** @type {number} */ value) => LEFT + ((value - low) / (high - low || 1)) * room;
  const tall = conditions.length * ROW;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${tall + 26}`, width, height: tall + 26, class: "plot", role: "img", "aria-label": label });
  for (const tick of ticks(low, high)) {
    picture.append(
      svg("line", { x1: x(tick), x2: x(tick), y1: 0, y2: tall, class: "plot-guide" }),
      svg("text", { x: x(tick), y: tall + 18, class: "plot-tick", "text-anchor": "middle" }, number(tick)),
    );
  }
  conditions.forEach(({ name, mean, ci_low, ci_high, n }, place) => {
    const y = place * ROW + ROW / 2;
    picture.append(svg("text", { x: 0, y: y + 5, class: "plot-name" }, name));
    if (mean === null) return;
    const hasInterval = ci_low !== null && ci_low !== undefined && ci_high !== null && ci_high !== undefined;
    if (hasInterval) picture.append(svg("line", { x1: x(ci_low), x2: x(ci_high), y1: y, y2: y, class: "plot-interval" }));
    const told = hasInterval ? `${number(mean)} [${number(ci_low)}, ${number(ci_high)}]` : number(mean);
    picture.append(
      svg("circle", { cx: x(mean), cy: y, r: 6, class: "plot-dot" }, svg("title", {}, `${name}: ${told}${n ? `, ${say("results.n", { n })}` : ""}`)),
      svg("text", { x: width, y: y + 5, class: "plot-value", "text-anchor": "end" }, told),
    );
  });
  return picture;
}

/** Return ends that leave some room. @param {number} low @param {number} high */
function range(low, high) {
  const room = (high - low || Math.abs(high) || 1) * 0.08;
  return [low - room, high + room];
}

/** Return four to eight round numbers. @param {number} low @param {number} high */
export function ticks(low, high) {
  const wide = (high - low) / 5 || 1;
  const size = 10 ** Math.floor(Math.log10(wide));
  const step = [1, 2, 5, 10].map((one) => one * size).find((one) => one >= wide * 0.75) ?? wide;
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + 1e-9; at += step) found.push(Number(at.toFixed(10)));
  return found;
}
