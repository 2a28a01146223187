// Share: a read-only link for somebody else, by role and until a date. What it may show is listed before it is made.

import { element, fill } from "../../web/element.js";
import { addressOf, read, send } from "./api.js";
import { moment } from "./format.js";
import { ask } from "./dialog.js";
import { button, field, status } from "./parts.js";

/** @import { Desk } from "./types" */

/** @typedef {{ scope: string, means: string }} ScopeShown */
/** @typedef {{ id: string, name: string, scopes: string[], until: string, made_by?: string, used_at?: string | null }} Share */
/** @typedef {{ shares: Share[], scopes: ScopeShown[] }} Shares */

const DAYS = 14;

/** Return the button that opens the dialog. @param {Desk} desk */
export const shareButton = (desk) => button(desk.say("share.title"), () => void open(desk));

/** @param {Desk} desk */
async function open(desk) {
  const { say, place, signal } = desk;
  const address = addressOf(place.study, "shares");
  const { shares, scopes } = /** @type {Shares} */ (await read(address, signal));
  const name = field(say("share.name"), { required: true, autocomplete: "off", placeholder: say("share.name.hint") });
  const until = field(say("share.until"), { type: "date", value: new Date(Date.now() + DAYS * 86_400_000).toISOString().slice(0, 10) });
  const boxes = scopes.map(({ scope, means }) => {
    const box = element("input", { type: "checkbox", value: scope, checked: scope === "now" || scope === "study" });
    return { box, element: element("label", { class: "check" }, box, element("span", {}, element("b", {}, say(`tab.${scope}`)), ` – ${means}`)) };
  });
  const chosen = () => boxes.filter(({ box }) => box.checked).map(({ box }) => box.value);
  const blinded = element("input", { type: "checkbox", checked: true });
  const made = element("div", { class: "share-made" });
  const given = element("ul", { class: "shares" });
  const valueOf = (/** @type {HTMLElement} */ input) => /** @type {HTMLInputElement} */ (input).value.trim();

  const list = (/** @type {Share[]} */ every) =>
    fill(
      given,
      every.map((share) =>
        element(
          "li",
          {},
          element("span", {}, element("b", {}, share.name), ` – ${share.scopes.map((scope) => say(`tab.${scope}`)).join(", ")}; ${say("share.ends", { at: moment(share.until) })}`),
          button(say("share.revoke"), async () => {
            await send(`${address}/${encodeURIComponent(share.id)}`, null, "DELETE");
            list((/** @type {Shares} */ (await read(address, signal))).shares);
          }),
        ),
      ),
    );
  list(shares);
  await ask(
    desk,
    {
      title: say("share.title"),
      words: say("share.words"),
      does: say("share.make"),
      check: () => (valueOf(name.input) === "" ? say("share.name.missing") : chosen().length === 0 ? say("share.scopes.missing") : null),
      run: async () => {
        const { link } = /** @type {{ link: string }} */ (await send(address, { name: valueOf(name.input), scopes: chosen(), until: valueOf(until.input), stays_blinded: blinded.checked }));
        fill(made, status("pass", say("share.made")), element("input", { class: "field", readonly: true, value: link, "aria-label": say("share.link") }));
        list((/** @type {Shares} */ (await read(address, signal))).shares);
        made.querySelector("input")?.select();
        return null;
      },
    },
    name.element,
    until.element,
    element("fieldset", {}, element("legend", {}, say("share.shows")), boxes.map(({ element: labelled }) => labelled)),
    element("label", { class: "check" }, blinded, say("share.blinded")),
    element("p", { class: "soft small" }, say("share.never")),
    made,
    shares.length > 0 ? element("h3", {}, say("share.given")) : null,
    given,
  );
}
