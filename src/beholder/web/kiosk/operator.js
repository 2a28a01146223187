// The operator's screen: a row for each station, who sits there, how far they are, and who comes next.

import { connectLab, Declined } from "../client.js";
import { element, fill } from "../element.js";
import { openAside } from "../frame/aside.js";
import { notice } from "../frame/sheet.js";

/** @import { Laboratory, Say, Station } from "../types" */

const EVERY_MS = 2000;

void start();

async function start() {
  const { say, title, main } = await openAside();
  const lab = connectLab(new URLSearchParams(location.search).get("key") ?? "");
  const banner = element("p", { class: "lab-away", role: "status", hidden: true });
  main.before(banner);
  const rows = openRows(say, {
    onNext: (station, after) => act(() => lab.next(station, after)),
    onBack: (station, number) => act(() => lab.back(station, number)),
  });
  const figures = element("p", { class: "soft", id: "figures" });
  const addresses = element("ol", { class: "lab-addresses" });
  fill(
    main,
    element(
      "div",
      { class: "sheet lab" },
      element("div", { class: "lead" }, element("h1", {}, say("lab.operator")), figures),
      rows.element,
      element(
        "details",
        { class: "panel" },
        element("summary", {}, say("lab.addresses")),
        element("p", { class: "soft" }, say("lab.addresses.text")),
        addresses,
      ),
    ),
  );

  /** @param {() => Promise<unknown>} ask */
  async function act(ask) {
    await ask().catch(tell);
    await look();
  }

  /** @param {Error} error */
  function tell(error) {
    banner.textContent = error instanceof Declined ? error.message : say("lab.away");
    banner.hidden = false;
  }

  async function look() {
    try {
      show(await lab.overview());
      banner.hidden = true;
    } catch (error) {
      if (error instanceof Declined && error.status === 401) {
        fill(main, notice(say("closed.no_key"), say("lab.key")));
        return false;
      }
      tell(/** @type {Error} */ (error));
    }
    return true;
  }

  /** @param {Laboratory} seen */
  function show({ title: name, completed, lists, finished, stations, addresses: places }) {
    title.textContent = name;
    fill(
      figures,
      `${completed ? say("lab.done", { n: completed }) : say("lab.none")}. ${say("lab.lists", { finished, lists })}.`,
    );
    rows.show(stations);
    if (addresses.childElementCount === 0)
      fill(
        addresses,
        places.map((place, at) => {
          const href = new URL(place, location.href).href;
          return element("li", {}, element("b", {}, say("lab.station", { station: String(at + 1) })), element("code", {}, href));
        }),
      );
  }

  while (await look()) await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
}

/** Return the rows of the stations. Each keeps its buttons from look to look, so that none moves under a finger.
 *  @param {Say} say
 *  @param {{ onNext: (station: number, after: number | null) => void, onBack: (station: number, number: number) => void }} acts */
function openRows(say, { onNext, onBack }) {
  const list = element("ul", { class: "stations" });
  /** @type {Map<number, ReturnType<typeof openRow>>} */
  const rows = new Map();

  /** @param {number} station */
  function openRow(station) {
    /** @type {Station | null} */
    let at = null;
    const who = element("b", { class: "station-who" });
    const where = element("span", { class: "station-where" });
    const meter = element("span", { class: "meter", hidden: true }, element("span", { class: "meter-fill" }));
    const minutes = element("span", { class: "station-minutes soft" });
    const next = button("next", say("lab.next"), () => {
      if (at?.state === "under_way") ask(true);
      else onNext(station, at?.number ?? null);
    });
    const back = button("back", "", () => at?.previous && onBack(station, at.previous), "button-quiet");
    const question = element("span", { class: "station-sure", role: "alert" });
    const yes = button("yes", say("lab.sure.yes"), () => {
      ask(false);
      onNext(station, at?.number ?? null);
    }, "button-grave");
    const no = button("no", say("lab.sure.no"), () => ask(false));
    const plain = element("div", { class: "station-acts" }, back, next);
    const sure = element("div", { class: "station-acts", hidden: true }, question, no, yes);
    const row = element(
      "li",
      { class: "panel station", id: `station-${station}` },
      element("span", { class: "station-name" }, say("lab.station", { station: String(station) })),
      element("div", { class: "station-person" }, who, where),
      element("div", { class: "station-time" }, meter, minutes),
      plain,
      sure,
    );

    /** @param {boolean} isAsked */
    function ask(isAsked) {
      plain.hidden = isAsked;
      sure.hidden = !isAsked;
      question.textContent = isAsked ? say("lab.sure", { number: String(at?.number) }) : "";
      (isAsked ? no : next).focus();
    }

    /** @param {Station} now */
    function show(now) {
      if (!sure.hidden && (now.number !== at?.number || now.state !== "under_way")) ask(false);
      at = now;
      row.dataset["state"] = now.state;
      who.textContent = now.number === null ? "" : say("lab.participant", { number: String(now.number) });
      where.textContent = placeOf(now, say);
      const [place, total] = now.place ?? [0, 0];
      meter.hidden = total === 0;
      meter.firstElementChild instanceof HTMLElement &&
        meter.firstElementChild.style.setProperty("--value", String(total ? (100 * (place - 1)) / total : 0));
      minutes.textContent = now.minutes == null ? "" : say("lab.minutes", { n: now.minutes });
      next.hidden = now.state === "ready"; // a number that nobody began under is for whoever sits down
      next.classList.toggle("button-primary", now.state !== "under_way");
      back.hidden = now.previous === null;
      back.textContent = now.previous === null ? "" : say("lab.back", { number: String(now.previous) });
    }
    return { row, show };
  }

  return {
    element: list,
    /** @param {Station[]} stations */
    show(stations) {
      for (const at of stations) {
        const row = rows.get(at.station) ?? openRow(at.station);
        rows.set(at.station, row);
        row.show(at);
        if (!row.row.isConnected) list.append(row.row);
      }
    },
  };
}

/** @param {string} name @param {string} word @param {() => void} onPress @param {string} [look] */
function button(name, word, onPress, look = "") {
  return element("button", { class: `button ${look}`, "data-act": name, type: "button", on: { click: onPress } }, word);
}

/** Return where somebody is, in words. @param {Station} at @param {Say} say */
function placeOf({ state, outcome, kind, place }, say) {
  if (state === "ended") return say(`lab.ended.${outcome}`);
  if (state !== "under_way") return say(`lab.state.${state}`);
  const [here, total] = place ?? [0, 0];
  return say(`lab.kind.${kind}`, { place: String(here), total: String(total) });
}
