"""Files that say who people are on their platform: nobody but their owner reads them, and no repository takes them."""

from __future__ import annotations

import os
from pathlib import Path


def write_private(path: Path, content: bytes, ignored: str = "*\n") -> None:
    """Write a file for its owner only, at every moment whole or not there, into a folder that is kept out of Git."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not (path.parent / ".gitignore").exists():
        (path.parent / ".gitignore").write_text(ignored, "utf-8", newline="\n")
    aside = path.with_name(f".{path.name}.new")
    aside.unlink(missing_ok=True)
    with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    aside.replace(path)
