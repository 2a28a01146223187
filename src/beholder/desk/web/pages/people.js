// People: everybody who came, searched and filtered. The server sends pages; only what is in sight is drawn.

import { element, fill } from "../../../web/element.js";
import { addressOf, queryOf, read } from "../api.js";
import { pathOf } from "../bar.js";
import { count, minutes, moment } from "../format.js";
import { empty, field, head, marks, pill, status } from "../parts.js";
import { openRows } from "../rows.js";

/** @import { Desk, Page, PeopleDocument, PersonRow } from "../types" */

const PAGE = 100;
const TYPING_MS = 200;

/** @type {Page} */
export default async function people(main, desk) {
  const { place, say, signal } = desk;
  const wanted = { search: place.query.get("search") ?? "", state: place.query.get("state") ?? "" };
  const address = (/** @type {number} */ offset) =>
    addressOf(place.study, "people") + queryOf({ ...wanted, offset, limit: PAGE });
  let first = /** @type {PeopleDocument} */ (await read(address(0), signal));

  const search = field(say("people.search"), {
    type: "search", name: "search", value: wanted.search, placeholder: say("people.search.hint"), autocomplete: "off",
  }); // prettier-ignore
  const filters = element("div", { class: "filters", role: "group", "aria-label": say("people.filter") });
  const found = element("p", { class: "soft small", role: "status" });
  const list = element("div", { class: "panel panel-list" });
  /** @type {ReturnType<typeof openRows<PersonRow>> | null} */
  let rows = null;

  const show = () => {
    fill(filters, filterButtons());
    found.textContent = say("people.found", { n: first.total, of: first.all });
    rows?.close();
    rows = null;
    if (first.total === 0) {
      const words = say(first.all === 0 ? "people.none.words" : "people.nothing.words");
      return fill(list, empty(say(first.all === 0 ? "people.none" : "people.nothing"), words));
    }
    rows = openRows({
      label: say("people.title"),
      heads: ["who", "began", "step", "time", "checks", "use", "state"].map((name) => say(`people.head.${name}`)),
      kind: "people",
      total: first.total,
      page: PAGE,
      first: first.people,
      read: async (offset) => (/** @type {PeopleDocument} */ (await read(address(offset), signal))).people,
      draw: (one) => cells(one, desk),
      open: (one) => desk.go(pathOf(place.study, "people", one.participant)),
    });
    fill(list, rows.element);
  };
  const again = async () => {
    const asked = { ...wanted };
    const document = /** @type {PeopleDocument} */ (await read(address(0), signal));
    if (asked.search !== wanted.search || asked.state !== wanted.state) return;
    first = document;
    history.replaceState(null, "", pathOf(place.study, "people") + queryOf(wanted));
    show();
  };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing;
  search.input.addEventListener("input", () => {
    clearTimeout(typing);
    wanted.search = /** @type {HTMLInputElement} */ (search.input).value.trim();
    typing = setTimeout(() => void again(), TYPING_MS);
  });

  function filterButtons() {
    const all = first.states.reduce((sum, { n }) => sum + n, 0);
    const states = [{ state: "", words: say("people.everybody"), n: all }, ...first.states];
    return states.map(({ state, words, n }) =>
      element(
        "button",
        {
          class: "filter", type: "button", "aria-pressed": String(wanted.state === state),
          on: {
            click: async () => {
              wanted.state = state;
              await again();
              /** @type {HTMLElement | null} */ (filters.querySelector('[aria-pressed="true"]'))?.focus();
            },
          },
        }, // prettier-ignore
        `${words} `,
        element("b", {}, count(n)),
      ),
    );
  }

  fill(main, head(say("people.title"), marks(desk, first)), element("div", { class: "tools" }, search.element, filters), found, list);
  show();
  signal.addEventListener("abort", () => rows?.close());
}

/** @param {PersonRow} one @param {Desk} desk */
function cells(one, { say, place }) {
  const check =
    one.failed > 0
      ? status("attention", one.reasons[0] ?? say("recent.failed", { n: one.failed }))
      : one.state === "completed"
        ? status("pass", say("recent.passed"))
        : "–";
  return [
    element("a", { href: pathOf(place.study, "people", one.participant) }, one.participant),
    moment(one.began),
    one.step,
    minutes(one.minutes),
    check,
    one.use ? say("yes") : say("no"),
    pill(one.state, one.state_words),
  ];
}
