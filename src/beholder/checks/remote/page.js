// Remote: asked in its row. What hints at a remote desktop is sent as yes or no, never what it was read from.

import { element, fill } from "../../element.js";
import { pressed } from "../../frame/sheet.js";
import { button, list } from "../../check_kit/list.js";

/** @import { Page } from "../../run.js" */
/** @import { CheckPage, Json } from "../../types" */

const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;
const FEWEST_BITS = 24;

/** @type {CheckPage} */
export default function remote(step, page) {
  return list(step, page, { asks: true, measure: (room) => ask(room, page) });
}

/** @param {HTMLElement} room @param {Page} page @returns {Promise<Json>} */
async function ask(room, { say }) {
  const [no, yes] = [button("remote-no", false, say("no")), button("remote-yes", false, say("yes"))];
  fill(
    room,
    element(
      "div",
      { class: "look-question", role: "group", "aria-labelledby": "question" },
      element("p", { id: "question" }, say("question")),
      element("div", { class: "look-ways" }, no, yes),
    ),
  );
  const said = await Promise.race([pressed(no).then(() => false), pressed(yes).then(() => true)]);
  return {
    remote: said,
    software: isSoftware(),
    depth: screen.colorDepth > 0 ? screen.colorDepth < FEWEST_BITS : null,
    bursts: null, // too much depends on the mouse
    reduced_motion: matchMedia("(prefers-reduced-motion: reduce)").matches,
  };
}

/** Return whether pages are drawn without a graphics card; null where that is not told. */
function isSoftware() {
  const context = document.createElement("canvas").getContext("webgl");
  const names = context?.getExtension("WEBGL_debug_renderer_info");
  if (!context || !names) return null;
  const isIt = SOFTWARE.test(String(context.getParameter(names.UNMASKED_RENDERER_WEBGL)));
  context.getExtension("WEBGL_lose_context")?.loseContext();
  return isIt;
}
