"""words, word_agreement: against counts by hand, exact intervals of scipy, and the krippendorff package."""

from __future__ import annotations

import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from beholder.analysis.marked_words import word_agreement, word_shares
from beholder.analysis.ratings import as_ratings, rating_count

MARKS = {
    # stimulus: one row per word, one column per participant
    "one": np.array([[1, 1, 1, 0, 1], [0, 0, 0, 0, 0], [1, 0, 1, 0, 0]]),
    "two": np.array([[0, 0, 0, 1, 0], [1, 1, 1, 1, 1]]),
}


@pytest.fixture
def table() -> pd.DataFrame:
    return pd.DataFrame([
        {"participant": f"p{person}", "content": content, "condition": "a", "question": "odd", "kind": "pick",
         "unit": str(place + 1), "word": f"w{place}", "value": float(value)}
        for content, marks in MARKS.items() for (place, person), value in np.ndenumerate(marks)
    ])  # fmt: skip


def test_the_share_of_each_word_is_counted_with_its_exact_interval(table: pd.DataFrame) -> None:
    result = word_shares(table)
    assert result is not None
    assert list(result.table["marked"]) == [0.8, 0.0, 0.4, 0.2, 1.0]
    for row in result.table.to_dict("records"):
        exact = stats.binomtest(int(MARKS[row["content"]][row["place"] - 1].sum()), 5).proportion_ci(method="exact")
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((exact.low, exact.high))


def test_agreement_is_that_of_all_pairs_and_of_krippendorff(table: pd.DataFrame) -> None:
    result = word_agreement(table)
    assert result is not None
    whole = result.table.iloc[0]
    votes = np.concatenate([*MARKS.values()])
    pairs = [(row[i] == row[j]) for row in votes for i in range(5) for j in range(i)]
    assert whole["agreement"] == pytest.approx(np.mean(pairs))
    alpha = krippendorff.alpha(votes.T, level_of_measurement="nominal")
    assert whole["alpha"] == pytest.approx(alpha)
    assert whole["alpha_low"] <= alpha <= whole["alpha_high"]
    assert list(result.table["condition"]) == ["", "a"]


def test_all_words_of_a_stimulus_are_one_question_and_no_repetitions(table: pd.DataFrame) -> None:
    ratings = as_ratings(table)
    assert ratings.questions == ("odd",)
    assert ratings.counts["repeated"] == 0
    own = ratings.table.set_index(["participant", "content"])["value"]
    assert own["p0", "one"] == pytest.approx(2 / 3)
    assert own["p3", "two"] == 1.0
    ticks = as_ratings(table.assign(word=""))
    assert ticks.questions == ("odd: 1", "odd: 2", "odd: 3")
    assert word_shares(table.assign(word="")) is None


def test_all_words_of_an_answer_count_as_one_rating(table: pd.DataFrame) -> None:
    assert rating_count(table) == 10  # of five people, about two stimuli
    assert rating_count(table.assign(word="")) == len(table)
    assert rating_count(table.drop(columns="word")) == len(table)
