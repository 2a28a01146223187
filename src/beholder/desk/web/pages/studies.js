// All my studies: a line each, with what is due next.

import { element, fill } from "../../../web/element.js";
import { read } from "../api.js";
import { pathOf } from "../bar.js";
import { count, money, until } from "../format.js";
import { empty, head, meter, pill, status } from "../parts.js";

/** @import { Desk, Page, StudyLine } from "../types" */

/** @type {Page} */
export default async function studies(main, desk) {
  const { say, signal } = desk;
  /** @typedef {{ studies: StudyLine[], broken?: { key: string, words: string }[] }} Studies */
  const { studies, broken = [] } = /** @type {Studies} */ (await read("/api/studies", signal));
  const only = studies[0];
  if (studies.length === 1 && only !== undefined && !desk.place.query.has("all"))
    return desk.go(pathOf(only.key), { replace: true });
  fill(
    main,
    head(say("studies.title"), element("p", { class: "soft" }, say("studies.n", { n: studies.length }))),
    broken.map((one) => element("p", { class: "health" }, status("fail", say("studies.broken", one)))),
    studies.length === 0
      ? empty(say("studies.none"), say("studies.none.words"))
      : element("ul", { class: "studies" }, studies.map((one) => card(one, desk))),
  );
}

/** @param {StudyLine} one @param {Desk} desk */
function card(one, { say }) {
  const { lists, cost } = one;
  const when = one.finished_at === null ? null : say("studies.until", { when: until(one.finished_at, new Date().toISOString(), say) });
  return element(
    "li",
    { class: "panel study-card" },
    element(
      "div",
      { class: "study-card-head" },
      element("h2", {}, element("a", { href: pathOf(one.key) }, one.title)),
      pill(one.state, say(`state.${one.state}`)),
    ),
    element("p", { class: "soft small" }, [one.name, one.method, one.mode, one.run > 1 ? say("studies.run", { n: one.run }) : null].filter(Boolean).join(" · ")),
    element(
      "div",
      { class: "study-card-numbers" },
      element(
        "div",
        {},
        element("p", {}, element("b", {}, count(lists.finished)), ` ${say("now.of", { n: lists.planned })}`),
        meter(say("now.finished"), lists.finished, lists.planned),
      ),
      element("p", {}, say(one.population === "robots" ? "studies.robots" : "studies.people", { n: one.people }), one.here > 0 ? `, ${say("studies.here", { n: one.here })}` : ""),
      cost === null ? null : element("p", {}, say(cost.budget === null ? "studies.cost" : "studies.cost.of", { sum: money(cost.paid), budget: money(cost.budget ?? "") })),
      when === null ? null : element("p", {}, when),
    ),
    element("p", { class: "study-card-next" }, element("b", {}, say("studies.next")), " ", one.next.split("`").map((part, at) => (at % 2 === 1 ? element("code", {}, part) : part))),
  );
}
