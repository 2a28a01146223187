"""Scores of those who failed a rule beside those who passed everything."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from beholder.analysis.failures import failures, group_words
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.result import records


def _ratings(**told: Any) -> Ratings:
    """Return ratings of six people with two sessions each, and what was told of these."""
    rng = np.random.default_rng(3)
    rows = [
        {"participant": f"p{person}", "session": f"p{person}-{visit}", "content": f"c{3 * visit + content}",
         "condition": condition, "value": mean + rng.normal(0, 5), "reasons": ""}
        for person in range(6) for visit in (1, 2) for content in range(3)
        for condition, mean in (("a", 40.0), ("b", 60.0))
    ]  # fmt: skip
    return replace(as_ratings(pd.DataFrame(rows)), **told)


def _rows(ratings: Ratings) -> dict[tuple[str, ...], dict[str, Any]]:
    result = failures(ratings)
    assert result is not None
    keys = ("criterion", "reason", "result", "others", "by")
    return {tuple(row[key] for key in keys): row for row in records(result.table)}


def test_what_is_only_recorded_is_a_failure_too() -> None:
    recorded = _rows(_ratings(session_failures={"p0-1": "acuity:rings"}))
    assert recorded["acuity", "", "failed", "any", "session"]["sessions"] == 1
    assert recorded["", "", "passed", "passed", "session"]["sessions"] == 11


def test_by_rater_one_failed_session_counts_for_all_of_a_person() -> None:
    table = _rows(_ratings(session_failures={"p0-1": "acuity:rings", "p1-1": "acuity:rings; gold:wrong"}))
    assert table["acuity", "", "failed", "any", "session"]["sessions"] == 2
    assert table["acuity", "", "failed", "any", "rater"]["sessions"] == 4
    assert table["acuity", "", "failed", "passed", "rater"]["participants"] == 1
    assert table["", "", "passed", "passed", "rater"]["participants"] == 4


def test_ways_of_failing_are_told_apart_and_all_that_passed_one_rule_stand_beside() -> None:
    told = {"p0-1": "distance:too_far", "p1-1": "distance:unclear; gold:wrong"}
    table = _rows(_ratings(session_reasons=told))
    assert table["distance", "", "failed", "any", "session"]["sessions"] == 2
    assert table["distance", "too_far", "failed", "passed", "session"]["sessions"] == 1
    assert ("distance", "unclear", "failed", "passed", "session") not in table
    assert table["distance", "", "passed", "any", "session"]["sessions"] == 10
    assert table["gold", "", "passed", "any", "session"]["sessions"] == 11


def test_a_group_is_held_against_others_who_passed_everything() -> None:
    ratings = _ratings(session_failures={"p0-1": "acuity:rings"})
    row = _rows(ratings)["acuity", "", "failed", "any", "session"]
    used = ratings.used
    mine = used[used["session"] == "p0-1"].groupby("stimulus")["value"].mean()
    others = used[used["participant"] != "p0"].groupby("stimulus")["value"].mean()
    assert row["rmse"] == pytest.approx(float(((mine - others) ** 2).mean() ** 0.5))


def test_nobody_failed_anything() -> None:
    assert failures(_ratings()) is None


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (("", "", "passed", "passed", "session"), "Everything passed"),
        (("acuity", "", "failed", "passed", "rater"), "Acuity: failed, all else passed, by rater"),
        (("acuity", "too_far", "failed", "any", "session"), "Acuity: failed (too far)"),
    ],
)
def test_groups_have_names(row: tuple[str, ...], words: str) -> None:
    named = dict(zip(("criterion", "reason", "result", "others", "by"), row, strict=True))
    assert group_words(named, "Acuity") == words
