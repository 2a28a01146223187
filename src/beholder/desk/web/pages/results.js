// Results: means under code names until unblinded; nothing that looking early would spoil.

import { element, fill } from "../../../web/element.js";
import { addressOf, read } from "../api.js";
import { act, reasonField } from "../acts.js";
import { means } from "../charts.js";
import { ask } from "../dialog.js";
import { count, moment, number } from "../format.js";
import { button, empty, head, marks, panel, pill, status, table } from "../parts.js";

/** @import { Desk, Page, ResultsDocument } from "../types" */

/** @type {Page} */
export default async function results(main, desk) {
  const { place, say, signal } = desk;
  const document = /** @type {ResultsDocument} */ (await read(addressOf(place.study, "results"), signal));
  const state = document.state === "none" ? null : pill(document.state, say(`results.${document.state}`));
  const top = [
    head(say("results.title"), state, marks(desk, document)),
    element("p", { class: "results-words" }, status(document.state === "final" ? "pass" : "unknown", document.words)),
    document.look ? element("p", {}, document.look) : null,
    (document.since ?? 0) > 0 ? element("p", {}, status("attention", say("results.since", { n: document.since ?? 0 }))) : null,
  ];
  fill(
    main,
    ...top,
    document.questions.length === 0 ? empty(say("results.none"), say("results.none.words", { finished: document.finished, lists: document.lists })) : null,
    ...document.questions.map((question) => questionPart(question, document, desk)),
    blinding(document, desk),
    looks(document, desk),
  );
  if (document.report)
    main.append(
      panel(
        say("report.title"),
        { name: "report", aside: element("a", { href: addressOf(place.study, "report/index.html"), target: "_blank", rel: "noopener" }, say("report.alone")) },
        element("iframe", { class: "report", src: addressOf(place.study, "report/index.html"), title: say("report.title") }),
      ),
    );
}

/** @param {ResultsDocument["questions"][number]} question @param {ResultsDocument} document @param {Desk} desk */
function questionPart({ id, text, metric, conditions, pairs }, document, desk) {
  const { say, signal } = desk;
  const box = element("div", { class: "scroll plot-box" });
  const draw = () => {
    const width = Math.max(460, Math.floor(box.clientWidth));
    fill(box, means(conditions, say("results.picture", { question: text }), say, width));
  };
  const watched = new ResizeObserver(draw);
  watched.observe(box);
  signal.addEventListener("abort", () => watched.disconnect());
  const interval = (/** @type {{ ci_low?: number | null, ci_high?: number | null }} */ { ci_low, ci_high }) =>
    ci_low === null || ci_low === undefined ? say("results.hidden") : `${number(ci_low)} – ${number(ci_high)}`;
  const rows = conditions.map((one) => [one.name, number(one.mean), interval(one), one.n === undefined || one.n === null ? "–" : count(one.n)]);
  const compared = pairs.map((one) => [
    `${one.first} – ${one.second}`,
    number(one.mean_difference ?? one.estimate),
    interval(one),
    one.p_holm === null || one.p_holm === undefined ? say("results.hidden") : one.p_holm < 0.001 ? "< 0.001" : number(Math.round(one.p_holm * 1000) / 1000),
  ]);
  return panel(
    text,
    { name: `question-${id}`, aside: element("span", { class: "soft small" }, metric) },
    box,
    element(
      "details",
      {},
      element("summary", {}, say("results.table")),
      table(text, [say("results.condition"), say("results.mean"), say("results.interval", { level: Math.round(100 * (document.level ?? 0.95)) }), say("results.ratings")], rows),
    ),
    pairs.length > 0
      ? element("details", {}, element("summary", {}, say("results.pairs", { n: pairs.length })), table(say("results.pairs", { n: pairs.length }), [say("results.pair"), say("results.difference"), say("results.interval", { level: Math.round(100 * (document.level ?? 0.95)) }), say("results.p")], compared))
      : null,
  );
}

/** @param {ResultsDocument} document @param {Desk} desk */
function blinding(document, desk) {
  const { say, me } = desk;
  const rows = document.unblinded.map(({ at, by, reason }) => [moment(at), by ?? "–", reason]);
  const reason = reasonField(desk);
  return panel(
    say("blinding.title"),
    { name: "blinding" },
    element("p", {}, say(document.blinded ? "blinding.words" : "blinding.open")),
    document.report_waits === null ? null : element("p", { class: "soft" }, say(`report.waits.${document.report_waits}`)),
    rows.length > 0 ? table(say("blinding.title"), [say("history.when"), say("blinding.by"), say("history.why")], rows, { names: 3 }) : null,
    document.blinded && me.scopes.includes("unblind")
      ? button(say("blinding.does"), async () => {
          const is = await ask(
            desk,
            {
              title: say("blinding.does"),
              words: say(document.open ? "blinding.ask.open" : "blinding.ask"),
              does: say("blinding.go"),
              isGrave: document.open,
              check: () => (reason.value === "" ? say("act.reason.missing") : null),
              run: () => act(desk, { kind: "unblind", reason: reason.value }),
            },
            reason.element,
          );
          if (is) desk.redraw();
        })
      : null,
  );
}

/** @param {ResultsDocument} document @param {Desk} desk */
function looks({ looks }, { say }) {
  if (looks.length === 0) return null;
  const rows = looks.map(({ at, participants, command }) => [moment(at), count(participants), command]);
  return panel(say("looks.title"), { name: "looks", foot: say("looks.foot") }, table(say("looks.title"), [say("history.when"), say("looks.people"), say("looks.command")], rows));
}
