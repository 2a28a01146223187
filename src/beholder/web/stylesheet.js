// Style sheets that only some pages need come with the module that needs them.

import { element } from "./element.js";

/** Resolve when a sheet of style/ is on the page, or would not come: plain, but it works.
 *  @param {string} name @returns {Promise<void>} */
export async function stylesheet(name) {
  const href = new URL(`./style/${name}.css`, import.meta.url).href;
  if ([...document.styleSheets].some((sheet) => sheet.href === href)) return;
  const link = element("link", { rel: "stylesheet", href });
  await new Promise((resolve) => {
    link.addEventListener("load", resolve);
    link.addEventListener("error", () => {
      link.remove(); // so that the next page tries again
      resolve(null);
    });
    document.head.append(link);
  });
}
