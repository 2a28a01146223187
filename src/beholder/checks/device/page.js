// Device: what points at this screen, and how large it is. Where the signals disagree, the person is asked.

import { element, fill } from "../../element.js";
import { pressed } from "../../frame/sheet.js";
import { button, list } from "../../check_kit/list.js";

/** @import { Page } from "../../run.js" */
/** @import { CheckPage, Json } from "../../types" */

const KINDS = ["desktop", "tablet", "phone"];

/** @type {CheckPage} */
export default function device(step, page) {
  const before = step.public["before"];
  const now = signals();
  const isOther = before !== null && JSON.stringify(before.screen) !== JSON.stringify(now["screen"]);
  const isChanged = before !== null && (before.pointer !== now["pointer"] || isOther);
  const asks = step.public["ask"] === true && !isChanged;
  return list(step, page, {
    isChanged,
    asks,
    more: asks ? null : link(page),
    measure: async (room) => ({ ...signals(), said: asks ? await said(room, page) : null }),
  });
}

/** Return what tells a phone from a computer; each alone can be wrong. @returns {{ [name: string]: Json }} */
function signals() {
  /** @type {{ userAgentData?: { mobile?: boolean, platform?: string } }} */
  const { userAgentData } = /** @type {any} */ (navigator);
  const has = (/** @type {string} */ query) => matchMedia(`(${query})`).matches;
  return {
    pointer: has("pointer: fine") ? "fine" : has("pointer: coarse") ? "coarse" : "none",
    fine: has("any-pointer: fine"),
    hover: has("hover: hover"),
    touches: navigator.maxTouchPoints,
    mobile: userAgentData?.mobile ?? /Mobi|Android|iPhone|iPad|iPod/.test(navigator.userAgent),
    system: userAgentData?.platform || navigator.platform,
    screen: [screen.width, screen.height],
  };
}

/** @param {HTMLElement} room @param {Page} page @returns {Promise<string>} */
async function said(room, { say }) {
  const offered = KINDS.map((kind) => ({ kind, node: button(`say-${kind}`, false, say(`say.${kind}`)) }));
  fill(room, element("div", { class: "look-ways" }, offered.map(({ node }) => node)));
  return Promise.race(offered.map(({ kind, node }) => pressed(node).then(() => kind)));
}

/** The link to this place, to be opened elsewhere. @param {Page} page */
function link({ say, status }) {
  const field = element("input", { class: "field", id: "link", type: "text", readonly: true, value: location.href });
  const copy = button("copy-link", false, say("copy"));
  copy.addEventListener("click", async () => {
    field.select(); // where the clipboard is closed to pages, it is marked for the person to copy
    const isCopied = await navigator.clipboard?.writeText(location.href).then(
      () => true,
      () => false,
    );
    if (!isCopied) return;
    copy.textContent = say("copied");
    status(say("copied"));
  });
  return element(
    "div",
    { class: "look-link" },
    element("label", { class: "small", for: "link" }, say("link")),
    element("div", { class: "look-ways" }, field, copy),
  );
}
