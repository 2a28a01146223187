"""Which few questions would do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from beholder.dimensionality.data import Joined
from beholder.dimensionality.short_forms import shorter


def test_a_shorter_survey_has_a_question_of_each_thing(joined: Joined) -> None:
    result = shorter(joined)
    assert result is not None
    found = result.table
    chosen = set(found[found["suggested"]]["questions"].iloc[0].split("; "))
    assert len(chosen) == 2
    assert chosen & {"real", "trust", "warm"}
    assert chosen & {"face", "mood"}
    assert found["size"].tolist() == [1, 2, 3, 4, 5]
    last = found.iloc[-1]
    assert (last["explained"], last["fresh"], last["minutes_saved"]) == pytest.approx((1, 1, 0))
    assert last["pearson_condition"] == pytest.approx(1)
    assert found["minutes_saved"].iloc[0] == pytest.approx(4 * 4 * 48 / 60)


def test_questions_that_measure_different_things_cannot_be_left_out() -> None:
    rng = np.random.default_rng(4)
    rows = [
        (f"p{person}", f"k{content}", f"c{condition}", f"q{place}", float(value))
        for place, things in enumerate(rng.normal(size=(4, 6, 6)))
        for (condition, content), value in np.ndenumerate(things)
        for person in range(6)
    ]
    result = shorter(pd.DataFrame(rows, columns=["participant", "content", "condition", "question", "value"]))
    assert result is not None
    assert not result.table["suggested"].any()


def test_the_avatar_paper_reduces_ten_questions_to_three_and_so_do_we(avatars: Joined) -> None:
    """One of template A, which all say the same, and both of template B."""
    result = shorter(avatars)
    assert result is not None
    found = result.table[result.table["suggested"]].iloc[0]
    assert set(found["questions"].split("; ")) == {"Appropriate", "EmotionAccuracy", "Resemblance"}
    assert "no check" not in result.note
    assert "fresh: empty" in result.note
