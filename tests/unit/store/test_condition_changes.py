"""Changes of the conditions of an arena, by the entries of the ledger."""

from __future__ import annotations

from datetime import UTC, datetime

from beholder.store.condition_changes import (
    JOIN,
    RETIRE,
    RETURN,
    change_entries,
    condition_changes,
    retired_conditions,
)
from beholder.store.contract import LedgerEntry

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def test_who_retires_is_out_until_it_returns_and_every_change_has_its_time() -> None:
    entries = [
        *change_entries(RETIRE, ["a", "b"], NOON),
        LedgerEntry("places", "done", NOON),
        *change_entries(RETURN, ["a"], NOON),
        *change_entries(JOIN, ["new"], NOON, {"stimuli": ["new/1"]}),
    ]
    assert retired_conditions(entries) == {"b"}
    assert retired_conditions(change_entries(RETURN, ["b"], NOON), frozenset({"b", "c"})) == {"c"}
    assert [(one.at, one.what, one.condition) for one in condition_changes(entries)] == [
        (NOON, "retire", "a"), (NOON, "retire", "b"), (NOON, "return", "a"), (NOON, "join", "new")
    ]  # fmt: skip
