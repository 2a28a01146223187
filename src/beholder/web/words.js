// Our own words on the pages: words/<language>.json and nowhere else.

import { plain } from "./element.js";

/** @import { Say } from "./types" */

/** @typedef {{ [key: string]: string | { [form: string]: string } }} Words */
/** @typedef {{ say: Say, language: string, direction: string }} Speech */

/** Return how to say things in a language: its own file, that of the language without its region, or English.
 *  @param {string} language @returns {Promise<Speech>} */
export async function loadWords(language) {
  for (const name of new Set([language, language.split("-")[0], "en"])) {
    const answer = await fetch(new URL(`./words/${name}.json`, import.meta.url));
    if (answer.ok) return speak(name, await answer.json());
  }
  throw new Error("words/en.json is missing");
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
