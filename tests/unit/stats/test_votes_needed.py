"""Agreement by the number of votes, and Spearman and Brown's formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.analysis.votes_needed import VotesForTarget, votes_for_target, votes_needed
from beholder.stats.votes_needed import spearman_brown, votes_for_correlation
from support.planted_votes import hdtv_ratings, planted


@pytest.fixture(scope="module")
def hdtv() -> pd.DataFrame:
    return hdtv_ratings()


def test_spearman_brown_foretells_the_curve(hdtv: pd.DataFrame) -> None:
    result = votes_needed(hdtv)
    assert result is not None
    table = result.table
    r = table["pearson"]
    text = [spearman_brown(r[0], 2, votes) for votes in table["votes"]]
    assert text == pytest.approx(r.to_numpy(), abs=0.002)
    told_of = votes_for_target(table, "rating")
    assert told_of.r_now == pytest.approx(0.9867, abs=0.001)
    assert told_of._replace(r_now=0) == VotesForTarget(24.0, 0, 7.0, is_measured=True)


@pytest.mark.parametrize("by", ["participant", "rating"])
def test_two_halves_never_share_a_vote(by: Any) -> None:
    # Of two people who always say the opposite, halves disagree in full; with anything shared they would not.
    table = planted(2, 5, noise=0)
    table["value"] = table["value"].mean() + np.where(table["participant"] == "p0", 1, -1) * np.tile(np.arange(5), 2)
    result = votes_needed(table, by=by, sizes=[1])
    assert result is not None
    assert result.table["pearson"].iloc[0] == pytest.approx(-1)


@given(st.floats(0.01, 0.99), st.floats(1, 50), st.floats(0.05, 0.999))
def test_votes_for_a_correlation_give_that_correlation(r: float, votes: float, wanted: float) -> None:
    assert spearman_brown(r, votes, votes_for_correlation(r, votes, wanted)) == pytest.approx(wanted)
