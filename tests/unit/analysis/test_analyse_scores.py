"""Analyse: means of stimuli, conditions, contents, questions and factors; DMOS, medians and position."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beholder.analysis import analyse
from beholder.analysis.distributions import median_interval, medians
from beholder.analysis.dmos import crush_votes, dmos
from beholder.analysis.means import conditions, contents, factors, questions
from beholder.analysis.pairs import position
from beholder.analysis.ratings import RowOrder, as_ratings, tidy
from beholder.analysis.ratings_table import fill_columns
from beholder.analysis.result import Result, read_result
from beholder.analysis.scores import scores
from beholder.stats.intervals import share_interval, t_interval, unanimous_bounds
from beholder.study.cleaning import Analyse

NAMES = ("no", "01", "NA", "Größe 2")
TABLES = (scores, conditions, contents, questions, factors, dmos, medians, position)


def rated(values: Any, **columns: Any) -> pd.DataFrame:
    """Return ratings from an array of participants x contents x conditions; NaN was not rated."""
    values = np.asarray(values, dtype=float)
    p, c, h = (axis.ravel() for axis in np.indices(values.shape))
    table = pd.DataFrame(
        {"participant": [f"p{n}" for n in p], "content": [f"c{n}" for n in c], "condition": [NAMES[n] for n in h]}
    )
    return table.assign(value=values.ravel(), **columns).dropna(subset=["value"], ignore_index=True)


def noisy(people: int = 8, kinds: int = 3, names: int = 2, seed: int = 3) -> Any:
    rng = np.random.default_rng(seed)
    return rng.integers(1, 6, (people, kinds, names)).astype(float)


def row(result: Result | None, **cells: str) -> dict[str, Any]:
    assert result is not None
    table = result.table
    for column, value in cells.items():
        table = table[table[column] == value]
    (only,) = table.to_dict("records")
    return {str(key): value for key, value in only.items()}


# Stimuli


def test_a_score_has_spread_interval_and_the_name_of_its_method() -> None:
    table = rated([[[1]], [[2]], [[4]], [[5]]], method="acr", scale_min=1, scale_max=5)
    known = t_interval([1, 2, 4, 5])
    found = row(scores(table))
    assert (found["n"], found["mean"], found["median"]) == (4, 3.0, 3.0)
    assert (found["q1"], found["q3"]) == tuple(np.quantile([1, 2, 4, 5], [0.25, 0.75]))
    assert (found["ci_low"], found["ci_high"]) == (pytest.approx(known.low), pytest.approx(known.high))
    assert found["metric"] == "MOS(ACR)"


def test_repetitions_are_averaged_and_their_spread_is_told() -> None:
    once = rated([[[1]], [[2]], [[4]]])
    again = once.assign(value=once["value"] + 1)
    result = scores(pd.concat([once, again]))
    assert row(result)["n"] == 3
    assert row(result)["sd"] == pytest.approx(np.std([1.5, 2.5, 4.5], ddof=1))
    assert f"Repeated votes of one participant differ with an sd of {math.sqrt(0.5):.2f} (rating)." in result.note


def test_what_everybody_scored_alike_is_called_unanimous_and_bounded() -> None:
    result = scores(rated(np.full((24, 1, 1), 4.0), scale_min=1, scale_max=5))
    off = (1 - 0.025 ** (1 / 24)) * 3
    assert "Unanimous: 1 stimulus of 1 got the same score from everybody" in result.note
    assert f"may be off by up to {off:.2f} (rating, on the scale from 1 to 5)." in result.note


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 200), st.floats(0, 100))
def test_the_bound_of_unanimous_votes_stays_on_the_scale_and_is_that_of_none_in_n(n: int, value: float) -> None:
    low, high = unanimous_bounds(value, n, 0, 100)
    assert 0 <= low <= value <= high <= 100.000001
    none = stats.binomtest(0, n).proportion_ci(method="exact").high
    assert high - value == pytest.approx(none * (100 - value))


# Conditions, contents, questions, factors


def test_with_everything_rated_by_all_the_narrower_intervals_are_students() -> None:
    values = noisy()
    for place, name in enumerate(NAMES[:2]):
        found = row(conditions(rated(values)), condition=name)
        own, by_content = t_interval(values[:, :, place].mean(axis=1)), t_interval(values[:, :, place].mean(axis=0))
        pooled = t_interval(values[:, :, place].ravel())
        for kind, known in (("participants", own), ("contents", by_content), ("ratings", pooled)):
            assert (found[f"{kind}_low"], found[f"{kind}_high"]) == (
                pytest.approx(known.low),
                pytest.approx(known.high),
            )
        assert found["mean"] == pytest.approx(own.mean)
        assert found["interval"] == "clustered t over participants and contents"


def test_the_mean_of_a_condition_is_the_mean_of_its_scores() -> None:
    values = noisy(12, 4, 3)
    values[np.random.default_rng(9).random(values.shape) < 0.4] = math.nan
    by_score = scores(rated(values)).table.groupby("condition")["mean"].mean()
    for name, mean in by_score.items():
        assert row(conditions(rated(values)), condition=str(name))["mean"] == pytest.approx(mean)


def test_contents_questions_and_factors_weigh_every_stimulus_the_same() -> None:
    values = noisy(6, 2, 3)
    values[3:, 0, 0] = math.nan
    table = rated(values)
    table["factor_rate"] = table["condition"].map({"no": "low", "01": "high", "NA": "high"})
    means = scores(table).table.set_index("stimulus")["mean"]
    assert row(contents(table), content="c0")["mean"] == pytest.approx(means[["no/c0", "01/c0", "NA/c0"]].mean())
    assert row(questions(table))["mean"] == pytest.approx(means.mean())
    high = row(factors(table), factor="rate", level="high")
    assert high["mean"] == pytest.approx(means[["01/c0", "NA/c0", "01/c1", "NA/c1"]].mean())
    assert (high["contents"], high["stimuli"], high["participants"], high["n"]) == (2, 4, 6, 24)
    assert row(factors(table), level="low")["n"] == 9


def test_a_comparison_counts_for_the_levels_of_both_stimuli() -> None:
    rows = [(f"p{n}", one, other, value) for n in range(5) for one, other, value in (("no", "01", 1), ("01", "NA", 1))]
    table = pd.DataFrame(rows, columns=["participant", "condition", "other_condition", "value"])
    table = table.assign(content="c", kind="choice", factor_of=table["condition"].map({"no": "a", "01": "b"}))
    assert row(factors(table), level="a")["mean"] == 1
    assert row(factors(table), level="b")["mean"] == 0


def test_the_interval_of_a_share_knows_participants_and_contents() -> None:
    rng = np.random.default_rng(2)
    by_person, by_content = rng.normal(0, 1, (30, 1, 1)), rng.normal(0, 1, (1, 12, 1))
    answers = (by_person + by_content + rng.normal(0, 1, (30, 12, 1)) > 0).astype(float)
    found = row(conditions(rated(answers, kind="correct")))
    width = found["ci_high"] - found["ci_low"]
    assert found["interval"] == "Korn-Graubard over participants and contents"
    assert width > found["participants_high"] - found["participants_low"] > found["ratings_high"] - found["ratings_low"]
    own = share_interval(answers.mean(axis=(1, 2)), answers.size)
    assert (found["participants_low"], found["participants_high"]) == (pytest.approx(own.low), pytest.approx(own.high))
    assert 0 <= found["ci_low"] < found["mean"] < found["ci_high"] <= 1


def test_one_content_and_one_participant_are_said_so() -> None:
    alone = row(conditions(rated(noisy(1, 3, 1))))
    assert (alone["note"], alone["interval"]) == ("one participant: no interval", "")
    assert math.isnan(alone["ci_low"])
    assert alone["contents_low"] < alone["mean"]
    single = row(conditions(rated(noisy(6, 1, 1))))
    assert (single["note"], single["interval"]) == (
        "one content: interval over participants only",
        "t over participants",
    )
    assert single["ci_low"] == pytest.approx(single["participants_low"])


# DMOS


def referenced(values: Any, **columns: Any) -> pd.DataFrame:
    """Return votes of which the first condition is the reference."""
    table = rated(values, scale_min=1, scale_max=5, method="acr-hr", **columns)
    return table.assign(role=np.where(table["condition"] == NAMES[0], "hidden_reference", "test"))


def test_dmos_pairs_each_vote_with_the_same_persons_vote_on_the_reference() -> None:
    values = noisy(9, 3, 2)
    table = referenced(values)
    differences = values[:, :, 1] - values[:, :, 0] + 5
    known = t_interval(differences[:, 0])
    found = row(dmos(table), level="stimulus", stimulus="01/c0")
    assert (found["mean"], found["sd"]) == (pytest.approx(known.mean), pytest.approx(known.sd))
    assert (found["ci_low"], found["ci_high"]) == (pytest.approx(known.low), pytest.approx(known.high))
    assert (found["metric"], found["pairing"], found["n"]) == ("DMOS(ACR-HR)", "paired", 9)
    whole = row(dmos(table), level="condition")
    assert whole["mean"] == pytest.approx(differences.mean())
    assert whole["interval"] == "clustered t over participants and contents"


def test_where_few_rated_the_reference_the_means_are_held_against_each_other() -> None:
    values = noisy(10, 2, 2)
    values[:7, 0, 0] = math.nan
    result = dmos(referenced(values))
    found = row(result, level="stimulus", stimulus="01/c0")
    own, reference = values[:, 0, 1], values[7:, 0, 0]
    covariance = np.cov(own[7:], reference)[0, 1] * 3 / (10 * 3)
    se = math.sqrt(own.var(ddof=1) / 10 + reference.var(ddof=1) / 3 - 2 * covariance)
    assert (found["pairing"], found["note"]) == ("unpaired", "unpaired: 3 of 10 rated the reference too")
    assert found["mean"] == pytest.approx(own.mean() - reference.mean() + 5)
    assert (found["ci_high"] - found["ci_low"]) / 2 == pytest.approx(stats.t.ppf(0.975, 2) * se)
    assert row(result, level="stimulus", stimulus="01/c1")["pairing"] == "paired"
    whole = row(result, level="condition")
    means = [own.mean() - reference.mean() + 5, (values[:, 1, 1] - values[:, 1, 0]).mean() + 5]
    assert (whole["pairing"], whole["mean"]) == ("unpaired", pytest.approx(np.mean(means)))


def test_crushing_and_clipping_have_names_of_their_own() -> None:
    table = referenced(noisy())
    asked = tidy(fill_columns(table), RowOrder(settings=Analyse(crush="clip")))
    assert row(dmos(asked), level="condition")["metric"] == "DMOS(ACR-HR, clipped)"
    assert row(dmos(table, crush="crush"), level="condition")["metric"] == "DMOS(ACR-HR, crushed)"
    assert row(dmos(table), level="condition")["metric"] == "DMOS(ACR-HR)"


@settings(max_examples=40, deadline=None)
@given(st.floats(-3, 100), st.sampled_from([5.0, 9.0, 100.0]))
def test_drawn_in_votes_keep_their_order_and_those_below_the_top_stay(dv: float, highest: float) -> None:
    drawn = float(crush_votes(dv, highest))
    assert drawn == dv if dv <= highest else highest < drawn < dv
    assert float(crush_votes(dv, highest, "clip")) == min(dv, highest)
    assert float(crush_votes(dv, highest, "none")) == dv


def test_a_poor_source_is_named_and_a_content_without_reference_has_no_dmos() -> None:
    values = noisy(6, 3, 2)
    values[:, 0, 0], values[:, 1, 0] = 3, 5
    values[:, 2, 0] = math.nan
    result = dmos(referenced(values))
    assert result is not None
    assert "the reference scores below 4 for c0 (3.00): a poor source." in result.note
    assert "nobody rated the reference of 1 stimulus." in result.note
    assert set(result.table["stimulus"]) == {"01/c0", "01/c1", ""}


def test_other_methods_have_no_dmos() -> None:
    assert dmos(rated(noisy())) is None
    assert dmos(referenced(noisy()).assign(method="mushra")) is None
    assert dmos(referenced(noisy()).assign(kind="diff")) is None


# Medians


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 100), min_size=1, max_size=60))
def test_the_interval_of_a_median_is_that_of_the_quantile_test(values: list[int]) -> None:
    found = median_interval(values)
    assert found.median == np.median(values)
    if len(values) < 6:
        assert math.isnan(found.low)
        return
    known = stats.quantile_test(np.asarray(values, float), p=0.5).confidence_interval(confidence_level=0.95)
    assert (found.low, found.high) == (known.low, known.high)
    assert found.coverage >= 0.95


def test_the_interval_of_a_median_covers_as_often_as_it_says() -> None:
    draws = np.random.default_rng(4).normal(0, 1, (600, 12))
    ends = [median_interval(one) for one in draws]
    covered = np.mean([one.low <= 0 <= one.high for one in ends])
    assert covered == pytest.approx(ends[0].coverage, abs=0.04)


def test_medians_of_conditions_are_of_each_participants_own_median() -> None:
    values = noisy(7, 3, 2) * 20
    result = medians(rated(values, method="mushra"))
    found = row(result, level="condition", condition="no")
    known = median_interval(np.median(values[:, :, 0], axis=1))
    assert (found["n"], found["median"], found["ci_low"], found["ci_high"]) == (7, known.median, known.low, known.high)
    assert found["metric"] == "MUSHRA median"
    assert row(result, stimulus="01/c2")["median"] == np.median(values[:, 2, 1])


def test_medians_of_other_scores_come_when_asked_for() -> None:
    table = rated(noisy(4))
    assert medians(table) is None
    found = row(medians(table, questions=["rating"]), level="condition", condition="no")
    assert (found["metric"], found["note"]) == ("Median", "fewer than six participants: no interval")


# Position


def compared(raw: list[list[float]], seconds: list[list[bool]], kind: str = "diff") -> pd.DataFrame:
    """Return comparisons of a with b: what was answered as seen, and whether a was the second."""
    rows = [
        {"participant": f"p{p}", "content": f"c{c}", "condition": "a", "other_condition": "b", "raw_value": seen,
         "value": seen if second else -seen, "kind": kind, "method": "ccr" if kind == "diff" else "pair"}
        for p, (own, orders) in enumerate(zip(raw, seconds, strict=True))
        for c, (seen, second) in enumerate(zip(own, orders, strict=True))
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_a_lean_to_the_second_is_tested_over_participants() -> None:
    raw = [[1.0, 2.0], [0.0, 1.0], [1.0, -1.0], [2.0, 1.0]]
    found = row(position(compared(raw, [[True, False]] * 4)))
    known = stats.ttest_1samp(np.mean(raw, axis=1), 0)
    assert (found["mean"], found["statistic"], found["p"], found["df"]) == (
        pytest.approx(0.875), pytest.approx(known.statistic), pytest.approx(known.pvalue), 3,
    )  # fmt: skip
    assert (found["first"], found["ties"], found["second"]) == (1, 1, 6)
    assert found["second_share"] == pytest.approx((1 + 1 + 0.5 + 1) / 4)
    assert found["note"] == ""


def test_orders_that_are_not_balanced_are_said_so() -> None:
    found = row(position(compared([[1.0, 1.0], [1.0, 0.0]], [[True, True], [True, True]], "choice")))
    assert found["balance"] == 1
    assert found["note"] == "orders are not balanced (100 % one way): the lean may be quality"


def test_without_comparisons_or_without_what_was_seen_there_is_no_position() -> None:
    assert position(rated(noisy())) is None
    assert position(compared([[1.0]], [[True]]).drop(columns="raw_value")) is None


# Degenerate input


def degenerate() -> dict[str, pd.DataFrame]:
    usual = referenced(noisy(4, 2, 4)).assign(factor_rate="NA")
    sliders = rated(noisy(4, 2, 4), method="mushra")
    choices = compared([[1.0]], [[True]], "choice")
    return {
        "one rater": usual[usual["participant"] == "p0"],
        "one condition": usual[usual["condition"] == "no"],
        "one vote": usual.head(1),
        "all equal": usual.assign(value=3.0),
        "all missing": usual.assign(value=math.nan),
        "none used": usual.assign(use=False),
        "empty": usual.head(0),
        "a rater with one rating": usual.drop(index=[1, 2, 3, 4, 5, 6, 7]),
        "no reference of a content": usual[~((usual["content"] == "c0") & (usual["condition"] == "no"))],
        "sliders": sliders,
        "one slider": sliders.head(1),
        "one comparison": choices,
        "one tie": choices.assign(value=0.0, raw_value=0.0),
        "everybody alike": compared([[1.0, 1.0], [1.0, 1.0]], [[True, False]] * 2, "choice"),
        "unnamed levels": usual.assign(factor_rate=""),
    }


@pytest.mark.parametrize("name", degenerate())
def test_degenerate_ratings_give_tables_that_come_back_from_disk(name: str, tmp_path: Path) -> None:
    ratings = as_ratings(degenerate()[name])
    for one in TABLES:
        result = one(ratings)
        if result is None:
            continue
        assert re.search(r"\bnan\b", result.note, re.IGNORECASE) is None
        assert result.table["mean" if "mean" in result.table else "median"].notna().all()
        path = tmp_path / "table.csv"
        result.table.to_csv(path, index=False)
        pd.testing.assert_frame_equal(read_result(path), result.table.reset_index(drop=True), check_dtype=False)


def test_the_tables_are_among_the_results_and_their_names_come_back(tmp_path: Path) -> None:
    table = referenced(noisy(6, 2, 4)).assign(factor_rate="01", factor_größe="NA")
    table.to_csv(tmp_path / "ratings.csv", index=False)
    results = analyse(tmp_path / "ratings.csv")
    assert {"questions", "factors", "dmos"} <= set(results.also)
    assert set(results.also["factors"]["level"]) == {"01", "NA"}
    assert set(results.also["factors"]["factor"]) == {"rate", "größe"}
    back = read_result(tmp_path / "analyse" / "dmos.csv")
    pd.testing.assert_frame_equal(back, results.also["dmos"], check_dtype=False)
    assert set(results.conditions["condition"]) == set(NAMES)
