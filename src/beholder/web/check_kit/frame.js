// What the pages of all checks share: a heading, what was found the last time, the task, and the way on.

import { Declined, Unreachable } from "../client.js";
import { element, fill } from "../element.js";
import { icon } from "../icons.js";
import { pressed } from "../frame/sheet.js";
import { stylesheet } from "../stylesheet.js";

/** @import { Page } from "../run.js" */
/** @import { Child, CheckStep } from "../types" */

export const CANNOT = { cannot: true };

/** Show one screen of a check. `gap` says what is still to do, or null; `next` is the word on the button; `coming` is
 *  what the page is about and may still have to be drawn: until then nobody goes on, and where it fails, so does this.
 *  Resolves with "next", or with "cannot" when somebody says that they cannot take this check.
 *  @param {CheckStep} step @param {Page} page
 *  @param {{ title: string, text?: Child, body: Child, gap?: () => { reason: string, focus(): void } | null,
 *            next?: string, isPlain?: boolean, coming?: Promise<unknown>,
 *            onShown?: (refresh: () => void) => void }} screen
 *  @returns {Promise<"next" | "cannot">} */
export async function ask(step, page, screen) {
  const { main, say, status, log } = page;
  await stylesheet("checks");
  if (page.signal.aborted) return new Promise(() => {}); // a preview has gone elsewhere while pictures came
  const reason = element("p", { class: "reason", id: "reason" });
  const on = element(
    "button",
    { class: "button button-primary", id: "next", type: "button", "aria-describedby": "reason" },
    screen.next ?? say("next"),
  );
  const out = step.gate ? wayOut(page) : null;
  let isHere = screen.coming === undefined;
  const gap = () => {
    const left = screen.gap?.() ?? null;
    return isHere || left !== null ? left : { reason: say("check.coming"), focus: () => {} };
  };
  const refresh = () => {
    const left = gap();
    reason.textContent = left?.reason ?? "";
    reason.classList.remove("is-asked");
    on.setAttribute("aria-disabled", String(left !== null));
  };
  fill(
    main,
    element(
      "div",
      { class: "sheet sheet-check" },
      element(
        "div",
        { class: "lead" },
        element("h1", { tabindex: "-1" }, screen.title),
        screen.text && element("p", {}, screen.text),
      ),
      step.told !== null && told(step.told, say),
      element("section", { class: screen.isPlain ? "check-body" : "panel check-body" }, screen.body),
      element(
        "div",
        { class: "check-way" },
        out?.button ?? element("span"),
        element("div", { class: "check-on" }, reason, on),
      ),
      out?.sure,
    ),
  );
  main.querySelector("h1")?.focus({ preventScroll: true });
  if (step.told !== null) status(step.told.text);
  refresh();
  screen.onShown?.(refresh);
  /** @type {Promise<"next">} */
  const done = new Promise((resolve) => {
    on.addEventListener("click", () => {
      const left = gap();
      log.add("click", null, { what: "next" });
      if (left === null) return resolve("next");
      reason.classList.add("is-asked");
      status(left.reason);
      left.focus();
      on.setAttribute("aria-disabled", String(gap() !== null)); // a page may only have wanted to remind
    });
  });
  /** @type {Promise<never>} */
  const failed = new Promise((_, reject) => {
    screen.coming?.then(() => {
      isHere = true;
      refresh();
    }, reject);
  });
  return Promise.race([done, failed, ...(out === null ? [] : [out.chosen])]);
}

/** What was found in the attempt before. @param {NonNullable<CheckStep["told"]>} told @param {Page["say"]} say */
export function told({ text, left }, say) {
  return element(
    "section",
    { class: "check-told", role: "note" },
    icon("attention"),
    element("div", {}, element("p", {}, text), element("p", { class: "check-left" }, say("check.left", { n: left }))),
  );
}

/** The way out for who cannot take a check: said once, explained, and said again. @param {Page} page */
function wayOut({ say, log }) {
  const button = element(
    "button",
    { class: "link small", id: "cannot", type: "button", "aria-expanded": "false", "aria-controls": "cannot-text" },
    say("check.cannot"),
  );
  const yes = element("button", { class: "button", id: "cannot-sure", type: "button" }, say("check.cannot.sure"));
  const sure = element(
    "section",
    { class: "panel check-sure", id: "cannot-text", hidden: true },
    element("p", {}, say("check.cannot.text")),
    yes,
  );
  button.addEventListener("click", () => {
    log.add("click", null, { what: "cannot" });
    sure.hidden = !sure.hidden;
    button.setAttribute("aria-expanded", String(!sure.hidden));
    if (!sure.hidden) yes.focus();
  });
  /** @type {Promise<"cannot">} */
  const chosen = pressed(yes).then(() => "cannot");
  return { button, sure, chosen };
}

/** Return a place that is as large as a picture from the beginning, and holds it when it has come.
 *  @param {[width: number, height: number]} size in device pixels @param {Promise<HTMLImageElement>} coming
 *  @param {Page["say"]} say */
export function placeFor([width, height], coming, say) {
  const node = element("div", { class: "check-place" }, element("p", { class: "check-coming" }, say("check.coming")));
  node.style.setProperty("--width", `${width / devicePixelRatio}px`);
  node.style.setProperty("--height", `${height / devicePixelRatio}px`);
  coming.then(
    (image) => fill(node, image),
    () => {}, // whoever asks hears of it
  );
  return node;
}

/** Return a picture of the step that covers as many device pixels as it has, however the browser is zoomed.
 *  One that does not come is a matter of patience: the page is then made again.
 *  @param {CheckStep} step @param {string} name @param {string} label @returns {Promise<HTMLImageElement>} */
export async function picture(step, name, label) {
  const image = element("img", { class: "check-picture", alt: label, src: step.media[name].url });
  await image.decode().catch(async () => {
    throw await meaning(step.media[name].url);
  });
  /** In its own size, and on whole device pixels: else the browser would mix neighbours. */
  const fit = () => {
    image.style.setProperty("--width", `${image.naturalWidth / devicePixelRatio}px`);
    image.style.setProperty("--height", `${image.naturalHeight / devicePixelRatio}px`);
    image.style.setProperty("--left", "0px");
    image.style.setProperty("--top", "0px");
    const { left, top } = image.getBoundingClientRect();
    image.style.setProperty("--left", `${offPixel(left + scrollX)}px`);
    image.style.setProperty("--top", `${offPixel(top + scrollY)}px`);
  };
  fit();
  new ResizeObserver(fit).observe(image); // hears when the image comes onto the page
  let wasShown = false;
  addEventListener("resize", function again() {
    wasShown ||= image.isConnected;
    if (wasShown && !image.isConnected) return removeEventListener("resize", again);
    fit();
  });
  return image;
}

/** Return what it means that a picture has not come: the server is away, or it has none for us, and we are elsewhere.
 *  @param {string} url @returns {Promise<Error>} */
async function meaning(url) {
  const status = await fetch(url, { method: "HEAD", cache: "no-store" }).then(
    (answer) => answer.status,
    () => 0,
  );
  return status === 404 ? new Declined(410, {}, null) : new Unreachable(`a picture has not come: ${status}`);
}

/** Return how far it is from a place to the nearest device pixel, in CSS pixels. @param {number} place */
function offPixel(place) {
  return Math.round(place * devicePixelRatio) / devicePixelRatio - place;
}

/** Return how many device pixels each pixel of a picture covers: 1 as it should be; also fingers can enlarge a page.
 *  @param {HTMLImageElement} image @returns {number} */
export function shownScale(image) {
  const shown = image.getBoundingClientRect().width * devicePixelRatio * (visualViewport?.scale ?? 1);
  return Math.round((shown / image.naturalWidth) * 1e4) / 1e4;
}
