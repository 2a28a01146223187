"""What was measured before, so that nothing is measured twice: one line for each value, added when it is known."""

from __future__ import annotations

import hashlib
import json
import math
import threading
from pathlib import Path
from typing import NamedTuple

from beholder.errors import Problem, UserError
from beholder.metrics.kinds import tool_version

RECIPE = "1"
"""Raised where the same tool would be used in another way."""


class Value(NamedTuple):
    """What a metric says of a stimulus; NaN where it says nothing, and then the note tells why."""

    value: float
    note: str = ""


def key(own_sha256: str, reference_sha256: str, metric: str, region: str) -> str:
    """Return the name of a value: both files, the metric, the region and what measures it."""
    words = "\n".join((RECIPE, own_sha256, reference_sha256, metric, region, tool_version(metric)))
    return hashlib.sha256(words.encode()).hexdigest()


class Cache:
    """The file of a folder that remembers values; a line that was cut off is forgotten."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._known: dict[str, Value] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Opened before anything is measured: what could not be kept would be lost.
            with path.open("a+", encoding="utf-8", errors="replace") as file:
                file.seek(0)
                text = file.read()
                # A line that a killed run left half must not spoil the first of ours.
                if text and not text.endswith("\n"):
                    file.write("\n")
        except OSError as error:
            what = f"cannot be written: {error.strerror}"
            raise UserError(Problem(str(path), what, "a folder in which you may write")) from None
        for line in text.splitlines():
            self._remember(line)

    def _remember(self, line: str) -> None:
        try:
            name, value, note = json.loads(line)
            self._known[str(name)] = Value(math.nan if value is None else float(value), str(note))
        except (ValueError, TypeError):
            return

    def get(self, name: str) -> Value | None:
        """Return a value that was measured before."""
        return self._known.get(name)

    def add(self, found: dict[str, Value]) -> None:
        """Remember values, on disk before this returns."""
        lines = [
            json.dumps([name, None if math.isnan(one.value) else one.value, one.note]) for name, one in found.items()
        ]
        with self._lock:
            self._known |= found
            with self._path.open("a", encoding="utf-8") as file:
                file.write("".join(f"{line}\n" for line in lines))
