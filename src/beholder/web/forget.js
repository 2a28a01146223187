// A page of its own: whoever has a receipt has everything erased that goes with it.

import { Declined, forget } from "./client.js";
import { element, fill } from "./element.js";
import { notice } from "./frame/sheet.js";
import { icon } from "./icons.js";
import { loadWords } from "./words.js";

await start();

async function start() {
  const { say, language, direction } = await loadWords(document.documentElement.lang || "en");
  document.documentElement.dir = direction;
  const main = element("main", { id: "main" });
  fill(
    document.body,
    element(
      "header",
      { class: "topbar" },
      element("div", { class: "topbar-study" }, icon("mark"), element("span", {}, document.title)),
    ),
    main,
  );
  const problem = element("p", { class: "item-problem", id: "problem", role: "alert" });
  const field = element("input", {
    class: "field",
    id: "receipt",
    type: "text",
    autocomplete: "off",
    spellcheck: "false",
    "aria-describedby": "problem",
  });
  // After the #, so that no server, proxy or log ever sees it before it is sent on purpose.
  field.value = decodeURIComponent(location.hash.slice(1));
  const button = element("button", { class: "button button-primary", id: "erase", type: "submit" }, say("forget.button"));
  const form = element(
    "form",
    { class: "panel forget" },
    element("label", { for: "receipt" }, say("forget.label")),
    field,
    problem,
    button,
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    problem.textContent = "";
    try {
      const { at } = await forget(field.value);
      const day = new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "short" }).format(new Date(at));
      history.replaceState(null, "", location.pathname);
      fill(main, notice(say("forget.done.title"), say("forget.done", { at: day })));
      main.querySelector("h1")?.focus();
    } catch (error) {
      problem.textContent = error instanceof Declined ? error.message : say("forget.away");
      button.disabled = false;
      field.focus();
    }
  });
  fill(
    main,
    element(
      "div",
      { class: "sheet" },
      element("div", { class: "lead" }, element("h1", {}, say("forget.title")), element("p", {}, say("forget.text"))),
      form,
    ),
  );
}
