// Statements beside what they are about: all on one page, one per tab, or a single one.

import { beside } from "./beside.js";
import { fill } from "../element.js";
import { commentOf, lined, statementOf } from "./statements.js";
import { stylesheet } from "../stylesheet.js";

/** @import { Answer, Json, Stage, Trial, Words } from "../types" */
/** @import { Draft, Statement } from "./statements.js" */

/** Ask all questions of the trial about its rated slot; return the answer after Next.
 *  @param {Trial} trial @param {Stage} stage @param {{ sound: string | null }} options @returns {Promise<Answer>} */
export async function survey(trial, stage, { sound }) {
  const { element, say, main, draft, player } = stage;
  await Promise.all([stylesheet("vote"), stylesheet("survey")]);
  const slot = trial.slots.find(({ rated }) => rated) ?? trial.slots[0];
  const scenario = /** @type {Words | undefined} */ (trial.extra["scenario"]);
  const isTabs = trial.extra["layout"] === "tabs" && trial.asked.length > 1;
  const isFailed = trial.slots.some(({ id }) => player.failure(id) !== null);
  /** @type {Draft} */
  const given = {
    scores: {},
    ticks: {},
    comment: "",
    .../** @type {{ [key: string]: Json }} */ (draft.get("survey") ?? {}),
  };
  let onChange = () => {};
  const change = () => {
    draft.set("survey", given);
    onChange();
  };
  const ticked = trial.asked.filter(({ ticks }) => ticks.length > 0).at(-1);
  const comment = ticked !== undefined && commentOf(stage, given, change);
  const statements = isFailed
    ? []
    : trial.asked.map((asked) =>
        statementOf(asked, slot.id, stage, given, {
          isAlone: isTabs || trial.asked.length === 1,
          isLowFirst: trial.extra["columns"] === "low-first",
          onChange: change,
        }),
      );

  const form = element("section", { class: "survey-form", "aria-label": say("survey.form") });
  fill(
    main,
    element(
      "div",
      { class: trial.together ? "survey survey-together" : trial.stage === "separate" ? "survey survey-alone" : "survey" },
      trial.stage === "separate" ? null : beside(trial, stage, { sound }),
      element(
        "div",
        { class: "survey-side" },
        scenario && element("p", { class: "survey-scenario" }, scenario),
        !isFailed && stage.marks?.panel({ clip: false }),
        form,
      ),
    ),
  );
  if (isFailed) await drawFailure();
  else if (isTabs) await drawTabs();
  else await drawPage();

  player.pause(); // while the answer is on its way nothing plays, and the log tells of the last play
  const missing = stage.missing();
  /** @template T @param {"scale" | "ticks"} kind @param {(id: string) => T} read */
  const told = (kind, read) =>
    Object.fromEntries(
      trial.asked
        .filter(({ ticks }) => (ticks.length > 0) === (kind === "ticks"))
        .map(({ id }) => [id, isFailed ? {} : { [slot.id]: read(id) }]),
    );
  const said = given.comment.trim();
  const scores = told("scale", (id) => given.scores[id]);
  const ticks = told("ticks", (id) => given.ticks[id]);
  return {
    ...(Object.keys(scores).length > 0 ? { scores } : {}),
    ...(Object.keys(ticks).length > 0 ? { ticks } : {}),
    ...(said === "" ? {} : { comment: said }),
    ...(Object.keys(missing).length > 0 ? { missing } : {}),
  };

  /** All statements on one page. */
  async function drawPage() {
    let isMarked = false;
    const open = () => statements.filter((one) => one.isOpen());
    const wayOn = stage.next({
      ready: say("survey.ready", { n: statements.length }),
      gap() {
        const left = open();
        if (left.length === 0) return null;
        return {
          reason: reasonFor(left.length, isMarked),
          focus() {
            isMarked = true;
            for (const one of statements) one.mark(one.isOpen());
            wayOn.reason.textContent = reasonFor(left.length, isMarked);
            left[0].focus();
          },
        };
      },
    });
    onChange = () => {
      if (isMarked) for (const one of statements) one.mark(one.isOpen());
      wayOn.refresh();
    };
    const isAlone = statements.length === 1;
    fill(
      form,
      !isAlone && element("h1", { tabindex: "-1" }, title()),
      element("div", { class: "survey-body" }, lined(statements, stage), comment),
      element("div", { class: "survey-foot" }, wayOn.reason, wayOn.button),
    );
    const keys = bindKeys(() => statements, wayOn.button);
    focusTitle();
    await wayOn.done;
    keys.abort();
  }

  /** One statement per tab, in any order. */
  async function drawTabs() {
    const count = statements.length;
    const open = () => statements.findIndex((one) => one.isOpen());
    const panel = element("div", { class: "survey-panel", id: "panel", role: "tabpanel", tabindex: "-1" });
    /** @type {(place: number) => void} */
    let go = () => {};
    const tabs = statements.map((_, place) =>
      element(
        "button",
        {
          class: "tab",
          id: `tab-${place + 1}`,
          type: "button",
          role: "tab",
          "aria-controls": "panel",
          on: { click: () => go(place), keydown: (/** @type {KeyboardEvent} */ event) => moveTab(event, place) },
        },
        element("span", {}, place + 1),
        stage.icon("tick"),
      ),
    );
    fill(form, element("div", { class: "tabs", role: "tablist", "aria-label": say("survey.tabs") }, tabs), panel);

    /** @param {KeyboardEvent} event @param {number} place */
    function moveTab(event, place) {
      const step = document.documentElement.dir === "rtl" ? -1 : 1;
      const next = { ArrowRight: place + step, ArrowLeft: place - step, Home: 0, End: count - 1 }[event.key];
      if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      const to = (next + count) % count;
      go(to);
      tabs[to].focus();
    }
    function drawState() {
      statements.forEach((one, place) => {
        tabs[place].classList.toggle("is-done", !one.isOpen());
        const values = { place: place + 1, n: count };
        tabs[place].setAttribute("aria-label", say(one.isOpen() ? "survey.tab" : "survey.tab.done", values));
      });
    }

    /** Show one statement; resolve to the place of the one to show next. @param {number} place @returns {Promise<number>} */
    function drawTab(place) {
      return new Promise((resolve) => {
        const one = statements[place];
        const isLast = place === count - 1;
        go = resolve;
        const wayOn = stage.next({
          word: isLast ? say("next") : say("survey.tab.next"),
          ready: say(isLast ? "survey.ready" : "card.ready", { n: count }),
          gap() {
            if (one.isOpen()) return { reason: say("card.missing"), focus: () => one.focus() };
            if (!isLast || open() === -1) return null;
            const left = statements.filter((other) => other.isOpen()).length;
            return { reason: reasonFor(left, false), focus: () => resolve(open()) };
          },
        });
        onChange = () => {
          drawState();
          wayOn.refresh();
        };
        tabs.forEach((tab, at) => {
          tab.setAttribute("aria-selected", String(at === place));
          tab.tabIndex = at === place ? 0 : -1;
        });
        panel.setAttribute("aria-labelledby", `tab-${place + 1}`);
        const back =
          place > 0 &&
          element(
            "button",
            {
              class: "button",
              id: "back",
              type: "button",
              "aria-label": say("survey.tab.back"),
              on: { click: () => resolve(place - 1) },
            },
            stage.icon("back"),
          );
        fill(
          panel,
          element("p", { class: "soft small" }, say("survey.tab", { place: place + 1, n: count })),
          element("div", { class: "survey-body" }, one.element, one.asked === ticked && comment),
          element("div", { class: "survey-foot" }, back, wayOn.reason, wayOn.button),
        );
        drawState();
        const keys = bindKeys(() => [one], wayOn.button);
        const isOnTab = document.activeElement?.getAttribute("role") === "tab";
        if (!isOnTab) focusTitle();
        void wayOn.done.then(() => resolve(place + 1));
        stage.signal.addEventListener("abort", () => keys.abort());
        over = () => keys.abort();
      });
    }

    let over = () => {};
    for (let place = Math.min(Number(draft.get("tab") ?? 0), count - 1); place < count;) {
      draft.set("tab", place);
      place = await drawTab(place);
      over();
    }
  }

  /** What could not be shown is not asked about. */
  async function drawFailure() {
    const wayOn = stage.next({ ready: say("card.failed.on"), gap: () => null });
    fill(
      form,
      element("h1", { tabindex: "-1" }, say(`card.failed.${slot.media.medium}`)),
      element("div", { class: "survey-foot" }, wayOn.reason, wayOn.button),
    );
    focusTitle();
    await wayOn.done;
  }

  function title() {
    const isAgreeing = trial.asked.every(
      ({ scale, ticks }) =>
        ticks.length === 0 && scale.labels.some(([value, word]) => value === scale.max && word === say("agree.5")),
    );
    return say(isAgreeing ? "survey.title.agree" : "survey.title");
  }

  function focusTitle() {
    const heading = form.querySelector("h1");
    if (heading instanceof HTMLElement) heading.focus({ preventScroll: true });
  }

  /** @param {number} n @param {boolean} isMarked */
  function reasonFor(n, isMarked) {
    if (statements.length === 1) return say("card.missing");
    return say(isMarked ? "survey.left.marked" : "survey.left", { n });
  }

  /** Digits choose the column, counted from the start of the row. @param {() => Statement[]} shown
   *  @param {HTMLButtonElement} next */
  function bindKeys(shown, next) {
    const done = new AbortController();
    const columns = Math.min(9, Math.max(0, ...shown().map((one) => one.inputs.length)));
    const wanted = () =>
      shown().find((one) => one.element.contains(document.activeElement)) ??
      shown().find((one) => one.isOpen()) ??
      shown().at(-1);
    stage.keys(
      [
        ...(columns === 0
          ? []
          : [
              {
                keys: Array.from({ length: columns }, (_, place) => String(place + 1)),
                shown: `1 – ${columns}`,
                label: say("survey.keys.choose"),
                /** @param {string} key */
                run(key) {
                  const input = wanted()?.inputs[Number(key) - 1];
                  if (input === undefined) return;
                  stage.log("key", slot.id, { key });
                  input.click();
                  input.focus();
                },
              },
            ]),
        { keys: [], shown: "← →", label: say("survey.keys.arrows"), run() {} },
        { keys: ["enter"], shown: say("keys.enter"), label: say("keys.next"), run: () => next.click() },
      ],
      done.signal,
    );
    return done;
  }
}
