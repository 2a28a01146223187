"""Dimensions: what many questions measure together, on one study or on several joined by condition."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from beholder.dimensionality.components import components, consistency, loadings
from beholder.dimensionality.data import Joined, join
from beholder.dimensionality.profile import (
    correlations,
)
from support.joined_studies import at, rate


def scores(tmp_path: Path, name: str, means: dict[str, dict[str, float]]) -> Path:
    path = tmp_path / f"{name}.csv"
    rows = [(question, condition, mean) for question, of in means.items() for condition, mean in of.items()]
    pd.DataFrame(rows, columns=["question", "condition", "mean"]).to_csv(path, index=False)
    return path


def test_two_planted_things_are_found_with_their_questions(joined: Joined) -> None:
    found = components(joined, levels=["stimulus"]).table
    assert found["kept"].sum() == 2
    assert found["share"].sum() == pytest.approx(1)
    assert (found["repeats"][:2] > 0.9).all()
    loaded = loadings(joined, levels=["stimulus"]).table
    strongest = loaded.loc[loaded.groupby("question")["loading"].idxmax()].set_index("question")["component"]
    assert strongest.to_dict() == {"real": 1, "trust": 1, "warm": 1, "face": 2, "mood": 2}


def test_more_questions_than_conditions_are_warned_of(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    means = {f"q{one}": {f"c{place}": float(mean) for place, mean in enumerate(rng.normal(size=4))} for one in range(5)}
    note = components(join(scores(tmp_path, "few", means))).note
    assert "condition: 4 conditions for 5 questions span at most 3 dimensions, whatever the questions measure" in note
    assert "stimulus: left out, as fewer than 4 stimuli have all questions." in note


def test_keep_keeps_so_many_and_says_so(joined: Joined) -> None:
    found = components(joined, levels=["stimulus"], keep=3)
    assert found.table["kept"].sum() == 3
    assert "stimulus: 3 are kept because that was asked for, more than stand above chance." in found.note
    assert loadings(joined, levels=["stimulus"], keep=3).table["component"].max() == 3


def test_alpha_of_single_answers_is_that_of_their_table(ratings: pd.DataFrame, joined: Joined) -> None:
    wide = ratings.pivot(index=["participant", "condition", "content"], columns="question", values="value")
    matrix = np.cov(wide.to_numpy(), rowvar=False)
    k = len(matrix)
    row = at(consistency(joined), level="answer", without="")
    assert row["alpha"] == pytest.approx(k / (k - 1) * (1 - np.trace(matrix) / matrix.sum()))
    assert row["alpha_low"] < row["alpha"] < row["alpha_high"]
    assert row["n"] == len(wide)


def test_a_question_that_runs_against_the_others_is_named() -> None:
    weights = {"good": (1.0, 0.0), "fine": (1.0, 0.0), "ugly": (-1.0, 0.0)}
    assert at(consistency(rate(weights)), level="answer", without="")["note"] == "runs against the others: ugly"


def test_the_avatars_have_the_published_structure(avatars: Joined) -> None:
    found = components(avatars, keep=2).table
    assert found["cumulative"][1] == pytest.approx(0.964, abs=5e-4)
    loaded = loadings(avatars, keep=2)
    assert at(loaded, question="Resemblance", component=1)["loading"] == pytest.approx(0.172, abs=5e-4)
    pairs = correlations(avatars).table
    of_a = pairs[
        ~pairs["question"].isin(["EmotionAccuracy"]) & ~pairs["other_question"].isin(["EmotionAccuracy", "Resemblance"])
    ]
    assert of_a["pearson"].mean() == pytest.approx(0.9975, abs=5e-5)
