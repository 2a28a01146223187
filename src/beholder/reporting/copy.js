/* A button that copies the methods paragraph; without it, or where the clipboard is closed, a click marks the text. */

for (const text of document.querySelectorAll(".paste")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const words = [...text.children].map((one) => one.textContent).join("\n\n");
    const isCopied = await navigator.clipboard?.writeText(words).then(
      () => true,
      () => false,
    );
    if (!isCopied) getSelection()?.selectAllChildren(text); // marked, for the person to copy
    button.textContent = isCopied || document.execCommand("copy") ? "Copied" : "Marked: press Ctrl+C or ⌘C";
  });
  text.before(button);
}
