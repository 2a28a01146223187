// Tiles to choose one of, open once the sound was heard. Those that have a time light up while it sounds.

import { element } from "../element.js";
import { icon } from "../icons.js";

/** @import { Page } from "../run.js" */
/** @import { MakeField, Field } from "./listening.js" */
/** @import { Json } from "../types" */

/** One tile: what it means, what it says, its key, and when it sounds, in seconds.
 *  @typedef {{ value: Json, word: string, label?: string, keys: string[], shown: string,
 *              sounds?: [from: number, to: number], isWide?: boolean }} Tile */

/** Return a maker of tiles. @param {Page} page @param {Tile[]} tiles @returns {MakeField} */
export function tilesOf({ say, log }, tiles) {
  return (change) => {
    /** @type {Tile | null} */
    let chosen = null;
    const inputs = tiles.map((tile) =>
      element("input", {
        class: "choice-dot",
        type: "radio",
        name: "tile",
        value: String(tile.value),
        "aria-label": tile.label ?? tile.word,
        on: {
          change: () => {
            chosen = tile;
            log.add("change", null, { value: tile.value });
            change();
          },
        },
      }),
    );
    const labels = tiles.map((tile, place) =>
      element(
        "label",
        {
          class: tile.isWide ? "choice listen-tile listen-wide" : "choice listen-tile",
          "data-tile": String(tile.value),
        },
        inputs[place],
        element("span", {}, tile.word),
        tile.sounds !== undefined && element("span", { class: "listen-sign" }, icon("sound")),
        element("kbd", { "aria-hidden": "true" }, tile.shown),
      ),
    );
    const narrow = tiles.filter(({ isWide }) => !isWide).length;
    const node = element(
      "fieldset",
      { class: "listen-tiles", disabled: true, vars: { tiles: narrow } },
      element("legend", { class: "unseen" }, say("title")),
      labels,
    );
    /** @type {Field} */
    const field = {
      node,
      keys: tiles.map((tile, place) => ({
        keys: tile.keys,
        shown: tile.shown,
        label: tile.label ?? tile.word,
        run() {
          if (node.disabled) return;
          inputs[place].focus(); // so that Enter goes on, and does not press the button that was pressed last
          inputs[place].click();
        },
      })),
      value: () => chosen?.value ?? null,
      focus: () => inputs[0].focus(),
      open: () => node.removeAttribute("disabled"),
      follow(seconds) {
        tiles.forEach(({ sounds }, place) => {
          const isOn = seconds !== null && sounds !== undefined && seconds >= sounds[0] && seconds < sounds[1];
          labels[place].classList.toggle("is-sounding", isOn);
        });
      },
    };
    return field;
  };
}
