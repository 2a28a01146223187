/** Log in: by the one-time link, whose code stands behind the # and is sent nowhere but here; or by name and password. */
const form = /** @type {HTMLFormElement} */ (document.getElementById("form"));
const state = /** @type {HTMLElement} */ (document.getElementById("state"));

/** @param {string} words */
function tell(words) {
  state.textContent = words;
  state.dataset.wrong = "";
}

/** @param {Record<string, string>} body */
async function logIn(body) {
  let reply;
  try {
    const headers = { "content-type": "application/json" };
    reply = await fetch("/api/login", { method: "POST", headers, body: JSON.stringify(body) });
  } catch {
    return tell("The desk does not answer. Is `beholder desk` still running?");
  }
  if (reply.ok) return location.replace(location.pathname === "/login" ? "/" : location.pathname + location.search);
  const { problems } = await reply.json();
  tell(problems.map((/** @type {{where: string, what: string, fix: string}} */ one) => `The ${one.where} ${one.what}. ${one.fix}`).join(" "));
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const fields = new FormData(form);
  logIn({ name: String(fields.get("name")), password: String(fields.get("password")) });
});

const code = new URLSearchParams(location.hash.slice(1)).get("code");
const share = new URLSearchParams(location.hash.slice(1)).get("share");
if (code || share) {
  history.replaceState(null, "", location.pathname + location.search);
  logIn(code ? { code } : { share: String(share) });
}

export {};
