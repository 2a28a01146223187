"""Pairs: preferences, Bradley-Terry, Thurstone and ranks give published and planted numbers, and explain the rest."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from beholder.analysis.pairs import preferences
from beholder.analysis.ranks import ranks
from beholder.analysis.strengths import strength_pairs, strengths
from support.choice_ratings import choices, of_conditions, present, simulated
from support.data import data_file

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
    result = present(strengths(table, models=[model]))
    assert "there are 5 groups that were never compared with each other, not even through others (Caps1," in result.note
    for level in ("condition", "stimulus"):
        actual = result.table[result.table["level"] == level]
        wanted = reference.loc[actual["condition"].map(numbers)]
        assert len(actual) == 40
        assert set(actual["estimator"]) == {"maximum likelihood"}
        np.testing.assert_allclose(actual["quality"], wanted["quality_centered_within_content"], atol=1e-6)
        np.testing.assert_allclose(actual["model_se"], wanted["se_sum_to_zero"], atol=1e-6)
        # One person's comparisons are alike: on the whole the honest error is larger.
        assert (actual["se"] / actual["model_se"]).median() > 1.1


def test_two_conditions_give_the_logit_and_the_probit_of_the_share() -> None:
    table = choices(*[(f"p{n}", "t", "a", "b", 1.0 if n < 7 else -1.0) for n in range(10)])
    actual = present(strength_pairs(table)).table.set_index("model")
    assert actual.loc["bradley-terry", "difference"] == pytest.approx(math.log(0.7 / 0.3), abs=1e-9)
    assert actual.loc["bradley-terry", "model_se"] == pytest.approx(1 / math.sqrt(10 * 0.7 * 0.3), abs=1e-9)
    assert actual.loc["thurstone", "difference"] == pytest.approx(stats.norm.ppf(0.7), abs=1e-9)
    np.testing.assert_allclose(actual["win_probability"], 0.7)
    # With one comparison of each person the sandwich is the plain error but for G / (G - 1).
    assert actual.loc["bradley-terry", "se"] == pytest.approx(math.sqrt(10 / 9 / (10 * 0.21)), abs=1e-9)
    np.testing.assert_allclose(actual["df"], 9)


# Ties and order


# Errors


def test_one_person_has_strengths_but_no_interval() -> None:
    table = choices(*[("p", "t", "a", "b", value) for value in (1.0, 1.0, -1.0)])
    actual = of_conditions(strengths(table))
    assert actual.loc["a", "quality"] == pytest.approx(math.log(2) / 2)
    assert actual[["se", "low", "high"]].isna().all(axis=None)
    assert actual.loc["a", "model_se"] > 0
    assert set(actual["note"]) == {"one participant: no interval"}
    assert ranks(table) is None


def test_people_who_answer_alike_are_no_certainty() -> None:
    wins = [("a", "b"), ("b", "c"), ("c", "a"), ("a", "b")]
    table = of_conditions(strengths(choices(*[(p, "t", one, other, 1.0) for p in "xyz" for one, other in wins])))
    np.testing.assert_allclose(table["se"], table["model_se"])


# What cannot be put on one scale


def test_one_that_never_lost_is_held_by_a_prior_and_named() -> None:
    rows = [(f"p{n}", "t", "best", other, 1.0) for n in range(12) for other in ("b", "c")]
    rows += [(f"p{n}", "t", "b", "c", 1.0 if n % 2 else -1.0) for n in range(12)]
    result = present(strengths(choices(*rows)))
    table = of_conditions(result)
    assert set(table["estimator"]) == {"Gaussian prior"}
    assert set(table["note"]) == {"best never lost to any of the others; b and c never won against any of the others"}
    assert 1.5 < table.loc["best", "quality"] < 4
    assert table.loc["best", "quality"] > table.loc["b", "quality"]
    assert table["quality"].sum() == pytest.approx(0, abs=1e-9)
    assert (table["se"] > 0.2).all()
    assert (
        " q: best never lost to any of the others; b and c never won against any of the others. The likelihood alone "
        "would put such a strength at infinity, so a Gaussian prior around zero holds this group (sd 2 for "
        "Bradley-Terry, 1.2 for Thurstone (case V)); its error is that of the posterior."
    ) in result.note


# Preferences


# Ranks


@pytest.mark.parametrize("analysis", [strengths, preferences, ranks])
def test_what_has_a_picture_draws_it(analysis: Any) -> None:
    chart = present(analysis(simulated({"a": 1.0, "b": 0.0, "c": -1.0}, each=10, ties=0.4))).plot()
    assert chart.to_dict()
