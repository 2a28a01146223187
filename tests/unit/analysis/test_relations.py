"""Ratings of stimuli of one's own are in no score of conditions, and are compared within people."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import beholder
from beholder.analysis.computation import compute_all
from beholder.analysis.means import conditions
from beholder.analysis.ratings import as_ratings, open_ratings
from beholder.analysis.relations import relation_differences, relations
from beholder.cleaning.ratings import read_ratings
from support.bound_studies import write_bound

PEOPLE = [f"p{n}" for n in range(6)]


def row(person: str, content: str, condition: str, value: float, relation: str) -> dict[str, object]:
    return {
        "participant": person, "content": content, "condition": condition, "stimulus": f"{condition}/{content}",
        "value": value, "relation": relation,
    }  # fmt: skip


def rated(*, own: float = 1.0) -> pd.DataFrame:
    """Return ratings in which the own stimuli of the first four people are better by `own` than those of everybody."""
    rng = np.random.default_rng(1)
    rows = []
    for place, person in enumerate(PEOPLE):
        for condition, level in (("good", 4.0), ("bad", 2.0)):
            rows += [row(person, f"c{n}", condition, level + rng.normal(0, 0.3), "common") for n in range(4)]
            if place < 4:
                rows.append(row(person, f"own{place}", condition, level + own + rng.normal(0, 0.3), "own"))
                rows.append(row(person, f"own{(place + 1) % 4}", condition, level + rng.normal(0, 0.3), "colleague"))
    return pd.DataFrame(rows)


def test_scores_of_conditions_are_those_without_stimuli_of_ones_own() -> None:
    table = rated(own=3.0)
    result, plain = conditions(table), conditions(table[table["relation"] == "common"].drop(columns="relation"))
    pd.testing.assert_frame_equal(result.table, plain.table)
    every = compute_all(as_ratings(table)).results
    for name, one in compute_all(
        as_ratings(table[table["relation"] == "common"].drop(columns="relation"))
    ).results.items():
        pd.testing.assert_frame_equal(every[name].table, one.table, obj=name)
    assert set(every) - {"relations", "relation_differences"} == set(
        compute_all(as_ratings(table[table["relation"] == "common"].drop(columns="relation"))).results
    )


def test_every_relation_has_its_means_with_own_first_and_common_last() -> None:
    table = rated()
    result = relations(table)
    assert result is not None
    assert list(dict.fromkeys(result.table["relation"])) == ["own", "colleague", "common"]
    assert list(dict.fromkeys(result.table["condition"])) == ["", "bad", "good"]
    mine = result.table[(result.table["relation"] == "own") & (result.table["condition"] == "good")].iloc[0]
    values = table[(table["relation"] == "own") & (table["condition"] == "good")]["value"]
    assert (mine["n"], mine["participants"]) == (4, 4)
    assert mine["mean"] == pytest.approx(values.mean())
    low, high = stats.t.interval(0.95, 3, values.mean(), values.sem())
    assert (mine["ci_low"], mine["ci_high"]) == pytest.approx((low, high))
    assert mine["note"] == "few people"


def test_relations_are_compared_within_the_people_who_rated_both() -> None:
    table = rated(own=1.0)
    result = relation_differences(table)
    assert result is not None
    whole = result.table[result.table["condition"] == ""].set_index(["relation", "other_relation"])
    assert list(whole.index) == [("own", "colleague"), ("own", "common"), ("colleague", "common")]
    means = (
        table.groupby(["participant", "relation", "condition"])["value"].mean().groupby(level=[0, 1]).mean().unstack()
    )
    both = means.dropna()
    test = stats.ttest_rel(both["own"], both["common"])
    own = whole.loc[[("own", "common")]].iloc[0]
    assert own["participants"] == 4
    assert own["mean_difference"] == pytest.approx((both["own"] - both["common"]).mean())
    assert (own["statistic"], own["p"], own["df"]) == pytest.approx((test.statistic, test.pvalue, 3))
    assert own["p_holm"] >= own["p"]
    assert own["mean_difference"] == pytest.approx(1, abs=0.5)


def test_one_person_has_a_difference_and_no_test() -> None:
    table = rated()
    alone = table[(table["relation"] == "common") | (table["participant"] == "p0")]
    result = relation_differences(alone)
    assert result is not None
    assert set(result.table["note"]) == {"one person: no test"}
    assert result.table[["p", "p_holm", "ci_low"]].isna().all(axis=None)
    assert result.table["mean_difference"].notna().all()


def test_a_table_that_knows_no_relations_has_none_of_this() -> None:
    table = rated()
    assert relations(table.drop(columns="relation")) is None
    assert relation_differences(table.drop(columns="relation")) is None
    assert relations(table.assign(relation="common")) is None
    # A column of one's own with this name, which says something else, is left alone.
    assert as_ratings(table.assign(relation="sister")).related == {}


def test_where_only_people_with_stimuli_of_their_own_have_rated_these_are_still_in_no_score(tmp_path: Path) -> None:
    path = write_bound(tmp_path / "study", design={"own": {"place": "first"}})
    beholder.simulate(path, participants=6)
    beholder.clean(path)
    ratings = path.parent / "clean" / "ratings.csv"
    table = read_ratings(ratings)
    table[table["relation"] != "common"].to_csv(ratings, index=False)
    opened = open_ratings(path).ratings
    assert len(opened.votes) == 0
    assert set(opened.related) == {"own", "colleague"}


def test_errors_of_the_test_are_as_rare_as_it_claims() -> None:
    """Six people, one stimulus of their own each: where own and common do not differ, one test in twenty says so."""
    rng, times = np.random.default_rng(5), 300
    rows = []
    for question in range(times):
        own = 3 + rng.normal(0, 0.5, 6)
        studied = [row(f"p{n}", f"c{n % 3}", "x", 3.0, "common") for n in range(6)]
        studied += [row(f"p{n}", f"own{n}", "x", float(own[n]), "own") for n in range(6)]
        rows += [{**one, "question": f"q{question}"} for one in studied]
    result = relation_differences(pd.DataFrame(rows))
    assert result is not None
    whole = result.table[result.table["condition"] == ""]
    assert len(whole) == times
    assert 0.02 < (whole["p"] < 0.05).mean() < 0.09
