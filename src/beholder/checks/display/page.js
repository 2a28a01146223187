// Help with setting up the screen: the person's own system first, then two boxes to tick. Nothing here is judged.

import { element, fill } from "../../element.js";
import { stylesheet } from "../../stylesheet.js";
import { ask, CANNOT } from "../../check_kit/frame.js";

/** @import { CheckPage } from "../../types" */

const BOXES = ["screen", "steady"];

/** @type {CheckPage} */
export default async function display(step, page) {
  const { say, log } = page;
  await stylesheet("vote");
  /** @type {string[]} */
  const systems = step.public["systems"];
  let system = String(log.values.get("system") ?? step.public["system"]);
  const help = element("ol", { class: "display-help" });
  const show = () => {
    const lines = Object.keys(step.words).filter((key) => key.startsWith(`${system}.`));
    fill(
      help,
      lines.map((key) => element("li", {}, say(key))),
    );
  };
  const tabs = systems.map((name) => {
    const input = element("input", {
      class: "unseen",
      type: "radio",
      name: "system",
      value: name,
      checked: name === system,
    });
    input.addEventListener("change", () => {
      system = name;
      log.values.set("system", name);
      log.add("change", null, { what: "system", value: name });
      show();
    });
    return element("label", { class: "display-tab" }, input, say(`system.${name}`));
  });
  const boxes = BOXES.map((name) =>
    element("input", {
      class: "choice-box",
      type: "checkbox",
      name,
      id: `display-${name}`,
      checked: log.values.get(name) === true,
    }),
  );
  show();
  // Nobody is kept here: who cannot change something presses Next a second time.
  let isReminded = false;
  const gap = () => {
    const open = boxes.find((box) => !box.checked);
    if (open === undefined || isReminded) return null;
    return {
      reason: say("left"),
      focus() {
        isReminded = true;
        open.focus();
      },
    };
  };
  const way = await ask(step, page, {
    title: say("title"),
    text: say("text"),
    body: element(
      "div",
      { class: "display" },
      element("fieldset", { class: "display-tabs" }, element("legend", { class: "unseen" }, say("system")), tabs),
      help,
      element(
        "div",
        { class: "choices display-boxes", role: "group", "aria-label": say("boxes") },
        boxes.map((box) => element("label", { class: "choice" }, box, element("span", {}, say(`box.${box.name}`)))),
      ),
    ),
    gap,
    onShown: (refresh) => {
      for (const box of boxes)
        box.addEventListener("change", () => {
          log.values.set(box.name, box.checked);
          log.add("change", null, { what: box.name, value: box.checked });
          refresh();
        });
    },
  });
  if (way === "cannot") return CANNOT;
  const [screen, steady] = boxes.map((box) => box.checked);
  return { screen, steady, system };
}
