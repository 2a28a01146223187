"""What was made by which recipe, in a file beside the outputs."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from beholder.errors import Problem, StimuliError

NAME = ".beholder-made.json"


class Ledger:
    """The recipes of a folder's outputs, and the hashes of what they gave."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._rows: dict[str, dict[str, str]] = _read(folder / NAME)
        self._before: dict[str, dict[str, str]] = {}

    def state(self, target: Path, recipe: str) -> Literal["made", "to make", "foreign"]:
        """Return whether this is there by this recipe, has to be made, or is somebody else's file."""
        if not target.exists():
            return "to make"
        row = self._rows.get(self._name(target))
        if row is not None and not row["sha256"] and target.is_file():
            return "to make"  # it was begun, and whoever made it was killed before it was written down
        if row is None or not target.is_file() or file_hash(target) != row["sha256"]:
            return "foreign"
        return "made" if row["recipe"] == recipe else "to make"

    def begin(self, targets: Iterable[Path]) -> None:
        """Write down that these are being made, so that a file that a killed run leaves behind is known as ours."""
        names = [self._name(target) for target in targets]
        self._before = {name: self._rows[name] for name in names if name in self._rows}
        self._rows |= {name: {"recipe": "", "sha256": ""} for name in names}
        self._write()

    def give_up(self, target: Path) -> None:
        """Write down what was known before this was begun: it could not be made."""
        name = self._name(target)
        del self._rows[name]
        if name in self._before:
            self._rows[name] = self._before[name]
        self._write()

    def remember(self, target: Path, recipe: str) -> None:
        """Write down that this was made by this recipe."""
        self._rows[self._name(target)] = {"recipe": recipe, "sha256": file_hash(target)}
        self._write()

    def _write(self) -> None:
        text = json.dumps({"made": dict(sorted(self._rows.items()))}, indent=2, ensure_ascii=False) + "\n"
        part = self.folder / f".{uuid.uuid4().hex}.part"
        try:
            part.write_text(text, "utf-8", newline="\n")
            part.replace(self.folder / NAME)
        finally:
            part.unlink(missing_ok=True)

    def _name(self, target: Path) -> str:
        return target.relative_to(self.folder).as_posix()


def recipe_of(parts: Sequence[object], sources: Sequence[Path]) -> str:
    """Return the hash of a recipe: what is done, and the bytes it is done to."""
    words = [*(str(part) for part in parts), *(file_hash(source) for source in sources)]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(path: Path) -> dict[str, dict[str, str]]:
    if not path.exists():
        return {}
    try:
        rows = json.loads(path.read_text("utf-8"))["made"]
        return {str(name): {"recipe": str(row["recipe"]), "sha256": str(row["sha256"])} for name, row in rows.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        fix = "Delete it and what was made there, and run the command again."
        raise StimuliError(Problem(str(path), "is not what this command wrote", fix=fix)) from None
