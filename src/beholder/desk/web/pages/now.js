// Now: is it healthy? Everything on one screen, live.

import { element, fill } from "../../../web/element.js";
import { askAboutStudy } from "../acts.js";
import { addressOf, follow, read } from "../api.js";
import { pathOf, tellLive } from "../bar.js";
import { columns, flow, flowKey, heat, shortest } from "../charts.js";
import { count, minutes, money, number, percent, time, until } from "../format.js";
import { button, empty, figure, head, marks, meter, panel, pill, status, table } from "../parts.js";

/** @import { Desk, Monitor, NowDocument, Page, PeopleDocument } from "../types" */

/** @type {Page} */
export default async function now(main, desk) {
  const { place, signal } = desk;
  /** @type {PeopleDocument | null} */
  let people = null;
  /** @type {NowDocument | null} */
  let last = null;
  let isLive = true;
  const parts = element("div", { class: "now" });
  const alarms = element("div", { class: "alarms", role: "status" });

  const show = () => {
    if (last === null || signal.aborted) return;
    tellLive(desk, isLive, time(last.monitor.at));
    const told = alarmsOf(last.monitor, desk);
    if (alarms.textContent !== told.textContent) fill(alarms, told);
    const scrolled = [...parts.querySelectorAll(".scroll")].map((node) => node.scrollLeft);
    fill(parts, ...panels(last, people, desk));
    [...parts.querySelectorAll(".scroll")].forEach((node, at) => (node.scrollLeft = scrolled[at] ?? 0));
  };
  const readPeople = async () => {
    if (!desk.me.scopes.includes("people")) return;
    people = await read(`${addressOf(place.study, "people")}?limit=8`, signal);
  };

  last = /** @type {NowDocument} */ (await read(addressOf(place.study, "now"), signal));
  await readPeople();
  const mayPause = desk.me.scopes.includes("pay") && last.monitor.population === "people" && last.monitor.arrived > 0;
  const pause = mayPause ? button(desk.say("act.pause"), () => void askAboutStudy(desk, "pause")) : null;
  fill(main, head(last.monitor.title, marks(desk, { ...last, population: last.monitor.population }), pause), alarms, parts);
  show();
  let reading = false;
  follow(
    place.study,
    signal,
    (/** @type {NowDocument} */ document) => {
      last = document;
      show();
      if (reading) return;
      reading = true;
      readPeople()
        .then(show, () => {})
        .finally(() => (reading = false));
    },
    (is) => {
      isLive = is;
      show();
    },
  );
}

/** Return whether it is healthy, in a sentence, with every alarm. @param {Monitor} monitor @param {Desk} desk */
function alarmsOf(monitor, { say }) {
  if (monitor.alarms.length === 0) {
    const words = say(monitor.arrived === 0 ? "now.nobody" : "now.healthy");
    return element("p", { class: "health is-well" }, status("pass", words));
  }
  return element(
    "div",
    { class: "health" },
    element("h2", { class: "unseen" }, say("now.alarms", { n: monitor.alarms.length })),
    element("ul", {}, monitor.alarms.map((alarm) => element("li", {}, status("attention", coded(alarm))))),
  );
}

/** Return a sentence whose commands stand out. @param {string} words */
const coded = (words) => words.split("`").map((part, at) => (at % 2 === 1 ? element("code", {}, part) : part));

/** @param {NowDocument} document @param {PeopleDocument | null} people @param {Desk} desk */
function panels({ monitor, fill: plan }, people, desk) {
  const { say, place } = desk;
  const first = figures(monitor, desk);
  if (monitor.arrived === 0) {
    const link = monitor.link ? element("p", {}, element("a", { href: monitor.link, class: "break" }, monitor.link)) : element("p", {}, coded(say("now.launch")));
    return [first, element("div", { class: "panel panel-wide" }, empty(say("now.nobody"), say("now.nobody.words"), link))];
  }
  const behind = shortest(plan);
  return [
    first,
    panel(say("flow.title"), { name: "flow", aside: flowKey(say) }, flow(monitor.steps, monitor.lists.planned, say)),
    panel(
      say("heat.title"),
      {
        name: "heat",
        aside: element("span", { class: "key" }, say("heat.fewer"), [1, 3, 5].map((step) => element("i", { class: `heat-${step}`, "aria-hidden": "true" })), say("heat.more")),
        foot:
          behind === null
            ? null
            : status("attention", say("heat.behind", { condition: behind.condition, content: behind.content, n: Math.round(100 * behind.behind) })),
      },
      plan.conditions.length > 0 ? heat(plan, say) : element("p", { class: "soft" }, say("heat.none")),
    ),
    leavers(monitor, desk),
    checks(monitor, desk),
    people === null ? null : recent(people, desk, pathOf(place.study, "people")),
    monitor.platform === null ? null : platform(monitor, desk),
  ].filter((one) => one !== null);
}

/** @param {Monitor} monitor @param {Desk} desk */
function figures(monitor, { say }) {
  const { lists, earned, cost } = monitor;
  const ended = Object.values(monitor.ended).reduce((sum, n) => sum + n, 0);
  const left = lists.planned - lists.finished;
  const pace =
    left <= 0 && lists.planned > 0
      ? say("now.full")
      : monitor.finished_at !== null
        ? say("now.until", { when: until(monitor.finished_at, monitor.at, say) })
        : say(monitor.per_hour === null ? "now.pace.none" : "now.pace.unknown");
  const shown = [
    figure(
      say("now.finished"),
      count(lists.finished),
      { small: say("now.of", { n: lists.planned }), note: pace, wide: true },
      meter(say("now.finished"), lists.finished, lists.planned),
    ),
    figure(say("now.here"), count(monitor.here), { note: say("now.present", { n: monitor.present }) }),
    figure(say("now.median"), minutes(monitor.minutes), {
      note:
        monitor.told_minutes === null
          ? say("now.told.none")
          : monitor.minutes !== null && monitor.minutes > monitor.told_minutes * 1.25
            ? status("attention", say("now.told.longer", { time: minutes(monitor.told_minutes) }))
            : say("now.told", { time: minutes(monitor.told_minutes) }),
    }),
    earned === null
      ? null
      : figure(say("now.hourly"), earned.hourly === null ? "–" : money(earned.hourly), {
          note:
            earned.hourly === null
              ? say("now.reward", { sum: money(earned.reward) })
              : earned.floor === null
                ? say("now.floor.none", { sum: money(earned.reward) })
                : status(earned.top_up === null ? "pass" : "fail", say(earned.top_up === null ? "now.floor.above" : "now.floor.below", { sum: money(earned.floor) })),
        }),
    cost === null
      ? null
      : figure(say("now.cost"), money(cost.paid), {
          small: cost.budget === null ? null : say("now.budget", { sum: money(cost.budget) }),
          note: cost.committed === null ? say("now.committed.none") : say("now.committed", { sum: money(cost.committed) }),
        }),
    figure(say("now.ended"), count(ended), {
      small: percent(ended, monitor.arrived),
      note: say("now.left", { n: monitor.left }),
    }),
  ].filter((one) => one !== null);
  return element("section", { class: "figures", "aria-label": say("now.glance") }, shown);
}

/** @param {Monitor} monitor @param {Desk} desk */
function leavers({ steps, trials, left, arrived }, { say }) {
  const before = steps.filter(({ key }) => key !== "trials" && key !== "end");
  const places = /** @type {[string, number][]} */ ([
    ...before.filter(({ key }) => !key.startsWith("questions:after")).map((step) => [step.title, step.left]),
    ...trials.map((trial) => [trial.key.split(":")[1] ?? "", trial.left]),
    ...before.filter(({ key }) => key.startsWith("questions:after")).map((step) => [step.title, step.left]),
  ]);
  const aside = element("span", { class: "soft small" }, say("left.of", { n: left, of: arrived }));
  const body = left > 0 ? columns(places, say("left.title")) : element("p", { class: "soft" }, say("left.none"));
  return panel(say("left.title"), { name: "left", aside, foot: left > 0 ? say("left.axis") : null }, body);
}

/** @param {Monitor} monitor @param {Desk} desk */
function checks({ checks }, { say }) {
  if (checks.length === 0) return null;
  const rows = checks.map(({ title, met, failed, ended }) => [title, count(met), count(failed), count(ended)]);
  const heads = ["name", "met", "failed", "ended"].map((name) => say(`checks.${name}`));
  return panel(say("checks.title"), { name: "checks", foot: say("checks.foot") }, table(say("checks.title"), heads, rows));
}

/** @param {PeopleDocument} people @param {Desk} desk @param {string} all */
function recent({ people, all: n }, { say, place }, all) {
  const rows = people.map((one) => [
    element("a", { href: pathOf(place.study, "people", one.participant) }, one.participant.slice(0, 8)),
    time(one.last),
    one.step,
    minutes(one.minutes),
    one.failed > 0 ? status("attention", one.reasons[0] ?? say("recent.failed", { n: one.failed })) : one.state === "completed" ? status("pass", say("recent.passed")) : "–",
    pill(one.state, one.state_words),
  ]);
  const heads = ["who", "last", "step", "time", "checks", "state"].map((name) => say(`recent.${name}`));
  return panel(
    say("recent.title"),
    { name: "recent", aside: element("a", { href: all }, say("recent.all", { n })) },
    table(say("recent.title"), heads, rows, { names: 6 }),
  );
}

/** @param {Monitor} monitor @param {Desk} desk */
function platform({ platform }, { say }) {
  if (platform === null) return null;
  const rows = Object.entries(platform.statuses).map(([name, n]) => [say(`status.${name}`), number(n)]);
  return panel(
    say("platform.title"),
    { name: "platform", foot: say(`platform.${platform.state}`) },
    meter(say("platform.places"), platform.taken, platform.places),
    element("p", { class: "soft small" }, say("platform.taken", { n: platform.taken, of: platform.places })),
    table(say("platform.title"), [say("platform.status"), say("platform.n")], rows),
  );
}
