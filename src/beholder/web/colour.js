// The colour of a slot, and black or white on it, whichever can be read better.

const DARK = "#111111";
const LIGHT = "#ffffff";

/** Let a node and all in it wear a colour; null takes it off. @param {HTMLElement} node @param {string | null} colour */
export function wear(node, colour) {
  if (colour === null || !/^#[0-9a-f]{6}$/i.test(colour)) {
    node.style.removeProperty("--slot");
    node.style.removeProperty("--slot-ink");
    return;
  }
  if (node.style.getPropertyValue("--slot") === colour) return;
  node.style.setProperty("--slot", colour);
  node.style.setProperty("--slot-ink", inkOn(colour));
}

/** Return the ink with the higher contrast (WCAG 2, relative luminance). @param {string} colour #rrggbb */
export function inkOn(colour) {
  return contrast(colour, LIGHT) >= contrast(colour, DARK) ? LIGHT : DARK;
}

/** @param {string} one @param {string} other */
function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** @param {string} colour */
function luminance(colour) {
  const [red, green, blue] = [1, 3, 5].map((place) => {
    const part = parseInt(colour.slice(place, place + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
