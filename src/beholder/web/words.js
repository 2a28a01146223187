// Our own words on the pages: words/<language>.json and nowhere else; the server makes modules of them.

import { plain } from "./element.js";

/** @import { Say } from "./types" */

/** @typedef {{ [key: string]: string | { [form: string]: string } }} Words */
/** @typedef {{ say: Say, language: string, direction: string }} Speech */

/** Return how to say things in the language of this page; the server serves none without words.
 *  @returns {Promise<Speech>} */
export async function loadWords() {
  const language = document.documentElement.lang || "en";
  const { words } = await import(`./words/${language}.js`);
  return speak(language, words);
}

/** Return the address of this page in another language.
 *  @param {string} language @param {{ isChosen?: boolean }} [options] @returns {string} */
export function addressIn(language, { isChosen = false } = {}) {
  const address = new URL(location.href);
  address.searchParams.set("lang", language);
  if (isChosen) address.searchParams.set("chosen", "1");
  return address.href;
}

/** Return a time as it is written in a language. @param {string} at @param {string} language */
export function timeOf(at, language) {
  return new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "short" }).format(new Date(at));
}

/** Return the speech made of one file of words. A form is chosen by the number `n`; {name} is filled in.
 *  @param {string} language @param {Words} words @returns {Speech} */
export function speak(language, words) {
  const locale = typeof words["locale"] === "string" ? words["locale"] : language;
  const plural = new Intl.PluralRules(locale);
  const figures = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
  return {
    language: locale,
    direction: typeof words["direction"] === "string" ? words["direction"] : "ltr",
    say(key, values = {}) {
      const entry = words[key];
      if (entry === undefined) return key;
      const text =
        typeof entry === "string" ? entry : (entry[plural.select(Number(values["n"] ?? 0))] ?? entry["other"]);
      return text.replace(/\{(\w+)\}/g, (whole, name) => {
        const value = values[name];
        return value === undefined ? whole : typeof value === "number" ? figures.format(value) : plain(value);
      });
    },
  };
}
