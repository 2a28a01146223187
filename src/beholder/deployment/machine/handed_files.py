"""Files that a verb there writes for a person here to edit, or reads after that: they go there and back with each call.

What is at home counts: it is put there before a verb, and what the verb has made of it is brought home after it.
"""

from __future__ import annotations

import base64
import os
from pathlib import Path

FOLDERS = ("close", "decide", "launch", "pay")
"""Folders of a study in which verbs of recruiting write for a person."""


def read_handed(study: Path) -> dict[str, str]:
    """Return the files of these folders by their paths below the study, as text that JSON can hold."""
    found = {}
    for folder in FOLDERS:
        for path in sorted((study / folder).rglob("*")):
            if path.is_file() and not path.is_symlink():
                found[path.relative_to(study).as_posix()] = base64.b64encode(path.read_bytes()).decode("ascii")
    return found


def put_handed(study: Path, files: dict[str, str]) -> None:
    """Write such files into a study, for their owner only; a path that leads elsewhere is refused."""
    for name, text in files.items():
        parts = Path(name).parts
        if not parts or parts[0] not in FOLDERS or ".." in parts:
            raise ValueError(name)
        path = study / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = path.with_name(f".{path.name}.new")
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(base64.b64decode(text))
        new.replace(path)


def forget_handed(study: Path, files: dict[str, str]) -> None:
    """Remove such files, and their folders where nothing else is in them."""
    for name in files:
        (study / name).unlink(missing_ok=True)
    for folder in FOLDERS:
        for path in sorted((study / folder).rglob("*"), reverse=True):
            if path.is_dir():
                _remove_empty(path)
        _remove_empty(study / folder)


def _remove_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
