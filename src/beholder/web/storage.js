// What stays on this device: the way back into the study, unsent answers, and the page that is half done.

/** @typedef {ReturnType<typeof openStorage>} Storage */

/** Return storage under a prefix. Where the browser allows none, or for a preview, it lasts as long as the page.
 *  @param {string} prefix @param {{ lasting: boolean }} options */
export function openStorage(prefix, { lasting }) {
  /** @type {Map<string, string>} */
  const memory = new Map();
  const disk = lasting ? find() : null;
  return {
    /** @param {string} name @returns {any} */
    get(name) {
      const text = disk?.getItem(prefix + name) ?? memory.get(name) ?? null;
      try {
        return text === null ? null : JSON.parse(text);
      } catch {
        return null;
      }
    },
    /** @param {string} name @param {unknown} value */
    set(name, value) {
      const text = JSON.stringify(value);
      try {
        if (disk === null) throw new Error("no disk");
        disk.setItem(prefix + name, text);
        memory.delete(name);
      } catch {
        memory.set(name, text); // full, or forbidden: at least this page keeps it
      }
    },
    /** @param {string} name */
    remove(name) {
      disk?.removeItem(prefix + name);
      memory.delete(name);
    },
    /** @returns {string[]} */
    names() {
      const kept =
        disk === null
          ? []
          : Object.keys(disk)
              .filter((name) => name.startsWith(prefix))
              .map((name) => name.slice(prefix.length));
      return [...new Set([...kept, ...memory.keys()])];
    },
  };
}

/** Return the id of this tab: the same after a reload, another in every tab.
 *  @param {{ fresh?: boolean }} [options] */
export function tabId({ fresh = false } = {}) {
  const made = [...crypto.getRandomValues(new Uint8Array(8))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
  try {
    const known = fresh ? null : sessionStorage.getItem("beholder:tab");
    if (known === null) sessionStorage.setItem("beholder:tab", made);
    return known ?? made;
  } catch {
    return made;
  }
}

function find() {
  try {
    localStorage.setItem("beholder:probe", "1");
    localStorage.removeItem("beholder:probe");
    return localStorage;
  } catch {
    return null;
  }
}
