"""Marks in the place of e-mail addresses and ids of platforms, for texts that are handed on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

E_MAIL, ID = "[e-mail]", "[id]"
_LOCAL = r"[\w.+%'’-]"
_ADDRESS = re.compile(rf"(?<!{_LOCAL}){_LOCAL}+@[\w-]+(?:\.[\w-]+)+")
_OF_PROLIFIC = re.compile(r"(?<![0-9A-Za-z])[0-9A-Fa-f]{24}(?![0-9A-Za-z])")
_TELLING = 5
"""Letters that an id has to have: the number of a seat is in many sentences that are about something else."""


class Masks:
    """Puts the marks into texts, and counts them by the table that a text stands in."""

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._ids = sorted({id.casefold() for id in ids if len(id) >= _TELLING}, key=lambda id: (-len(id), id))
        self.counts: Counter[str] = Counter()

    def text(self, text: str, table: str = "") -> str:
        """Return a text without addresses, ids that look like Prolific's, and those that are known."""
        masked, addresses = _ADDRESS.subn(E_MAIL, text)
        masked, ids = _OF_PROLIFIC.subn(ID, masked)
        folded = masked.casefold()
        for id in self._ids:
            if id in folded:
                masked, found = re.subn(rf"(?<!\w){re.escape(id)}(?!\w)", ID, masked, flags=re.IGNORECASE)
                ids += found
        if addresses or ids:
            self.counts[table] += addresses + ids
        return masked

    def value(self, value: Any, table: str) -> Any:
        """Return JSON whose texts are masked."""
        if isinstance(value, str):
            return self.text(value, table)
        if isinstance(value, Mapping):
            return {name: self.value(one, table) for name, one in value.items()}
        return [self.value(one, table) for one in value] if isinstance(value, list | tuple) else value
