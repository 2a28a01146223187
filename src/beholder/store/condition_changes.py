"""Changes of the conditions of an arena, as its ledger keeps them: who joined, retired and came back, and when.

Whoever deals reads them, and whoever ranks: what has retired is dealt no more, and stays on the board without a rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from beholder.store.contract import LedgerEntry
from beholder.types import Json

CONDITION = "condition"
"""The kind of entries about conditions."""
JOIN, RETIRE, RETURN = "join", "retire", "return"
"""Their reason codes."""


class ConditionChange(NamedTuple):
    """A change of the conditions of an arena."""

    at: datetime
    what: str
    """join, retire or return."""
    condition: str


def condition_changes(entries: Iterable[LedgerEntry]) -> list[ConditionChange]:
    """Return the changes in a ledger, oldest first."""
    return [ConditionChange(one.at, one.reason_code, one.reason_text) for one in entries if one.kind == CONDITION]


def retired_conditions(entries: Iterable[LedgerEntry], before: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return which conditions have retired after some more entries, and have not come back."""
    retired = set(before)
    for change in condition_changes(entries):
        if change.what == RETIRE:
            retired.add(change.condition)
        elif change.what == RETURN:
            retired.discard(change.condition)
    return frozenset(retired)


def change_entries(what: str, names: Sequence[str], now: datetime, evidence: Json = None) -> list[LedgerEntry]:
    """Return the entries of a change of some conditions."""
    return [
        LedgerEntry(CONDITION, "done", now, reason_code=what, reason_text=name, evidence=evidence) for name in names
    ]
