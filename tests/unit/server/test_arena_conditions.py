"""Conditions of an arena, by the entries of the ledger."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from beholder.errors import UserError
from beholder.server.arena_conditions import (
    JOIN,
    RETIRE,
    RETURN,
    change_entries,
    check_change,
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


@pytest.mark.parametrize(
    ("what", "names", "message"),
    [
        (RETIRE, ["x"], "--retire  is x, which is no condition. Allowed: a, b, c."),
        (RETIRE, ["c"], "--retire  is c, which has retired already. Allowed: a, b."),
        (RETIRE, ["a"], "--retire  would leave 1 to compare. Allowed: at least 2."),
        (RETURN, ["a"], "--return  is a, which has not retired. Allowed: c."),
    ],
)
def test_what_cannot_be_changed_is_told(what: str, names: list[str], message: str) -> None:
    with pytest.raises(UserError) as caught:
        check_change(what, names, ("a", "b", "c"), frozenset({"c"}))
    assert [str(problem) for problem in caught.value.problems] == [message]
    check_change(RETURN, ["c"], ("a", "b", "c"), frozenset({"c"}))
