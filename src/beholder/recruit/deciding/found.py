"""What `decide` found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from beholder.recruit.decisions import Decided, Pay


@dataclass(frozen=True)
class Decisions:
    """Every submission with what is decided about it, and where that is written."""

    rows: tuple[Decided, ...]
    file: Path
    """decide/decisions.csv, which a person may change."""
    signed_by: str
    """Who has signed it this time; empty where nobody has."""
    words: tuple[str, ...]
    """All of this in sentences."""

    @property
    def counts(self) -> Mapping[Pay, int]:
        """How many rows there are of each decision about pay."""
        return Counter(row.pay for row in self.rows)

    @property
    def for_a_person(self) -> tuple[Decided, ...]:
        """The rows that wait for a person: those to look at, and rejections."""
        return tuple(row for row in self.rows if row.pay in ("look", "reject"))
