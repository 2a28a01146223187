// Study: the file with its problems, what a session is like, the balance of the plan, the storyboard, previews.

import { element, fill } from "../../../web/element.js";
import { addressOf, read } from "../api.js";
import { count, moment, number } from "../format.js";
import { facts, head, marks, panel, pill, status, table } from "../parts.js";
import { shareButton } from "../share.js";

/** @import { Desk, Page, StudyDocument } from "../types" */

/** @type {Page} */
export default async function study(main, desk) {
  const { place, signal } = desk;
  const document = /** @type {StudyDocument} */ (await read(addressOf(place.study, "study"), signal));
  fill(
    main,
    head(document.title, marks(desk, document), desk.me.scopes.includes("access") ? shareButton(desk) : null),
    element(
      "div",
      { class: "beside" },
      problems(document, desk),
      session(document, desk),
      file(document, desk),
      plan(document, desk),
      preview(document, desk),
      storyboard(document, desk),
    ),
  );
}

/** @param {StudyDocument} document @param {Desk} desk */
function problems({ problems }, { say }) {
  return panel(
    say("problems.title"),
    { name: "problems" },
    problems.length === 0
      ? status("pass", say("problems.none"))
      : element(
          "ul",
          { class: "reasons" },
          problems.map(({ kind, where, what, allowed, fix: how }) =>
            element(
              "li",
              {},
              status(kind === "error" ? "fail" : "attention", element("span", {}, element("code", {}, where), ` ${what}.`)),
              allowed ? element("p", { class: "small" }, say("problems.allowed", { allowed })) : null,
              how ? element("p", { class: "small" }, how) : null,
            ),
          ),
        ),
  );
}

/** @param {StudyDocument} document @param {Desk} desk */
function session({ session, method, served }, { say }) {
  if (session === null) return null;
  return panel(
    say("session.title"),
    { name: "session", foot: served === null ? say("session.unserved") : say("session.served", { at: moment(served.at), n: served.lists }) },
    facts([
      [say("session.method"), method],
      [say("session.minutes"), say("session.about", { n: session.minutes })],
      [say("session.lists"), count(session.lists)],
      [say("session.stimuli"), say("session.stimuli.of", { n: session.stimuli, conditions: session.conditions, contents: session.contents })],
    ]),
    table(say("session.title"), [say("session.stage"), say("session.min"), say("session.screens")], session.stages.map((one) => [one.name, number(one.minutes), count(one.screens)])),
  );
}

/** @param {StudyDocument} document @param {Desk} desk */
function file({ file, text, blinded }, { say }) {
  return panel(
    file,
    { name: "file", foot: blinded ? say("file.blinded") : null },
    element("pre", { class: "code", tabindex: 0, role: "region", "aria-label": file }, text.replace(/\n$/, "").split("\n").map((line) => element("span", { class: "code-line" }, line || " "))),
  );
}

/** @param {StudyDocument} document @param {Desk} desk */
function plan({ plan, blinded }, desk) {
  const { say, place } = desk;
  const rows = (plan?.balance ?? []).map((row) => {
    const promised = Number(/\d+/.exec(row["promised"] ?? "")?.[0] ?? Number.NaN);
    const difference = Number(row["difference"]);
    const mark = Number.isNaN(promised) ? "–" : status(difference <= promised ? "pass" : "fail", row["promised"] ?? "");
    return [row["count"] ?? "", row["least"] ?? "", row["most"] ?? "", row["difference"] ?? "", mark];
  });
  const report = addressOf(place.study, "report/plan/index.html");
  return panel(
    say("plan.title"),
    { name: "plan", aside: plan?.report ? element("a", { href: report, target: "_blank", rel: "noopener" }, say("plan.report")) : null },
    plan === null
      ? element("p", { class: "soft" }, say("plan.none").split("`").map((part, at) => (at % 2 === 1 ? element("code", {}, part) : part)))
      : table(say("plan.title"), ["count", "least", "most", "difference", "promised"].map((name) => say(`plan.${name}`)), rows),
    blinded && plan !== null ? element("p", { class: "soft small" }, say("plan.blinded")) : null,
  );
}

/** @param {StudyDocument} document @param {Desk} desk */
function preview({ steps, preview: { link, command } }, { say }) {
  return panel(
    say("preview.title"),
    { name: "preview", aside: pill("n", say("preview.n", { n: steps.length })) },
    link
      ? element("p", {}, element("a", { class: "button", href: link, target: "_blank", rel: "noopener" }, say("preview.open")))
      : element("p", { class: "soft" }, say("preview.how"), " ", element("code", {}, command)),
    element("ol", { class: "steps" }, steps.map(({ title }) => element("li", {}, title))),
  );
}

/** @param {StudyDocument} document @param {Desk} desk */
function storyboard({ storyboard: sessions }, { say, place }) {
  const address = (/** @type {string} */ file) => addressOf(place.study, `report/storyboard/${file.split("/").map(encodeURIComponent).join("/")}`);
  return panel(
    say("storyboard.title"),
    { name: "storyboard" },
    sessions.length === 0
      ? element("p", { class: "soft" }, say("storyboard.none").split("`").map((part, at) => (at % 2 === 1 ? element("code", {}, part) : part)))
      : sessions.map(({ name, pictures }) =>
          element(
            "section",
            {},
            element("h3", {}, name),
            element(
              "ul",
              { class: "storyboard" },
              pictures.map(({ file, title }) =>
                element("li", {}, element("a", { href: address(file), target: "_blank", rel: "noopener" }, element("img", { src: address(file), alt: "", loading: "lazy" }), element("span", { class: "small" }, title))),
              ),
            ),
          ),
        ),
  );
}
