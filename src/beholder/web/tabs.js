// Two tabs of one session are harmless, because every answer has its key; people like to know all the same.

import { tabId } from "./storage.js";

/** Return the id of this tab, and call `onOther` when the session is open in another one.
 *  @param {string} session @param {() => void} onOther @returns {Promise<string>} */
export async function meetTabs(session, onOther) {
  let tab = tabId();
  if (!("BroadcastChannel" in globalThis)) return tab;
  const channel = new BroadcastChannel(`beholder:${session}`);
  const self = Math.random(); // tells a duplicated tab, which has the same id, from this one
  channel.onmessage = ({ data }) => {
    if (data.self === self) return;
    if (data.word === "hello") channel.postMessage({ word: "here", tab, self });
    else if (data.tab === tab) tab = tabId({ fresh: true });
    onOther();
  };
  channel.postMessage({ word: "hello", tab, self });
  await new Promise((resolve) => setTimeout(resolve, 60)); // answers come within a few milliseconds
  return tab;
}
