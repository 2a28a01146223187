// Style sheets that only some pages need come with the module that needs them.

import { element } from "./element.js";
import { sheets } from "./sheets.js";

/** Resolve when a sheet of style/ is on the page, or would not come: plain, but it works.
 *  @param {string} name @returns {Promise<void>} */
export async function stylesheet(name) {
  const href = new URL(sheets[name] ?? `./style/${name}.css`, import.meta.url).href;
  const there = [...document.querySelectorAll("link")].find((link) => link.href === href);
  if (there?.sheet) return;
  const link = there ?? element("link", { rel: "stylesheet", href });
  await new Promise((resolve) => {
    link.addEventListener("load", resolve);
    link.addEventListener("error", () => {
      link.remove(); // so that the next page tries again
      resolve(null);
    });
    if (there === undefined) document.head.append(link);
  });
}
