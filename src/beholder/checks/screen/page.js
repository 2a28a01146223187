// Screen: its size and ratio, and the window, by which the server estimates the zoom.

import { list } from "../../check_kit/list.js";

/** @import { CheckPage } from "../../types" */

/** @type {CheckPage} */
export default function screenSize(step, page) {
  return list(step, page, {
    measure: async () => ({
      screen: [screen.width, screen.height],
      inner: [innerWidth, innerHeight],
      outer: [outerWidth, outerHeight],
      dpr: devicePixelRatio,
    }),
  });
}
