"""error_rates, confusions: against counts by hand, and intervals against the clustered variance written out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from beholder.analysis.means import conditions
from beholder.analysis.transcriptions import confused_words, error_rates

SAID = {"one": "the small boat", "two": "she cut the bread and left"}
HEARD = {
    # condition, content: what four people typed
    ("clean", "one"): ["the small boat", "the small boat", "the small goat", "small boat"],
    ("clean", "two"): ["she cut the bread and left", "he cut the bread and left", "she cut bread and left now", ""],
    ("noise", "one"): ["the boat", "", "a small goat", "the small the goat"],
    ("noise", "two"): ["", "she left", "he cut a bread", "bread and left"],
}
ERRORS = {
    ("clean", "one"): [0, 0, 1, 1],
    ("clean", "two"): [0, 1, 2, 6],
    ("noise", "one"): [1, 3, 2, 2],
    ("noise", "two"): [6, 4, 4, 3],
}
RIGHT = {
    ("clean", "one"): [3, 3, 2, 2],
    ("clean", "two"): [6, 5, 5, 0],
    ("noise", "one"): [2, 0, 1, 2],
    ("noise", "two"): [0, 2, 2, 3],
}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return pd.DataFrame([
        {"participant": f"p{person}", "content": content, "condition": condition, "question": "heard",
         "said": SAID[content], "heard": text, "scale_min": 0, "scale_max": 100,
         "value": 100 * RIGHT[condition, content][person] / len(SAID[content].split())}
        for (condition, content), texts in HEARD.items() for person, text in enumerate(texts)
    ])  # fmt: skip


def two_way_error(pull: np.ndarray) -> float:
    """Return the standard error of the mean of people (rows) by contents (columns), clustered by both, written out."""
    away = (pull - pull.mean()) / pull.size
    people, contents = (len(one) for one in (away, away.T))
    single = (away**2).sum() * pull.size / (pull.size - 1)
    by_person = (away.sum(axis=1) ** 2).sum() * people / (people - 1)
    by_content = (away.sum(axis=0) ** 2).sum() * contents / (contents - 1)
    return float(np.sqrt(single + max(0, by_person - single) + max(0, by_content - single)))


def test_rates_are_errors_for_each_word_that_was_said(table: pd.DataFrame) -> None:
    result = error_rates(table)
    assert result is not None
    rows = {row["condition"]: row for row in result.table.to_dict("records")}
    for condition in ("clean", "noise"):
        errors = np.array([ERRORS[condition, content] for content in SAID]).T
        right = np.array([RIGHT[condition, content] for content in SAID]).T
        words = np.array([[3, 6]] * 4)
        row = rows[condition]
        assert (row["answers"], row["participants"], row["contents"], row["words"]) == (8, 4, 2, 36)
        assert row["wer"] == pytest.approx(errors.sum() / 36)
        assert row["right"] == pytest.approx(right.sum() / 36)
        assert row["substituted"] + row["missed"] == pytest.approx(1 - row["right"])
        assert row["substituted"] + row["missed"] + row["added"] == pytest.approx(row["wer"])
        pull = (errors - row["wer"] * words) / words.mean()
        half = stats.t.ppf(0.975, 1) * two_way_error(pull)
        assert row["wer_high"] == pytest.approx(row["wer"] + half)
        assert row["wer_low"] == pytest.approx(max(0, row["wer"] - half))
        assert row["right_low"] <= row["right"] <= row["right_high"]
    assert rows["clean"]["nothing"] == rows["noise"]["nothing"] / 2 == 1 / 8
    # the small goat: 1 of 12 letters, small boat: 3; he cut: 1 of 21, without the: 3 and with now: 3, nothing: 21
    assert rows["clean"]["cer"] == pytest.approx((1 + 3 + 1 + 6 + 21) / (4 * 12 + 4 * 21))


def test_the_mean_of_a_condition_is_its_percentage_of_words_right(table: pd.DataFrame) -> None:
    for row in conditions(table).table.to_dict("records"):
        shares = [np.mean(RIGHT[row["condition"], content]) / len(SAID[content].split()) for content in SAID]
        assert row["mean"] == pytest.approx(100 * np.mean(shares))


def test_where_nobody_errs_the_interval_says_how_often_others_may(table: pd.DataFrame) -> None:
    result = error_rates(table.assign(heard=table["said"]))
    assert result is not None
    row = result.table.iloc[0]
    assert (row["wer"], row["wer_low"], row["cer"], row["right"], row["right_high"]) == (0, 0, 0, 1, 1)
    assert 0.2 < row["wer_high"] < 0.9
    assert row["right_low"] == pytest.approx(1 - row["wer_high"])
    alone = error_rates(table[table["participant"] == "p0"])
    assert alone is not None
    assert alone.table[["wer_low", "right_high", "cer_low"]].isna().all(axis=None)


def test_words_that_were_taken_for_others_are_counted(table: pd.DataFrame) -> None:
    result = confused_words(table)
    assert result is not None
    rows = result.table[result.table["condition"] == "noise"]
    goat = rows[(rows["said"] == "boat") & (rows["heard"] == "goat")].iloc[0]
    assert (goat["n"], goat["participants"], goat["share"]) == (2, 2, 0.5)
    assert list(rows["n"]) == sorted(rows["n"], reverse=True)
    both = error_rates(table)
    assert both is not None
    for rates in both.table.to_dict("records"):
        counted = result.table[result.table["condition"] == rates["condition"]]["n"].sum()
        assert counted == pytest.approx(rates["wer"] * rates["words"])


def test_ratings_without_texts_have_no_such_tables(table: pd.DataFrame) -> None:
    plain = table.drop(columns=["said", "heard"])
    assert error_rates(plain) is None
    assert confused_words(plain) is None
