// A page beside that of the study: the mark, the title, and room for what it is about.

import { element, fill } from "../element.js";
import { icon } from "../icons.js";
import { loadWords } from "../words.js";

/** Fill the page; resolve with its parts, and with how to say things in its language. */
export async function openAside() {
  const { say, language, direction } = await loadWords();
  document.documentElement.dir = direction;
  const title = element("span", {}, document.title);
  const main = element("main", { id: "main" });
  fill(
    document.body,
    element("header", { class: "topbar" }, element("div", { class: "topbar-study" }, icon("mark"), title)),
    main,
  );
  return { say, language, title, main };
}
