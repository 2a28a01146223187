// The one place where HTML becomes nodes: texts of the study, made safe by the server.

/** Return the nodes of a safe HTML text. Links open beside the study, so that nobody loses their page.
 *  @param {string} html @returns {DocumentFragment} */
export function markup(html) {
  const read = new DOMParser().parseFromString(html, "text/html");
  const nodes = document.createDocumentFragment();
  for (const child of [...read.body.childNodes]) nodes.append(document.adoptNode(child));
  for (const link of nodes.querySelectorAll("a[href]")) {
    link.setAttribute("target", "_blank");
    link.setAttribute("rel", "noopener noreferrer");
  }
  return nodes;
}

/** Return whether a text begins with a heading of its own.
 *  @param {DocumentFragment} nodes */
export function hasHeading(nodes) {
  return nodes.firstElementChild !== null && /^H[1-3]$/.test(nodes.firstElementChild.tagName);
}
