// One person: steps, times, device, verdicts with their evidence, answers, messages; and what can be done about them.

import { element, fill } from "../../../web/element.js";
import { addressOf, read } from "../api.js";
import { pathOf } from "../bar.js";
import { askForAct } from "../acts.js";
import { minutes, moment, money, number, plainValue } from "../format.js";
import { button, empty, facts, head, marks, panel, pill, status, table } from "../parts.js";

/** @import { Desk, Page, PersonDocument, RatingShown, VerdictShown, VisitShown } from "../types" */

const ACTS = ["release", "reset", "let_in", "shut_out", "leave_out", "take_in"];

/** @type {Page} */
export default async function person(main, desk) {
  const { place, say, signal, me } = desk;
  const document = /** @type {PersonDocument} */ (
    await read(addressOf(place.study, `people/${encodeURIComponent(place.person)}`), signal)
  );
  const turn = (/** @type {string | null} */ who, /** @type {string} */ words) =>
    who === null ? null : element("a", { class: "button", href: pathOf(place.study, "people", who) }, say(words));
  fill(
    main,
    element("p", { class: "back" }, element("a", { href: pathOf(place.study, "people") }, say("person.all")), turn(document.newer, "person.newer"), turn(document.older, "person.older")),
    head(
      document.participant,
      pill(document.state, document.state_words),
      marks(desk, document),
    ),
    overview(document, desk),
    me.scopes.includes("moderate") ? acts(document, desk) : null,
    ...document.visits.map((visit) => visitPart(visit, document, desk)),
    document.acts.length + document.ledger.length > 0 ? history(document, desk) : null,
  );
}

/** @param {PersonDocument} document @param {Desk} desk */
function overview(document, { say }) {
  const last = document.visits[0];
  return facts([
    [say("person.came"), moment(document.began)],
    [say("person.at"), document.step],
    [say("person.minutes"), minutes(document.minutes)],
    [say("person.sessions"), number(document.sessions)],
    [say("person.accept"), say(`accept.${last?.accept ?? "look"}`)],
    [say("person.use"), say(document.use ? "yes" : "no")],
    [say("person.paid"), document.paid === null ? "–" : money(document.paid)],
    ...(document.verified === null ? [] : [/** @type {[string, string]} */ ([say("person.verified"), say(document.verified ? "yes" : "no")])]),
  ]);
}

/** @param {PersonDocument} document @param {Desk} desk */
function acts(document, desk) {
  const { say } = desk;
  const fits = (/** @type {string} */ kind) => {
    const isOpen = document.state === "under_way" || document.state === "left";
    if (kind === "release") return isOpen;
    if (kind === "let_in") return document.state === "shut_out" || (!isOpen && document.state !== "completed");
    if (kind === "shut_out") return document.state !== "shut_out";
    if (kind === "leave_out") return document.use;
    if (kind === "take_in") return !document.use;
    return document.state !== "withdrawn";
  };
  return panel(
    say("acts.title"),
    { name: "acts", foot: say("acts.foot") },
    element("div", { class: "buttons" }, ACTS.filter(fits).map((kind) =>
      button(say(`act.${kind}`), () => void askForAct(desk, { kind, who: document.participant }), { class: kind === "shut_out" || kind === "leave_out" ? "button-grave" : "" }),
    )),
  );
}

/** @param {VisitShown} visit @param {PersonDocument} document @param {Desk} desk */
function visitPart(visit, document, desk) {
  const { say, place, me } = desk;
  const replay = pathOf(place.study, "people", document.participant, visit.session);
  const isShown = me.scopes.includes("replay") && !visit.erased && visit.steps.length > 0;
  return element(
    "section",
    { class: "visit" },
    element(
      "div",
      { class: "page-head" },
      element("h2", {}, say("visit.title", { session: visit.session.slice(0, 8) })),
      pill(visit.outcome ?? "under_way", visit.outcome_words),
      isShown ? element("a", { class: "button button-primary", href: replay }, say("visit.replay")) : null,
    ),
    element(
      "p",
      { class: "soft small" },
      [moment(visit.began), visit.list === null ? null : say("visit.list", { n: visit.list }), visit.minutes === null ? null : say("visit.minutes", { time: minutes(visit.minutes) })]
        .filter(Boolean)
        .join(" · "),
    ),
    visit.erased ? empty(say("visit.erased"), say("visit.erased.words")) : null,
    visit.reasons.length > 0 ? element("ul", { class: "reasons" }, visit.reasons.map((reason) => element("li", {}, status("attention", reason)))) : null,
    element(
      "div",
      { class: "beside" },
      visit.verdicts.length > 0 ? verdicts(visit.verdicts, desk) : null,
      visit.steps.length > 0 ? steps(visit, replay, isShown, desk) : null,
      visit.device.length > 0 ? panel(say("device.title"), { name: `device-${visit.session}` }, facts(visit.device.map(({ name, value }) => [name, plainValue(value)]))) : null,
      visit.answers.length > 0 ? answers(visit, desk) : null,
      visit.ratings.length > 0 ? ratings(visit, replay, isShown, desk) : null,
    ),
  );
}

/** @param {VerdictShown[]} verdicts @param {Desk} desk */
function verdicts(verdicts, { say }) {
  return panel(
    say("verdicts.title"),
    { name: "verdicts", foot: say("verdicts.foot") },
    element(
      "ul",
      { class: "verdicts" },
      verdicts.map((one) => {
        const evidence = Object.entries(one.evidence);
        const told = [
          one.measured === null ? null : say("verdicts.measured", { value: plainValue(one.measured) }),
          one.needed === null ? null : say("verdicts.needed", { value: plainValue(one.needed) }),
        ].filter(Boolean);
        return element(
          "li",
          {},
          element(
            "details",
            {},
            element("summary", {}, status(one.verdict, one.title), element("span", { class: "soft" }, ` ${one.words || say(`verdict.${one.verdict}`)}`)),
            element("p", { class: "small" }, told.join(", ") || say("verdicts.nothing")),
            evidence.length > 0 ? facts(evidence.map(([name, value]) => [name.replaceAll("_", " "), plainValue(value)])) : null,
          ),
        );
      }),
    ),
  );
}

/** @param {VisitShown} visit @param {string} replay @param {boolean} isShown @param {Desk} desk */
function steps({ steps }, replay, isShown, { say }) {
  const rows = steps.map(({ key, title, at, seconds }) => [
    isShown ? element("a", { href: `${replay}?page=${encodeURIComponent(key)}` }, title) : title,
    moment(at),
    number(seconds),
  ]);
  return panel(say("steps.title"), { name: "steps" }, table(say("steps.title"), [say("steps.step"), say("steps.at"), say("steps.seconds")], rows, { names: 2 }));
}

/** @param {VisitShown} visit @param {Desk} desk */
function answers({ answers }, { say }) {
  const rows = answers.map(({ place, question, answer }) => [question, answer || "–", place]);
  return panel(say("answers.title"), { name: "answers" }, table(say("answers.title"), [say("answers.question"), say("answers.answer"), say("answers.place")], rows, { names: 3, class: "table-wraps" }));
}

/** @param {VisitShown} visit @param {string} replay @param {boolean} isShown @param {Desk} desk */
function ratings({ ratings }, replay, isShown, { say }) {
  const told = (/** @type {RatingShown} */ one) => (one.missing ? say(`missing.${one.missing}`) : `${number(one.raw ?? one.value)} / ${number(one.high)}`);
  const rows = ratings.map((one) => [
    isShown ? element("a", { href: `${replay}?page=${encodeURIComponent(one.key)}` }, String(one.position)) : String(one.position),
    one.question,
    one.content,
    one.other === null ? one.condition : `${one.condition} – ${one.other}`,
    told(one),
    one.use ? say("yes") : status("attention", one.reasons[0] ?? say("no")),
  ]);
  const heads = ["trial", "question", "content", "condition", "value", "use"].map((name) => say(`ratings.${name}`));
  return panel(say("ratings.title"), { name: "ratings" }, table(say("ratings.title"), heads, rows, { names: 6 }));
}

/** @param {PersonDocument} document @param {Desk} desk */
function history({ acts, ledger }, { say }) {
  const rows = [
    ...acts.map(({ at, kind, reason, by }) => ({ at, cells: [moment(at), by ? `${kind} (${by})` : kind, reason, "–"] })),
    ...ledger.map(({ at, what, event, amount, words }) => ({ at, cells: [moment(at), `${what}, ${event}`, words || "–", amount === null ? "–" : money(amount)] })),
  ].sort((one, other) => one.at.localeCompare(other.at));
  const heads = ["when", "what", "why", "amount"].map((name) => say(`history.${name}`));
  return panel(say("history.title"), { name: "history" }, table(say("history.title"), heads, rows.map(({ cells }) => cells), { names: 4, class: "table-wraps" }));
}
