"""What ratings and their sessions failed, read once for each different text."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.reasons import failed_reasons

SESSIONS = ["s1", "s1", "s2", "s3", "s3"]


def ratings(reasons: list[str]) -> Ratings:
    """Return ratings of three sessions, the last two of one person."""
    names = {"s1": "p1", "s2": "p2", "s3": "p2"}
    rows = [
        {"participant": names[session], "session": session, "content": f"c{place}", "condition": "a", "value": place,
         "reasons": why}
        for place, (session, why) in enumerate(zip(SESSIONS, reasons, strict=True))
    ]  # fmt: skip
    return as_ratings(pd.DataFrame(rows))


def test_what_is_told_of_a_session_counts_for_all_of_its_ratings() -> None:
    some = ratings(["", "speed:too_fast", "", "speed:too_fast; trap:wrong", ""])
    alone, told = failed_reasons(some), failed_reasons(some, {"s1": "trap:wrong", "s9": "gold:wrong"}, {})
    assert alone.has_rule("trap").tolist() == [False, False, False, True, False]
    assert told.has_rule("trap").tolist() == [True, True, False, True, False]
    assert told.has_rule("trap", only=True).tolist() == [True, False, False, False, False]
    assert told.is_nothing.tolist() == [False, False, True, False, True]
    assert told.rules_among() == ["speed", "trap"]
    assert alone.rules_among(np.array([True, True, True, False, True])) == ["speed"]


def test_reasons_of_one_rule_are_told_apart() -> None:
    some = failed_reasons(ratings(["ratio:short", "ratio:long", "ratio:long; trap:wrong", "", ""]))
    assert some.has_reason("ratio:long").tolist() == [False, True, True, False, False]
    assert some.has_reason("ratio:long", only=True).tolist() == [False, True, False, False, False]


def test_a_unit_failed_what_any_of_its_ratings_did() -> None:
    table = ratings(["", "", "trap:wrong", "", "gold:wrong"])
    some = failed_reasons(table)
    people = some.by_unit(table.rows["participant"])
    assert people.has_rule("trap").tolist() == [False, False, True, True, True]
    assert people.has_rule("gold").tolist() == [False, False, True, True, True]
    assert not people.is_same(some)
    assert some.is_same(some.by_unit(pd.Series(range(5))))


def test_no_ratings_failed_nothing() -> None:
    nobody = ratings(["", "", "", "", ""])
    some = failed_reasons(replace(nobody, rows=nobody.rows.head(0)), {"s1": "trap:wrong"})
    assert some.rules_among() == []
    assert len(some.is_nothing) == 0
