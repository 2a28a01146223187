"""Profiles of conditions, tables, splits, and correlations of questions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from beholder.dimensionality.data import Joined
from beholder.dimensionality.profile import (
    correlations,
    halves,
    profile,
    smallest_clear,
    split_correlations,
    split_means,
    table,
)
from support.joined_studies import at, rate


@pytest.mark.parametrize("level", ["condition", "stimulus"])
def test_correlations_of_means_are_those_of_scipy(joined: Joined, level: str) -> None:
    means = joined.by_condition if level == "condition" else joined.by_stimulus
    for one, other in (("real", "trust"), ("face", "real")):
        row = at(correlations(joined), level=level, question=min(one, other), other_question=max(one, other))
        expected = stats.pearsonr(means[one], means[other])
        assert row["pearson"] == pytest.approx(expected.statistic)
        assert row["pearson_p"] == pytest.approx(expected.pvalue)
        ends = expected.confidence_interval()
        assert (row["pearson_low"], row["pearson_high"]) == pytest.approx((ends.low, ends.high))
        assert (row["n"], row["df"]) == (len(means), len(means) - 2)


def test_within_people_is_the_partial_correlation_given_participants_and_stimuli(ratings: pd.DataFrame) -> None:
    some = ratings.sample(frac=0.7, random_state=2)  # holes: not everybody answered everything
    wide = some.pivot(index=["participant", "condition", "content"], columns="question", values="value")
    wide = wide[["face", "mood"]].dropna().reset_index()
    stimulus = wide["condition"] + wide["content"]
    design = np.hstack([pd.get_dummies(one).to_numpy(float) for one in (wide["participant"], stimulus)])
    rest = wide[["face", "mood"]].to_numpy()
    rest = rest - design @ np.linalg.lstsq(design, rest, rcond=None)[0]
    row = at(correlations(some, levels=["within"]), question="face", other_question="mood")
    assert row["pearson"] == pytest.approx(np.corrcoef(rest.T)[0, 1], abs=1e-9)
    assert row["df"] == len(wide) - 1 - np.linalg.matrix_rank(design)


def test_eight_conditions_need_a_correlation_of_0_707(joined: Joined) -> None:
    assert smallest_clear(6) == pytest.approx(0.707, abs=5e-4)
    assert "With 8 conditions |r| below 0.707 does not differ from zero." in correlations(joined).note
    assert "rank conditions alike, not that people take them for the same" in correlations(joined).note


def test_a_split_tells_both_sides_of_the_threshold(joined: Joined) -> None:
    above, below = halves(joined, "real", 5)
    assert above.name == "real > 5"
    assert below.name == "real ≤ 5"
    means = joined.by_condition["real"]
    assert set(above.joined.conditions) == set(means.index[means > 5])
    assert set(below.joined.conditions) == set(means.index[means <= 5])
    stimuli = joined.by_stimulus["real"]
    assert set(above.joined.by_stimulus.index) == set(stimuli.index[stimuli > 5])
    pairs = split_correlations(joined, "real", 5)
    row = pairs.table[(pairs.table["part"] == "real > 5") & (pairs.table["level"] == "stimulus")].iloc[0]
    kept = joined.by_stimulus[stimuli > 5]
    assert row["pearson"] == pytest.approx(kept[row["question"]].corr(kept[row["other_question"]]))
    within = pairs.table[pairs.table["level"] == "within"].groupby("part")["n"].first()
    assert within.sum() == 8 * 48
    shown = split_means(joined, "real", 5).table.set_index(["part", "question"])
    assert shown.loc[("real > 5", "face"), "mean"] == pytest.approx(joined.by_condition["face"][means > 5].mean())


def test_a_profile_is_told_for_each_level_and_averaged_over_levels() -> None:
    ratings = rate({"good": (1.0, 0.0), "fine": (1.0, 0.0)})
    # Four of the six contents are frontal: averaged over the factor, both levels weigh the same.
    ratings["factor_view"] = np.where(ratings["content"].isin(["k0", "k1"]), "side", "front")
    found = profile(ratings, factor="view").table.set_index(["question", "condition", "level"])
    mine = ratings[(ratings["question"] == "good") & (ratings["condition"] == "c0")]
    by_view = mine.groupby("factor_view")["value"].mean()
    assert found.loc[("good", "c0", "side"), "mean"] == pytest.approx(by_view["side"])
    assert found.loc[("good", "c0", ""), "mean"] == pytest.approx(by_view.mean())
    assert (found["ci_low"] < found["mean"]).all()
    few = profile(ratings, questions=["fine"], conditions=["c3", "c1"]).table
    assert few[["question", "condition"]].to_numpy().tolist() == [["fine", "c1"], ["fine", "c3"]]


def test_one_table_has_questions_and_metrics(joined: Joined) -> None:
    values = pd.DataFrame({
        "stimulus": ["c0/k0", "c0/k1", ""], "condition": ["", "", "c1"], "metric": "psnr", "region": ["face"] * 3,
        "value": [30.0, 32.0, 25.0],
    })  # fmt: skip
    found = table(joined, values).table.set_index("condition")
    assert found["psnr (face)"].dropna().to_dict() == {"c0": 31.0, "c1": 25.0}
    assert list(found.columns) == [*joined.questions, "psnr (face)"]
