// A page of its own: whoever has a receipt has everything erased that goes with it.

import { Declined, forget } from "./client.js";
import { element, fill } from "./element.js";
import { openAside } from "./frame/aside.js";
import { notice } from "./frame/sheet.js";
import { timeOf } from "./words.js";

void start();

async function start() {
  const { say, language, main } = await openAside();
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
      const { at, is_on_disk } = await forget(field.value);
      history.replaceState(null, "", location.pathname);
      const done = say(is_on_disk ? "forget.done.disk" : "forget.done", { at: timeOf(at, language) });
      fill(main, notice(say("forget.done.title"), done));
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
