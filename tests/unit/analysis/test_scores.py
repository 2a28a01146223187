"""Analyse: means of stimuli, conditions, contents, questions and factors; DMOS, medians and position."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from beholder.analysis import analyse
from beholder.analysis.distributions import MEDIANS
from beholder.analysis.dmos import DMOS
from beholder.analysis.factors import FACTORS
from beholder.analysis.means import CONDITIONS, CONTENT_MEANS, QUESTIONS
from beholder.analysis.pairs import POSITION
from beholder.analysis.ratings import as_ratings
from beholder.analysis.result import read_result
from beholder.analysis.scores import SCORES, scores
from beholder.stats.intervals import t_interval
from support.stimulus_ratings import NAMES, compared, noisy, rated, referenced, row

TABLES = (SCORES, CONDITIONS, CONTENT_MEANS, QUESTIONS, FACTORS, DMOS, MEDIANS, POSITION)


# Stimuli


def test_a_score_has_spread_interval_and_the_name_of_its_method() -> None:
    table = rated([[[1]], [[2]], [[4]], [[5]]], method="acr", scale_min=0, scale_max=10)
    known = t_interval([1, 2, 4, 5])
    actual = row(scores(table))
    cut = row(scores(table.assign(scale_min=1, scale_max=5)))
    assert (cut["ci_low"], cut["ci_high"]) == (1, 5)
    assert (actual["n"], actual["mean"], actual["median"]) == (4, 3.0, 3.0)
    assert (actual["q1"], actual["q3"]) == tuple(np.quantile([1, 2, 4, 5], [0.25, 0.75]))
    assert (actual["ci_low"], actual["ci_high"]) == (pytest.approx(known.low), pytest.approx(known.high))
    assert actual["metric"] == "MOS(ACR)"


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


# Conditions, contents, questions, factors


# DMOS


# Medians


# Position


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
        result = one.compute(ratings)
        if result is None:
            continue
        assert re.search(r"\bnan\b", result.note, re.IGNORECASE) is None
        assert result.table["mean" if "mean" in result.table else "median"].notna().all()
        path = tmp_path / one.file
        path.write_bytes(one.write(result.table))
        pd.testing.assert_frame_equal(one.read(path), result.table.reset_index(drop=True), check_dtype=False)


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
