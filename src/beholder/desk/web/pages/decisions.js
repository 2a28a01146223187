// Decide and pay: the table of decisions with their evidence, a signature, and what is owed.

import { element, fill } from "../../../web/element.js";
import { addressOf, queryOf, read } from "../api.js";
import { act, askAboutStudy, askTyped, reasonField } from "../acts.js";
import { pathOf } from "../bar.js";
import { ask } from "../dialog.js";
import { count, moment, money } from "../format.js";
import { button, choice, empty, facts, field, head, lines, marks, panel, status } from "../parts.js";
import { openRows } from "../rows.js";

/** @import { DecisionShown, DecisionsDocument, Desk, Page } from "../types" */

const PAGE = 100;
const TYPING_MS = 200;
/** Decisions of which the person is told. */
const TOLD = new Set(["reject", "return", "screen_out"]);

/** @type {Page} */
export default async function decisions(main, desk) {
  const { place, say, signal, me } = desk;
  const wanted = { search: place.query.get("search") ?? "", state: place.query.get("state") ?? "" };
  const address = (/** @type {number} */ offset) => addressOf(place.study, "decisions") + queryOf({ ...wanted, offset, limit: PAGE });
  let document = /** @type {DecisionsDocument} */ (await read(address(0), signal));
  const top = [head(say("decisions.title"), marks(desk, document)), ...document.problems.map((words) => element("p", { class: "health" }, status("attention", words)))];
  if (document.problems.length > 0) return fill(main, ...top, empty(say("decisions.away"), say("decisions.away.words")), closing(document, desk, false));
  if (document.all === 0) return fill(main, ...top, empty(say("decisions.none"), say("decisions.none.words")));

  const search = field(say("people.search"), { type: "search", value: wanted.search, placeholder: say("people.search.hint"), autocomplete: "off" });
  const filters = element("div", { class: "filters", role: "group", "aria-label": say("people.filter") });
  const list = element("div", { class: "panel panel-list" });
  const found = element("p", { class: "soft small", role: "status" });
  /** @type {ReturnType<typeof openRows<DecisionShown>> | null} */
  let rows = null;

  const show = () => {
    const all = Object.values(document.counts).reduce((sum, n) => sum + n, 0);
    fill(
      filters,
      [["", say("people.everybody"), all], ...Object.entries(document.counts).map(([pay, n]) => [pay, say(`pay.${pay}`), n])].map(([state, words, n]) =>
        element(
          "button",
          { class: "filter", type: "button", "aria-pressed": String(wanted.state === state), on: { click: () => { wanted.state = String(state); void again(); } } }, // prettier-ignore
          `${words} `,
          element("b", {}, count(Number(n))),
        ),
      ),
    );
    found.textContent = say("people.found", { n: document.total, of: document.all });
    rows?.close();
    rows = null;
    if (document.total === 0) return fill(list, empty(say("people.nothing"), say("people.nothing.words")));
    rows = openRows({
      label: say("decisions.title"),
      heads: ["who", "why", "pay", "use", "signed", "act"].map((name) => say(`decisions.head.${name}`)),
      kind: "decisions",
      total: document.total,
      page: PAGE,
      first: document.rows,
      read: async (offset) => (/** @type {DecisionsDocument} */ (await read(address(offset), signal))).rows,
      draw: (row) => cells(row, document, desk),
      open: (row) => void edit(row, document, desk),
      tall: 58,
    });
    fill(list, rows.element);
  };
  const again = async () => {
    const asked = JSON.stringify(wanted);
    const next = /** @type {DecisionsDocument} */ (await read(address(0), signal));
    if (JSON.stringify(wanted) !== asked) return;
    document = next;
    history.replaceState(null, "", pathOf(place.study, "decisions") + queryOf(wanted));
    show();
  };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing;
  search.input.addEventListener("input", () => {
    clearTimeout(typing);
    wanted.search = /** @type {HTMLInputElement} */ (search.input).value.trim();
    typing = setTimeout(() => void again(), TYPING_MS);
  });
  signal.addEventListener("abort", () => rows?.close());

  fill(
    main,
    ...top,
    element("div", { class: "beside" }, signing(document, desk, me.scopes.includes("decide")), paying(document, desk, me.scopes.includes("pay"))),
    element("div", { class: "tools" }, search.element, filters),
    found,
    list,
    closing(document, desk, me.scopes.includes("pay")),
  );
  show();
}

/** @param {DecisionShown} row @param {DecisionsDocument} document @param {Desk} desk */
function cells(row, document, desk) {
  const { say, place, me } = desk;
  const kind = row.pay === "look" ? "attention" : row.pay === "reject" ? "fail" : row.pay === "wait" || row.pay === "nothing" ? "unknown" : "pass";
  const who = row.participant
    ? element("a", { href: pathOf(place.study, "people", row.participant) }, row.participant.slice(0, 8))
    : element("code", {}, row.submission.slice(0, 10));
  return [
    who,
    element("span", { class: "two-lines", title: row.words }, row.words || "–"),
    element("span", {}, status(kind, say(`pay.${row.pay}`)), row.changed ? element("span", { class: "small soft" }, ` ${say("decisions.changed")}`) : null),
    row.use ? say("yes") : say("no"),
    row.signed !== null && !row.unsigned ? status("pass", row.signed.by) : row.unsigned ? status("attention", say("decisions.unsigned")) : "–",
    me.scopes.includes("decide")
      ? button(say("decisions.change"), () => void edit(row, document, desk), { "aria-label": say("decisions.change.of", { who: row.participant.slice(0, 8) || row.submission }) })
      : "–",
  ];
}

/** Ask for another decision about a row. @param {DecisionShown} row @param {DecisionsDocument} document @param {Desk} desk */
async function edit(row, document, desk) {
  const { say, place } = desk;
  const reason = reasonField(desk);
  const ways = [
    ["approve", say("decide.approve", { sum: document.reward === null ? say("decide.nothing") : money(document.reward) })],
    ...(document.screen_out === null ? [] : [["screen_out", say("decide.screen_out", { sum: money(document.screen_out) })]]),
    ["return", say("decide.return")],
    ...(row.grounds.length > 0 ? [["reject", say("decide.reject")]] : []),
  ];
  for (const other of new Set([row.pay, row.proposed])) {
    if (ways.every(([value]) => value !== other)) ways.push([other, say(`pay.${other}`)]);
  }
  const radio = (/** @type {string} */ name, /** @type {string} */ value, /** @type {string} */ words, /** @type {boolean} */ is) =>
    element("label", { class: "check" }, element("input", { type: "radio", name, value, checked: is }), words);
  const pays = element("fieldset", {}, element("legend", {}, say("decide.pay")), ways.map(([value, words]) => radio("pay", value ?? "", words ?? "", value === row.pay)));
  const uses = element("fieldset", {}, element("legend", {}, say("decide.use")), radio("use", "yes", say("decide.use.yes"), row.use), radio("use", "no", say("decide.use.no"), !row.use));
  const chosen = (/** @type {Element} */ of) => /** @type {HTMLInputElement | null} */ (of.querySelector("input:checked"))?.value ?? "";
  const grounds = /** @type {[string, string][]} */ (row.grounds.map((one) => [one, say(`category.${one}`)]));
  const category = choice(say("decide.category"), grounds, row.category ?? "", () => {});
  const message = lines(say("decide.message"), "", { name: "message" });
  const hint = element("p", { class: "soft small" });
  const sent = element("div", { class: "decide-message" }, category.element, message.element, hint);
  const written = () => message.input.value.trim();
  // An empty message is filled with what is proposed; a rejection that nobody proposed has none.
  const missing = () => (chosen(pays) !== "reject" || (written() === "" && row.proposed === "reject") ? 0 : Math.max(0, document.shortest_message - [...written()].length));
  let shown = row.pay;
  const show = () => {
    const pay = chosen(pays);
    // What was written for one decision says nothing about another one.
    if (pay !== shown) message.input.value = pay === row.pay ? row.message : "";
    shown = pay;
    sent.hidden = !TOLD.has(pay);
    category.element.hidden = pay !== "reject";
    hint.textContent = missing() > 0 ? say("decide.message.short", { n: missing() }) : written() === "" ? say("decide.message.usual") : "";
  };
  message.input.value = row.message;
  pays.addEventListener("change", show);
  message.input.addEventListener("input", show);
  show();
  const undo = row.changed
    ? button(say("decide.undo", { pay: say(`pay.${row.proposed}`) }), () => {
        for (const [of, value] of /** @type {[Element, string][]} */ ([[pays, row.proposed], [uses, row.proposed_use ? "yes" : "no"]])) {
          /** @type {HTMLInputElement | null} */ (of.querySelector(`input[value="${value}"]`))?.click();
        }
      })
    : null;
  const isDone = await ask(
    desk,
    {
      title: say("decide.title"),
      words: row.words,
      does: say("decide.does"),
      check: () => (missing() > 0 ? say("decide.message.short", { n: missing() }) : reason.value === "" ? say("act.reason.missing") : null),
      run: () => {
        const pay = chosen(pays);
        return act(desk, {
          kind: "decide", submission: row.submission, pay, use: chosen(uses) === "yes", reason: reason.value,
          category: pay === "reject" ? category.select.value : "", message: TOLD.has(pay) ? written() : "",
        }); // prettier-ignore
      },
    },
    facts([
      [say("decide.who"), row.participant ? element("a", { href: pathOf(place.study, "people", row.participant) }, row.participant) : row.submission],
      [say("decide.outcome"), say(`outcome.${row.outcome ?? "open"}`)],
      [say("decide.proposed"), say(`pay.${row.proposed}`)],
    ]),
    row.evidence.length > 0
      ? element("ul", { class: "reasons" }, row.evidence.map((one) => element("li", {}, status(one.verdict === "fail" ? "fail" : "unknown", `${one.title}: ${one.words || say("verdict.unknown")}`))))
      : element("p", { class: "soft" }, say("decide.no_evidence")),
    pays,
    uses,
    sent,
    reason.element,
    undo,
  );
  if (isDone) desk.redraw();
}

/** @param {DecisionsDocument} document @param {Desk} desk @param {boolean} may */
function signing(document, desk, may) {
  const { say } = desk;
  const last = document.rows.map(({ signed }) => signed).find((one) => one !== null);
  return panel(
    say("sign.title"),
    { name: "sign" },
    ...document.words.map((words) => element("p", {}, coded(words))),
    last ? element("p", { class: "soft small" }, say("sign.last", { by: last.by, at: moment(last.at) })) : null,
    may && document.unsigned > 0
      ? button(say("sign.does", { n: document.unsigned }), async () => {
          const is = await askTyped(desk, {
            title: say("sign.title"),
            words: say("sign.words", { n: document.unsigned }),
            does: say("sign.go"),
            label: say("sign.label", { name: desk.me.name }),
            typed: desk.me.name,
            run: () => act(desk, { kind: "sign", seen: document.seen, reason: say("sign.reason") }),
          });
          if (is) desk.redraw();
        }, { class: "button-primary" })
      : null,
  );
}

/** Return a sentence whose commands stand out. @param {string} words */
const coded = (words) => words.split("`").map((part, at) => (at % 2 === 1 ? element("code", {}, part) : part));

/** @param {DecisionsDocument} document @param {Desk} desk @param {boolean} may */
function closing({ closed, payment }, desk, may) {
  const { say } = desk;
  if (closed === null && payment === null) return null;
  return panel(
    say("closing.title"),
    { name: "closing" },
    closed === null ? element("p", {}, coded(say("closing.open"))) : status("pass", say("closing.done", { at: moment(closed) })),
    closed === null && may ? button(say("act.close"), () => void askAboutStudy(desk, "close")) : null,
  );
}

/** @param {DecisionsDocument} document @param {Desk} desk @param {boolean} may */
function paying({ payment, by_hand, list_waits }, desk, may) {
  const { say } = desk;
  if (payment === null) return null;
  const { owed } = payment;
  return panel(
    say("paying.title"),
    { name: "paying" },
    element("p", { class: "figure-value" }, owed === null ? "–" : money(owed), " ", element("small", {}, say("paying.owed"))),
    ...payment.words.map((words) => element("p", {}, coded(words))),
    ...payment.problems.map((words) => status("attention", words)),
    list_waits ? element("p", {}, coded(say("paying.list.waits"))) : null,
    may && list_waits ? button(say("act.paid"), () => void askAboutStudy(desk, "paid")) : null,
    may && owed !== null
      ? button(say(by_hand ? "paying.list" : "paying.does", { sum: money(owed) }), async () => {
          const is = await askTyped(desk, {
            title: say("paying.title"),
            words: say(by_hand ? "paying.list.words" : "paying.words", { sum: money(owed), n: payment.lines.filter(({ status: state }) => state === "owed").length }),
            does: say(by_hand ? "paying.list.go" : "paying.go"),
            label: say("paying.label", { sum: owed }),
            typed: owed,
            isGrave: !by_hand,
            run: (typed) => act(desk, { kind: "pay", amount: typed, reason: say("paying.reason") }),
          });
          if (is) desk.redraw();
        }, { class: "button-primary" })
      : null,
  );
}
