"""Pairs: preferences, Bradley-Terry, Thurstone and ranks give published and planted numbers, and explain the rest."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.special import expit

from beholder.analysis.bradley_terry import fit_strengths
from beholder.analysis.comparisons import BRADLEY_TERRY, Tally
from beholder.analysis.pairs import preferences
from beholder.analysis.ranks import ranks
from beholder.analysis.ratings import as_ratings
from beholder.analysis.result import Result
from beholder.analysis.strengths import strength_pairs, strengths
from support.data import DATA

Row = tuple[str, str, str, str, float]
"""participant, content, condition, other condition, value"""


def data_file(name: str) -> Path:
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"{name} is not in {DATA}; set BEHOLDER_TEST_DATA")
    return path


def choices(*rows: Row) -> pd.DataFrame:
    names = ["participant", "content", "condition", "other_condition", "value"]
    return pd.DataFrame(rows, columns=names).assign(kind="choice", question="q")


def told(found: Result | None) -> Any:
    assert found is not None
    return found


def of_conditions(found: Result | None, model: str = "bradley-terry") -> Any:
    table = told(found).table
    return table[(table["model"] == model) & (table["level"] == "condition")].set_index("condition")


def simulated(
    strength: dict[str, float],
    *,
    people: int = 40,
    each: int = 60,
    position: float = 0.0,
    ties: float = 0.0,
) -> pd.DataFrame:
    """Return choices as Davidson's model makes them, with a position effect."""
    rng = np.random.default_rng(1)
    names, n = np.array(list(strength)), people * each
    person = np.repeat(np.arange(people), each)
    own = np.array(list(strength.values()))
    one = rng.integers(len(names), size=n)
    other = (one + 1 + rng.integers(len(names) - 1, size=n)) % len(names)
    is_first = rng.random(n) < 0.5
    difference = own[one] - own[other] + position * np.where(is_first, 1, -1)
    win, loss = np.exp(difference / 2), np.exp(-difference / 2)
    drawn = rng.random(n) * (win + loss + ties)
    value = np.where(drawn < win, 1.0, np.where(drawn < win + loss, -1.0, 0.0))
    return pd.DataFrame(
        {
            "participant": [f"p{number}" for number in person],
            "content": np.where(rng.random(n) < 0.5, "tree", "lake"),
            "condition": names[one],
            "other_condition": names[other],
            "value": value,
            "raw_value": np.where(is_first, -value, value),
            "slot": np.where(is_first, "s1", "s2"),
            "kind": "choice",
            "question": "q",
        }
    )


# Published values


@pytest.mark.parametrize(("link", "model"), [("logit", "bradley-terry"), ("probit", "thurstone")])
def test_pairs_of_five_contents_give_the_reference_strengths_and_errors(link: str, model: str) -> None:
    raw = pd.read_csv(data_file("ratings/lukas_pc_raw.csv"))
    reference = pd.read_csv(data_file("ratings/lukas_pc_glm_reference.csv"))
    reference = reference[reference["link"] == link].set_index("index")
    numbers = dict(zip(raw["winner"], raw["winner_index"], strict=True))
    numbers |= dict(zip(raw["loser"], raw["loser_index"], strict=True))
    table = pd.DataFrame(
        {
            "participant": raw["subject"], "content": raw["content"], "condition": raw["winner"],
            "other_condition": raw["loser"], "value": 1.0, "kind": "choice",
        }
    )  # fmt: skip
    result = told(strengths(table, models=[model]))
    assert "there are 5 groups that were never compared with each other, not even through others (Caps1," in result.note
    for level in ("condition", "stimulus"):
        found = result.table[result.table["level"] == level]
        wanted = reference.loc[found["condition"].map(numbers)]
        assert len(found) == 40
        assert set(found["estimator"]) == {"maximum likelihood"}
        np.testing.assert_allclose(found["quality"], wanted["quality_centered_within_content"], atol=1e-6)
        np.testing.assert_allclose(found["model_se"], wanted["se_sum_to_zero"], atol=1e-6)
        # One person's comparisons are alike: on the whole the honest error is larger.
        assert (found["se"] / found["model_se"]).median() > 1.1


def test_two_conditions_give_the_logit_and_the_probit_of_the_share() -> None:
    table = choices(*[(f"p{n}", "t", "a", "b", 1.0 if n < 7 else -1.0) for n in range(10)])
    found = told(strength_pairs(table)).table.set_index("model")
    assert found.loc["bradley-terry", "difference"] == pytest.approx(math.log(0.7 / 0.3), abs=1e-9)
    assert found.loc["bradley-terry", "model_se"] == pytest.approx(1 / math.sqrt(10 * 0.7 * 0.3), abs=1e-9)
    assert found.loc["thurstone", "difference"] == pytest.approx(stats.norm.ppf(0.7), abs=1e-9)
    np.testing.assert_allclose(found["win_probability"], 0.7)
    # With one comparison of each person the sandwich is the plain error but for G / (G - 1).
    assert found.loc["bradley-terry", "se"] == pytest.approx(math.sqrt(10 / 9 / (10 * 0.21)), abs=1e-9)
    assert (found["df"] == 9).all()


# Ties and order


def davidson_by_hand(table: pd.DataFrame) -> np.ndarray:
    """Return strengths of a, b and c less their mean, position effect and log ν, by a general optimiser."""
    names = {"a": 0, "b": 1, "c": 2}
    one, other = table["condition"].map(names).to_numpy(), table["other_condition"].map(names).to_numpy()
    order = np.where(table["slot"] == "s1", 1.0, -1.0)
    value = table["value"].to_numpy()

    def loss(x: np.ndarray) -> float:
        strength = np.array([x[0], x[1], -x[0] - x[1]])
        d = strength[one] - strength[other] + x[2] * order
        whole = np.logaddexp(np.logaddexp(d / 2, -d / 2), x[3])
        return float(-np.where(value > 0, d / 2, np.where(value < 0, -d / 2, x[3])).sum() + whole.sum())

    x = optimize.minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-7}).x
    return np.array([x[0], x[1], -x[0] - x[1], x[2], x[3]])


def test_ties_and_order_are_estimated_together_with_the_strengths() -> None:
    table = simulated({"a": 0.8, "b": 0.0, "c": -0.8}, position=0.4, ties=0.7, people=30, each=20)
    found = told(strengths(table, models=["bradley-terry"])).table
    whole = found[found["level"] != "stimulus"]
    assert list(whole["level"]) == ["condition"] * 3 + ["position", "tie"]
    np.testing.assert_allclose(whole["quality"], davidson_by_hand(table), atol=1e-5)


@pytest.mark.parametrize("model", ["bradley-terry", "thurstone"])
def test_planted_strengths_order_and_ties_come_out(model: str) -> None:
    planted = {"a": 1.2, "b": 0.2, "c": -0.4, "d": -1.0}
    table = simulated(planted, position=0.3, ties=0.8, people=100, each=60)
    result = told(strengths(table, models=[model]))
    found = result.table[result.table["level"] != "stimulus"].set_index("level")
    if model == "bradley-terry":
        assert (
            np.abs(found.loc["condition", "quality"] - list(planted.values())) < 4 * found.loc["condition", "se"]
        ).all()
        assert found.loc["position", "quality"] == pytest.approx(0.3, abs=0.1)
        assert found.loc["tie", "quality"] == pytest.approx(math.log(0.8), abs=0.15)
    assert list(found.loc["condition", "quality"].rank()) == [4, 3, 2, 1]
    assert found.loc["position", "low"] > 0
    assert "above zero the one shown first, or left, is preferred among equals" in result.note


def test_a_choice_counts_the_same_whichever_condition_the_row_is_about() -> None:
    table = simulated({"a": 0.5, "b": 0.0, "c": -0.5}, position=0.3, ties=0.5, each=20)
    turned = table.rename(columns={"condition": "other_condition", "other_condition": "condition"})
    turned = turned.assign(value=-table["value"], slot=table["slot"].map({"s1": "s2", "s2": "s1"}))
    one, other = (told(strengths(each)).table for each in (table, turned))
    pd.testing.assert_frame_equal(one, other, check_exact=False, atol=1e-8)


def test_without_the_order_no_position_effect_is_claimed() -> None:
    table = simulated({"a": 0.5, "b": -0.5}, position=0.3).drop(columns=["raw_value", "slot"])
    assert "position" not in set(told(strengths(table)).table["level"])
    always_first = simulated({"a": 0.5, "b": -0.5}).query("slot == 's1' and condition == 'a'")
    assert "position" not in set(told(strengths(always_first)).table["level"])


# Errors


def crowd(people: int, each: int, spread: float, rng: np.random.Generator) -> Tally:
    """Return choices among three of a crowd in which everybody has strengths of their own around 0.3, 0 and -0.3."""
    person = np.repeat(np.arange(people), each)
    own = np.array([0.3, 0.0, -0.3]) + rng.normal(0, spread, (people, 3))
    pair = rng.integers(3, size=len(person))
    one, other = np.array([0, 0, 1])[pair], np.array([1, 2, 2])[pair]
    won = (rng.random(len(person)) < expit(own[person, one] - own[person, other])).astype(float)
    nothing = np.zeros(len(person))
    return Tally(("a", "b", "c"), one, other, nothing, person, won, nothing, 1 - won)


@pytest.mark.long
def test_clustered_intervals_cover_where_people_differ_and_plain_ones_do_not(whole: bool) -> None:
    spread, people, runs = 0.8, 30, 4000 if whole else 120
    # What the model says of endless comparisons by endless people: their strengths differ, so they win less often.
    z, weight = np.polynomial.hermite_e.hermegauss(40)
    far = np.array([0.3, 0.6, 0.3])[:, None] + math.sqrt(2) * spread * z
    share = expit(far) @ weight / weight.sum()
    nothing = np.zeros(3)
    pairs = (np.array([0, 0, 1]), np.array([1, 2, 2]))
    limit = fit_strengths(
        Tally(("a", "b", "c"), *pairs, nothing, np.arange(3), share, nothing, 1 - share), BRADLEY_TERRY
    )
    truth = limit.quality[0] - limit.quality[2]
    rng = np.random.default_rng(11)
    off, error, plain = [], [], []
    for _ in range(runs):
        found = fit_strengths(crowd(people, 30, spread, rng), BRADLEY_TERRY)
        off.append(found.quality[0] - found.quality[2] - truth)
        contrast = np.array([1.0, 0.0, -1.0])
        error.append(math.sqrt(contrast @ found.covariance @ contrast))
        plain.append(math.sqrt(contrast @ found.model_covariance @ contrast))
    far_off, t = np.abs(off), stats.t.ppf(0.975, people - 1)
    assert abs(np.mean(far_off <= t * np.array(error)) - 0.95) < (0.02 if whole else 0.06)
    assert np.mean(far_off <= 1.96 * np.array(plain)) < 0.85


def test_one_person_has_strengths_but_no_interval() -> None:
    table = choices(*[("p", "t", "a", "b", value) for value in (1.0, 1.0, -1.0)])
    found = of_conditions(strengths(table))
    assert found.loc["a", "quality"] == pytest.approx(math.log(2) / 2)
    assert found[["se", "low", "high"]].isna().all(axis=None)
    assert found.loc["a", "model_se"] > 0
    assert set(found["note"]) == {"one participant: no interval"}
    assert ranks(table) is None


def test_people_who_answer_alike_are_no_certainty() -> None:
    wins = [("a", "b"), ("b", "c"), ("c", "a"), ("a", "b")]
    found = of_conditions(strengths(choices(*[(p, "t", one, other, 1.0) for p in "xyz" for one, other in wins])))
    note = "all participants answered alike: error as if all comparisons were independent"
    assert set(found["note"]) == {note}
    np.testing.assert_allclose(found["se"], found["model_se"])


# What cannot be put on one scale


def test_one_that_never_lost_is_held_by_a_prior_and_named() -> None:
    rows = [(f"p{n}", "t", "best", other, 1.0) for n in range(12) for other in ("b", "c")]
    rows += [(f"p{n}", "t", "b", "c", 1.0 if n % 2 else -1.0) for n in range(12)]
    result = told(strengths(choices(*rows)))
    found = of_conditions(result)
    assert set(found["estimator"]) == {"Gaussian prior"}
    assert set(found["note"]) == {"best never lost to any of the others; b and c never won against any of the others"}
    assert 1.5 < found.loc["best", "quality"] < 4
    assert found.loc["best", "quality"] > found.loc["b", "quality"]
    assert found["quality"].sum() == pytest.approx(0, abs=1e-9)
    assert (found["se"] > 0.2).all()
    assert (
        " q: best never lost to any of the others; b and c never won against any of the others. The likelihood alone "
        "would put such a strength at infinity, so a Gaussian prior around zero holds this group (sd 2 for "
        "Bradley-Terry, 1.2 for Thurstone (case V)); its error is that of the posterior."
    ) in result.note


def test_groups_that_were_never_compared_are_told_apart() -> None:
    rows = [
        (f"p{n}", "t", one, other, 1.0 if (n + len(one)) % 3 else -1.0)
        for n in range(9)
        for one, other in (("NA", "no"), ("01", "Größe 2"))
    ]
    table = choices(*rows)
    result = told(strengths(table))
    found = of_conditions(result)
    assert found.loc["NA", "component"] == found.loc["no", "component"] != found.loc["01", "component"]
    assert (
        "q: there are 2 groups that were never compared with each other, not even through others (01 and Größe 2; NA "
        "and no), so that strengths compare within a group only."
    ) in result.note
    pairs = told(strength_pairs(table, models=["bradley-terry"])).table.set_index(["condition", "other_condition"])
    assert pairs.loc[("01", "NA"), "note"] == "never compared, not even through others"
    assert pairs.loc[("01", "NA"), ["difference", "se", "p", "p_holm", "win_probability"]].isna().all()
    assert pairs.loc[("NA", "no"), "p_holm"] == pytest.approx(2 * pairs.loc[("NA", "no"), "p"])
    by_component = told(ranks(table)).table.groupby(["component", "rank"])["probability"].sum()
    np.testing.assert_allclose(by_component, 1)


def test_only_ties_say_nothing_of_who_is_stronger() -> None:
    table = choices(*[(f"p{n}", "t", "a", "b", 0.0) for n in range(8)])
    found = of_conditions(strengths(table))
    np.testing.assert_allclose(found["quality"], 0, atol=1e-9)
    assert set(found["note"]) == {"every comparison was a tie"}
    row = told(preferences(table)).table.iloc[0]
    assert row["half_share"] == 0.5
    assert row["note"] == "every comparison was a tie"
    assert row[["share", "exact_low", "exact_high", "p", "p_holm"]].isna().all()


def test_people_who_always_take_the_first_do_not_break_the_fit() -> None:
    table = simulated({"a": 0.0, "b": 0.0, "c": 0.0}, each=12)
    table = table.assign(raw_value=-1.0, value=np.where(table["slot"] == "s1", 1.0, -1.0))
    found = told(strengths(table, models=["bradley-terry"])).table
    assert found.query("level == 'position'")["quality"].item() > 2
    assert set(found.query("level == 'condition'")["note"]) == {"the order of showing explains every choice"}


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["p", "q", "r"]),
        st.sampled_from(["t", "u"]),
        st.sampled_from(["a", "b", "c", "NA"]),
        st.sampled_from(["a", "b", "c", "NA"]),
        st.sampled_from([-1.0, 0.0, 1.0]),
        st.sampled_from([-1.0, 1.0]),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=10, deadline=None)
@given(ROWS)
def test_any_few_choices_give_finite_strengths(rows: list[Any]) -> None:
    table = choices(*[row[:5] for row in rows]).assign(raw_value=[row[4] * row[5] for row in rows])
    ratings = as_ratings(table)
    results = [one(ratings) for one in (strengths, strength_pairs, preferences, ranks)]
    if results[0] is None:
        assert all(row[2] == row[3] for row in rows)
        return
    found = results[0].table
    assert np.isfinite(found[["quality", "model_se"]]).all(axis=None)
    strong = found[found["level"] == "condition"]
    totals = strong.groupby(["model", "component"])["quality"].sum()
    np.testing.assert_allclose(totals, 0, atol=1e-7)
    assert all("nan" not in f"{one.note} {one.citation}" for one in results if one is not None)


# Preferences


def test_preferences_count_wins_ties_and_losses_with_the_exact_interval_and_test() -> None:
    rows = [(f"p{n}", "t", "a", "b", value) for n, value in enumerate([1.0] * 9 + [-1.0] * 2 + [0.0] * 4)]
    row = told(preferences(choices(*rows))).table.iloc[0]
    assert (row["n"], row["wins"], row["ties"], row["losses"]) == (15, 9, 4, 2)
    exact = stats.binomtest(9, 11)
    ends = exact.proportion_ci(method="exact")
    assert row["share"] == pytest.approx(9 / 11)
    assert (row["exact_low"], row["exact_high"]) == pytest.approx((ends.low, ends.high))
    assert row["p"] == pytest.approx(exact.pvalue)
    assert row["half_share"] == pytest.approx(11 / 15)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 20), st.integers(0, 20))
def test_the_exact_numbers_are_those_of_scipy(wins: int, losses: int) -> None:
    rows = [(f"p{n}", "t", "a", "b", 1.0 if n < wins else -1.0) for n in range(wins + losses)]
    if not rows:
        return
    row = told(preferences(choices(*rows))).table.iloc[0]
    exact = stats.binomtest(wins, wins + losses)
    ends = exact.proportion_ci(method="exact")
    assert (row["exact_low"], row["exact_high"], row["p"]) == pytest.approx((ends.low, ends.high, exact.pvalue))
    if wins + losses > 1:
        # With one choice of each person, clustering changes nothing.
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((ends.low, ends.high))


def test_choices_of_few_people_are_worth_less_than_as_many_of_many() -> None:
    many = [(f"p{n}", "t", "a", "b", 1.0 if n < 30 else -1.0) for n in range(40)]
    few = [(f"p{n % 4}", f"t{n}", "a", "b", -1.0 if n % 4 == 0 else 1.0) for n in range(40)]
    one, other = (told(preferences(choices(*rows))).table.iloc[0] for rows in (many, few))
    assert one["wins"] == other["wins"] == 30
    assert one["exact_low"] == other["exact_low"]
    assert other["ci_high"] - other["ci_low"] > 1.5 * (one["ci_high"] - one["ci_low"])
    assert other["participants"] == 4


def test_grades_become_choices_only_when_asked() -> None:
    table = choices(*[(f"p{n}", "t", "a", "b", value) for n, value in enumerate([3.0, 1.0, -2.0])]).assign(kind="diff")
    assert strengths(table) is None
    assert preferences(table) is None
    found = told(preferences(table, from_grades=True))
    assert (found.table.loc[0, "wins"], found.table.loc[0, "losses"]) == (2, 1)
    assert found.note.endswith("Of grades only the sign counts.")
    assert of_conditions(strengths(table, from_grades=True)).loc["a", "quality"] == pytest.approx(math.log(2) / 2)


# Ranks


def test_rank_probabilities_sum_to_one_and_follow_the_strengths() -> None:
    table = simulated({"a": 2.0, "b": 0.0, "c": 0.0})
    result = told(ranks(table))
    found = result.table.pivot_table(index="condition", columns="rank", values="probability")
    np.testing.assert_allclose(found.sum(axis=0), 1)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert found.loc["a", 1] > 0.99
    assert found.loc["b", 2] > 0.01
    assert set(result.table["source"]) == {"bradley-terry"}
    pd.testing.assert_frame_equal(result.table, told(ranks(table)).table)


def test_scores_are_ranked_by_their_means() -> None:
    rng = np.random.default_rng(3)
    rows = [
        {"participant": f"p{p}", "content": f"c{k}", "condition": name, "value": mean + rng.normal()}
        for p in range(12)
        for k in range(6)
        for name, mean in {"low": 1.0, "mid": 3.0, "twin": 3.0}.items()
    ]
    result = told(ranks(pd.DataFrame(rows)))
    found = result.table.pivot_table(index="condition", columns="rank", values="probability")
    assert found.loc["low", 3] == 1
    assert 0 < found.loc["mid", 1] < 1
    assert set(result.table["source"]) == {"means"}


def test_equal_scores_share_their_ranks() -> None:
    table = pd.DataFrame(
        [{"participant": p, "content": "t", "condition": name, "value": 3.0} for p in ("p", "q") for name in ("a", "b")]
    )
    found = told(ranks(table)).table
    np.testing.assert_allclose(found["probability"], 0.5, atol=0.03)
    assert ranks(table[table["participant"] == "p"]) is None
    assert ranks(table[table["condition"] == "a"]) is None


@pytest.mark.parametrize("analysis", [strengths, preferences, ranks])
def test_what_has_a_picture_draws_it(analysis: Any) -> None:
    chart = told(analysis(simulated({"a": 1.0, "b": 0.0, "c": -1.0}, each=10, ties=0.4))).plot()
    assert chart.to_dict()
