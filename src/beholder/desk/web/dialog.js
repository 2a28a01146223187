// Dialogs: something is asked before it is done, with a reason, and what the desk says about it is told.

import { element, fill } from "../../web/element.js";
import { Refusal } from "./api.js";
import { button, status } from "./parts.js";

/** @import { Child } from "../../web/types" */
/** @import { Desk } from "./types" */

/** Ask, and resolve with whether it was done. `run` does it and returns what is said about it; what it refuses is shown, and
 *  can be tried again; null: the dialog stays, as it shows something. @param {Desk} desk
 *  @param {{ title: string, words: Child, does: string, isGrave?: boolean, run: () => Promise<string | null>,
 *            check?: () => string | null }} parts
 *  `check`: what is still missing, in words
 *  @param {...Child} children @returns {Promise<boolean>} */
export function ask(desk, { title, words, does, isGrave = false, run, check = () => null }, ...children) {
  const { say, tell, signal } = desk;
  return new Promise((resolve) => {
    const trouble = element("p", { class: "dialog-trouble", role: "alert" });
    const id = `dialog-${title.toLowerCase().replaceAll(/\W+/g, "-")}`;
    const go = element("button", { class: `button ${isGrave ? "button-grave" : "button-primary"}`, type: "submit" }, does);
    let isDone = false;
    const dialog = element(
      "dialog",
      { class: "dialog", "aria-labelledby": id },
      element(
        "form",
        {
          method: "dialog",
          novalidate: true, // what is missing is said in our words
          on: {
            submit: async (/** @type {SubmitEvent} */ event) => {
              event.preventDefault();
              const missing = check();
              if (missing !== null) return fill(trouble, status("attention", missing));
              fill(trouble);
              go.setAttribute("aria-disabled", "true");
              try {
                const told = await run();
                isDone = true;
                if (told === null) return;
                dialog.close();
                tell(told);
              } catch (error) {
                fill(trouble, status("fail", error instanceof Refusal || error instanceof Error ? error.message : String(error)));
              } finally {
                go.removeAttribute("aria-disabled");
              }
            },
          },
        },
        element("h2", { id }, title),
        element("div", { class: "dialog-words" }, words),
        ...children,
        trouble,
        element("div", { class: "actions" }, button(say("dialog.cancel"), () => dialog.close()), go),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(isDone);
    });
    signal.addEventListener("abort", () => dialog.close());
    document.body.append(dialog);
    dialog.showModal();
  });
}
