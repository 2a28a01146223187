"""Pairs of conditions: differences, position, preferences."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beholder.analysis import analyse
from beholder.analysis.pairs import PAIRS, pairs, position, preferences
from beholder.analysis.strengths import strengths
from beholder.analysis.tests import AGREEMENT, PAIR_TESTS, TESTS, agreement
from beholder.analysis.tests import tests as four_tests
from support.choice_ratings import choices, of_conditions, present
from support.crossed_ratings import crossed, write_csv
from support.kind_ratings import results, table
from support.pair_ratings import ODD, ratings
from support.stimulus_ratings import compared, noisy, rated, row


def test_one_condition_has_no_pairs(tmp_path: Path) -> None:
    results = analyse(write_csv(tmp_path, crossed({"a": 1}, 4)))
    assert len(results.pairs) == 0
    assert len(results.conditions) == 1


def test_conditions_that_nobody_rated_both_of_are_compared_as_two_groups(tmp_path: Path) -> None:
    table = crossed({"a": 1, "b": 2}, 4)
    apart = table[(table["participant"] < "p2") == (table["condition"] == "a")]
    (pair,) = analyse(write_csv(tmp_path, apart)).pairs.to_dict("records")
    assert (pair["comparison"], pair["n"], pair["participants"]) == ("between", 8, 4)


def test_equal_conditions_have_p_one(tmp_path: Path) -> None:
    results = analyse(write_csv(tmp_path, crossed({"a": 2, "b": 2}, 6, noise=0)))
    assert results.pairs["p"].tolist() == [1.0]
    assert set(results.conditions["note"]) == {"all participants agree: how far others may differ"}


def test_pairs_of_a_comparison_are_the_comparisons_themselves(tmp_path: Path) -> None:
    analysis = results(
        tmp_path,
        table("choice", *[(f"p{n}", "a", "b", 1) for n in range(6)], *[("p9", "b", "c", 1), ("p8", "b", "c", 1)]),
    )
    pairs = analysis.pairs.set_index(["condition", "other_condition"])["mean_difference"].to_dict()
    assert pairs == {("a", "b"): 1.0, ("b", "c"): 1.0}  # a and c never met, and nobody says that they did


def test_the_difference_of_two_shares_stays_between_minus_one_and_one(tmp_path: Path) -> None:
    rows = [(f"p{n}", name, "", value) for n in range(3) for name, value in (("a", 1), ("b", int(n == 0)))]
    (pair,) = results(tmp_path, table("pick", *rows, unit="Echo")).pairs.to_dict("records")
    assert pair["ci_high"] == 1.0


def test_a_lean_to_the_second_is_tested_as_a_difference_is() -> None:
    raw = [[1.0], [0.0], [2.0], [1.0], [-1.0], [2.0]]
    actual = row(position(compared(raw, [[True], [False]] * 3)))
    known = stats.ttest_1samp(np.ravel(raw), 0)
    for p in ("p", "these_p"):
        assert (actual["mean"], actual["statistic"], actual[p], actual["df"]) == (
            pytest.approx(5 / 6), pytest.approx(known.statistic), pytest.approx(known.pvalue), pytest.approx(5),
        )  # fmt: skip
    assert (actual["first"], actual["ties"], actual["second"]) == (1, 1, 4)
    assert actual["second_share"] == pytest.approx(4.5 / 6)
    assert actual["note"] == ""


def test_a_lean_of_all_is_no_weaker_than_one_with_a_dissenter() -> None:
    second = [[True, False, True, False]] * 8
    everybody = [[1.0, 1.0, 1.0, 1.0]] * 8
    most = [[-1.0, 1.0, 1.0, 1.0], *everybody[1:]]
    all_lean, most_lean = (row(position(compared(raw, second, "choice"))) for raw in (everybody, most))
    for low, p in (("ci_low", "p"), ("these_low", "these_p")):
        assert all_lean[p] <= most_lean[p]
        assert most_lean[low] <= all_lean[low] < 1
    assert all_lean["second_low"] == pytest.approx((1 + all_lean["these_low"]) / 2)


def test_orders_that_are_not_balanced_are_said_so() -> None:
    actual = row(position(compared([[1.0, 1.0], [1.0, 0.0]], [[True, True], [True, True]], "choice")))
    assert actual["balance"] == 1
    assert actual["note"] == "orders are not balanced (100 % one way): the lean may be quality"


def test_without_comparisons_or_without_what_was_seen_there_is_no_position() -> None:
    assert position(rated(noisy())) is None
    assert position(compared([[1.0]], [[True]]).drop(columns="raw_value")) is None


def test_preferences_count_wins_ties_and_losses_with_the_exact_interval_and_test() -> None:
    rows = [(f"p{n}", "t", "a", "b", value) for n, value in enumerate([1.0] * 9 + [-1.0] * 2 + [0.0] * 4)]
    row = present(preferences(choices(*rows))).table.iloc[0]
    assert (row["n"], row["wins"], row["ties"], row["losses"]) == (15, 9, 4, 2)
    exact = stats.binomtest(9, 11)
    ends = exact.proportion_ci(method="exact")
    assert row["share"] == pytest.approx(9 / 11)
    assert (row["exact_low"], row["exact_high"]) == pytest.approx((ends.low, ends.high))
    assert row["exact_p"] == pytest.approx(exact.pvalue)
    assert row["half_share"] == pytest.approx(11 / 15)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 20), st.integers(0, 20))
def test_the_exact_numbers_are_those_of_scipy(wins: int, losses: int) -> None:
    rows = [(f"p{n}", "t", "a", "b", 1.0 if n < wins else -1.0) for n in range(wins + losses)]
    if not rows:
        return
    row = present(preferences(choices(*rows))).table.iloc[0]
    exact = stats.binomtest(wins, wins + losses)
    ends = exact.proportion_ci(method="exact")
    assert (row["exact_low"], row["exact_high"], row["exact_p"]) == pytest.approx((ends.low, ends.high, exact.pvalue))


@settings(max_examples=12, deadline=None)
@given(st.lists(st.lists(st.sampled_from([1.0, 1.0, -1.0, 0.0]), min_size=4, max_size=4), min_size=2, max_size=8))
def test_preferences_are_those_of_pairs_and_never_contradict_themselves(votes: list[list[float]]) -> None:
    table = choices(
        *[(f"p{p}", f"t{t}", "a", "b", value) for p, own in enumerate(votes) for t, value in enumerate(own)]
    )
    share, difference = (present(one(table)).table.iloc[0] for one in (preferences, pairs))
    assert share["half_share"] == pytest.approx((1 + np.mean(votes)) / 2)
    for low, high, p in (("ci_low", "ci_high", "p"), ("these_low", "these_high", "these_p")):
        assert share[p] == difference[p]
        assert (share[low], share[high]) == pytest.approx(((1 + difference[low]) / 2, (1 + difference[high]) / 2))
        assert 0 <= share[low] < share[high] <= 1
        assert (share[low] > 0.5 or share[high] < 0.5) == (share[p] < 0.05)
    unanimous = present(preferences(table.assign(value=1.0))).table.iloc[0]
    assert unanimous["p"] <= share["p"] + 1e-12
    assert unanimous["these_p"] <= share["these_p"] + 1e-12


def test_every_further_vote_for_the_winner_makes_a_preference_surer_up_to_unanimity() -> None:
    # 12 people and 4 contents; votes turn one after the other, evenly over people and contents.
    turned = [(number % 12, (number + number // 12) % 4) for number in range(24)]
    values = np.ones((12, 4))
    for place in turned:
        values[place] = -1
    p = []
    for number, place in enumerate(reversed(turned), 1):
        values[place] = 1
        if number % 4 and number < 22:
            continue
        rows = [(f"p{n}", f"t{t}", "a", "b", value) for (n, t), value in np.ndenumerate(values)]
        p.append(present(preferences(choices(*rows))).table.iloc[0][["p", "these_p"]].to_numpy(float))
    assert (np.diff(p, axis=0) <= 1e-12).all()
    assert p[-1][0] < 0.01
    assert p[-1][1] < 1e-4


def test_the_note_on_choices_does_not_speak_of_least_squares() -> None:
    votes = choices(*[(f"p{n}", f"c{n % 3}", "a", "b", 1.0) for n in range(9)])
    note = present(pairs(votes)).note
    assert note.startswith("How often condition was chosen minus how often other_condition was")
    assert "least squares" not in note
    assert "additive least squares" in present(pairs(ratings({"a": 50, "b": 60}))).note


def test_choices_of_few_people_are_worth_less_than_as_many_of_many() -> None:
    many = [(f"p{n}", "t", "a", "b", 1.0 if n < 30 else -1.0) for n in range(40)]
    few = [(f"p{n % 4}", f"t{n}", "a", "b", -1.0 if n % 4 == 0 else 1.0) for n in range(40)]
    one, other = (present(preferences(choices(*rows))).table.iloc[0] for rows in (many, few))
    assert one["wins"] == other["wins"] == 30
    assert one["exact_low"] == other["exact_low"]
    assert other["ci_high"] - other["ci_low"] > 1.5 * (one["ci_high"] - one["ci_low"])
    assert other["participants"] == 4


def test_grades_become_choices_only_when_asked() -> None:
    table = choices(*[(f"p{n}", "t", "a", "b", value) for n, value in enumerate([3.0, 1.0, -2.0])]).assign(kind="diff")
    assert strengths(table) is None
    assert preferences(table) is None
    result = present(preferences(table, from_grades=True))
    assert (result.table.loc[0, "wins"], result.table.loc[0, "losses"]) == (2, 1)
    assert result.note.endswith("Of grades only the sign counts.")
    assert of_conditions(strengths(table, from_grades=True)).loc["a", "quality"] == pytest.approx(math.log(2) / 2)


COLUMNS = [
    "question", "condition", "other_condition", "comparison", "n", "participants", "contents", "mean_difference", "se",
    "df", "ci_low", "ci_high", "statistic", "p", "p_holm", "these_low", "these_high", "these_p",
    "these_p_holm", "verdict", "test", "effect", "effect_low", "effect_high", "clear_by", "note",
]  # fmt: skip


def test_columns_and_counts_of_a_paired_comparison() -> None:
    actual = pairs(ratings({"a": 40, "b": 60})).table
    assert list(actual.columns) == COLUMNS
    (row,) = actual.to_dict("records")
    assert (row["comparison"], row["n"], row["participants"], row["contents"]) == ("within", 96, 12, 8)
    assert (row["test"], row["verdict"], row["note"]) == ("clustered t", "beyond", "")
    assert row["ci_low"] <= row["these_low"] < row["these_high"] <= row["ci_high"]
    assert row["these_p"] <= row["p"]
    assert row["clear_by"] == "; ".join(TESTS)
    assert row["ci_low"] < row["mean_difference"] < row["ci_high"] < 0


def test_effects_count_people_and_not_pages() -> None:
    data = ratings({"a": 50, "b": 51}, people=9)
    own = data.groupby(["participant", "condition"])["value"].mean().unstack()
    d = (own["a"] - own["b"]).to_numpy()
    (row,) = pairs(data).table.to_dict("records")
    assert row["effect"] == pytest.approx(d.mean() / d.std(ddof=1))


@pytest.mark.parametrize("name", ODD)
def test_odd_ratings_give_tables_that_come_back_from_disk(name: str, tmp_path: Path) -> None:
    data = ODD[name]
    for analysis, result in ((PAIRS, pairs(data)), (PAIR_TESTS, four_tests(data)), (AGREEMENT, agreement(data))):
        if result is None:
            continue
        path = tmp_path / analysis.file
        path.write_bytes(analysis.write(result.table))
        assert "nan" not in path.read_text("utf-8")
        pd.testing.assert_frame_equal(analysis.read(path), result.table, check_dtype=False, rtol=1e-9)
