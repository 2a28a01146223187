"""Does any conclusion depend on the cleaning, and what would those have said who failed a rule?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from beholder.analysis.ratings import as_ratings
from beholder.analysis.result import records
from beholder.analysis.sensitivity import criteria, criteria_scores, rating_rules, sensitivity
from beholder.stats.correlation import agreement

_MEANS = {"a": 40.0, "b": 50.0, "NA": 60.0}


def _ratings(bad: dict[str, str], *, people: int = 20, contents: int = 12, noise: float = 6) -> pd.DataFrame:
    """Return ratings of which some people, by number and reasons, say at random what they like."""
    rng = np.random.default_rng(4)
    rows: list[dict[str, Any]] = []
    for person in range(people):
        reasons = bad.get(str(person), "")
        for content in range(contents):
            for condition, mean in _MEANS.items():
                value = rng.uniform(0, 100) if reasons else rng.normal(mean, noise)
                rows.append(
                    {
                        "participant": f"p{person}",
                        "session": f"s{person}",
                        "content": f"{content:02}",
                        "condition": condition,
                        "value": float(value),
                        "use": not reasons,
                        "reasons": reasons,
                    }
                )
    return pd.DataFrame(rows)


def _choice(table: pd.DataFrame, name: str) -> dict[str, Any]:
    return next(row for row in records(table) if row["choice"] == name)


def test_each_rule_is_switched_off_and_nobody_left_out() -> None:
    table = sensitivity(_ratings({"0": "gold:wrong", "1": "variance:same_answer", "2": "gold:wrong; speed:session"}))
    assert table is not None
    actual = table.table
    # Nobody is lost for speed alone, so that switching it off changes nothing.
    assert list(actual["choice"]) == ["as cleaned", "nobody left out", "without gold", "without variance"]
    assert list(actual["participants"]) == [17, 20, 18, 18]
    assert set(actual["changed"]) == {"no"}
    assert set(actual["order"]) == {"kept"}
    assert _choice(actual, "as cleaned")["shift"] == 0


def test_a_conclusion_that_hangs_on_the_cleaning_is_found() -> None:
    ratings = _ratings({})
    is_bad = ratings["participant"].isin([f"p{person}" for person in range(10)])
    ratings.loc[is_bad, "value"] = 100 - ratings.loc[is_bad, "value"]
    ratings.loc[is_bad, "use"] = False
    ratings.loc[is_bad, "reasons"] = "attention:wrong"
    result = sensitivity(ratings)
    assert result is not None
    row = _choice(result.table, "nobody left out")
    assert row["changed"] == "yes"
    assert row["lost"] == 3
    assert row["shift"] == pytest.approx(10, abs=2)


def test_a_turned_conclusion_is_neither_gained_nor_lost() -> None:
    ratings = _ratings({}, people=30)
    is_bad = ratings["participant"].isin([f"p{person}" for person in range(24)])
    ratings.loc[is_bad, "value"] = 100 - ratings.loc[is_bad, "value"]
    ratings.loc[is_bad, "use"] = False
    ratings.loc[is_bad, "reasons"] = "attention:wrong"
    result = sensitivity(ratings)
    assert result is not None
    row = _choice(result.table, "nobody left out")
    assert (row["turned"], row["gained"], row["lost"]) == (3, 0, 0)
    assert (row["changed"], row["order"]) == ("yes", "changed")


def test_nothing_left_out_has_nothing_to_vary() -> None:
    assert sensitivity(_ratings({})) is None
    assert criteria(_ratings({})) is None
    assert criteria_scores(_ratings({})) is None
    assert rating_rules(_ratings({"0": "gold:wrong"})) is None


def test_a_rule_over_ratings_that_is_only_noted_is_tried_and_its_scores_stand_beside() -> None:
    noted = replace(as_ratings(_ratings({})), session_reasons={"s0": "agreement:disagrees", "s1": "gold:wrong"})
    result, scores = sensitivity(noted), rating_rules(noted)
    assert result is not None
    assert scores is not None
    # gold does not depend on ratings of what is tested: it is no choice of its own.
    assert list(result.table["choice"]) == ["as cleaned", "with agreement", "unmarked only"]
    assert list(result.table["rule"]) == ["", "agreement", ""]
    assert list(result.table["participants"]) == [20, 19, 18]
    actual = {(row["choice"], row["condition"]): row for row in records(scores.table)}
    assert {choice: actual[choice, "a"]["participants"] for choice in ("with", "without")} == {
        "with": 19,
        "without": 20,
    }
    assert {row["choice"] for row in actual.values() if row["as_cleaned"] == "yes"} == {"without"}
    by_hand = _ratings({}).query("participant != 'p0' and condition == 'a'")["value"].mean()
    assert actual["with", "a"]["mean"] == pytest.approx(by_hand)


def test_a_rule_over_ratings_that_costs_the_use_is_shown_without_it() -> None:
    scores = rating_rules(_ratings({"0": "agreement:disagrees", "1": "gold:wrong; agreement:disagrees"}))
    assert scores is not None
    actual = {(row["choice"], row["as_cleaned"]): row["participants"] for row in records(scores.table)}
    assert actual == {("with", "yes"): 18, ("without", "no"): 19}


def test_no_usable_rating_leaves_empty_tables() -> None:
    ratings = _ratings({str(person): "gold:wrong" for person in range(20)})
    result = sensitivity(ratings)
    assert result is not None
    assert result.table.empty
    assert criteria(ratings) is not None


def test_who_failed_a_rule_is_held_against_who_is_used() -> None:
    ratings = _ratings({"0": "gold:wrong", "1": "gold:wrong", "2": "variance:same_answer; gold:wrong"})
    result = criteria(ratings)
    assert result is not None
    table = {row["criterion"]: row for row in records(result.table)}
    assert list(table) == ["used", "gold", "variance"]
    assert [row["participants"] for row in table.values()] == [17, 3, 1]
    assert [row["per_stimulus"] for row in table.values()] == [17, 3, 1]
    # Random answers do not agree, and as many of the used people do.
    assert abs(table["gold"]["pearson"]) < 0.5
    assert table["gold"]["expected_pearson"] > 0.8
    assert table["gold"]["rmse"] > 2 * table["gold"]["expected_rmse"]
    by_hand = [ratings[ratings["reasons"].str.contains("gold")], ratings[ratings["use"]]]
    means = [part.groupby(["condition", "content"])["value"].mean() for part in by_hand]
    assert table["gold"]["rmse"] == pytest.approx(agreement(*means).rmse, abs=1e-9)
    assert table["gold"]["pearson"] == pytest.approx(agreement(*means).pearson, abs=1e-9)


def test_scores_of_those_who_failed_stand_beside_the_used() -> None:
    result = criteria_scores(_ratings({"0": "gold:wrong"}))
    assert result is not None
    table = {(row["criterion"], row["condition"]): row for row in records(result.table)}
    assert table["used", "NA"]["mean"] == pytest.approx(60, abs=1.5)
    assert table["gold", "NA"]["participants"] == 1


def test_one_person_who_failed_with_one_rating_has_no_correlation() -> None:
    ratings = _ratings({"0": "gold:wrong"})
    one = ratings[(ratings["participant"] != "p0") | ((ratings["content"] == "00") & (ratings["condition"] == "a"))]
    result = criteria(one)
    assert result is not None
    row = next(row for row in records(result.table) if row["criterion"] == "gold")
    assert row["ratings"] == 1
    assert np.isnan(row["pearson"])
    assert row["rmse"] > 0
