"""Ratings: which are used, repetitions, comparisons from both sides."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.analysis import analyse
from beholder.analysis.means import conditions, contents, questions
from beholder.analysis.pairs import pairs, preferences
from beholder.analysis.participants import participants, raters
from beholder.analysis.ranks import ranks
from beholder.analysis.ratings import RowOrder, tidy
from beholder.analysis.ratings_table import fill_columns
from beholder.analysis.strengths import strengths
from beholder.study.model import Question
from support.crossed_ratings import crossed, write_csv
from support.kind_ratings import results, table


def test_missing_values_and_unused_rows_are_left_out_and_counted(tmp_path: Path) -> None:
    table = crossed({"a": 1, "b": 2}, 4).assign(use=True)
    table.loc[0, "value"] = math.nan
    table.loc[1, "use"] = False
    results = analyse(write_csv(tmp_path, table))
    counts = results.notes["ratings"]
    assert (counts["rows"], counts["used"], counts["missing"], counts["not_used"]) == (16, 14, 1, 1)


def test_answers_to_checks_and_other_kinds_are_not_scores(tmp_path: Path) -> None:
    table = crossed({"a": 1}, 3).assign(role="test", kind="score")
    table.loc[0, "role"] = "gold"
    table.loc[1, "kind"] = "diff"
    assert analyse(write_csv(tmp_path, table)).notes["ratings"]["used"] == 4


@pytest.mark.parametrize("name", ["", "clip.mp4"])
def test_one_stimulus_under_many_conditions_is_many(name: str) -> None:
    table = crossed({"a": 1, "b": 2}, 4).assign(stimulus=name)
    result = ranks(table)
    assert result is not None
    assert result.table["probability"].notna().all()


def test_a_comparison_with_itself_says_nothing() -> None:
    table = pd.DataFrame(
        {"participant": ["p", "q", "r"] * 2, "content": "c", "condition": "a", "other_condition": "b", "kind": "choice",
         "value": [1, 1, -1] * 2}
    )  # fmt: skip
    null = table.assign(other_condition="a", value=1)
    pd.testing.assert_frame_equal(conditions(pd.concat([table, null])).table, conditions(table).table)


def test_each_tick_is_a_question_of_its_own(tmp_path: Path) -> None:
    echo = table("pick", ("p1", "a", "", 1), ("p2", "a", "", 0), unit="Echo")
    other = table("pick", ("p1", "a", "", 0), ("p2", "a", "", 0), unit="no")
    analysis = results(tmp_path, pd.concat([echo, other]))
    assert dict(zip(analysis.conditions["question"], analysis.conditions["mean"], strict=True)) == {
        "q: Echo": 0.5,
        "q: no": 0,
    }


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=3, max_size=12))
def test_naming_the_other_condition_first_changes_no_mean(values: list[int]) -> None:
    rows = [(f"p{place}", "a", "b", value) for place, value in enumerate(values)]
    turned = [(person, other, one, -value) for person, one, other, value in rows]
    one, two = (tidy(table("choice", *some)).table for some in (rows, turned))
    columns = ["participant", "condition", "value"]
    assert sorted(map(tuple, one[columns].to_numpy())) == sorted(map(tuple, two[columns].to_numpy()))


def test_made_anchors_stand_after_all_other_conditions() -> None:
    ratings = table("score", *[("p", name, "", 1.0) for name in ("lowpass-3500", "zebra", "no", "01", "NA", "-")])
    actual = tidy(ratings, RowOrder(conditions=("zebra",), last=("lowpass-3500", "lowpass-7000")))
    assert actual.conditions == ("zebra", "-", "01", "NA", "no", "lowpass-3500")


@pytest.mark.variant
def test_winners_and_losers_are_the_same_as_choices_in_any_other_order() -> None:
    rng = np.random.default_rng(4)
    names = ["good", "fair", "bad"]
    text = [
        (f"p{person}", one, other, float(rng.choice([-1, 0, 1])))
        for person in range(6) for one, other in combinations(names, 2) for _ in range(4)
    ]  # fmt: skip
    won = [row if row[3] >= 0 else (row[0], row[2], row[1], -row[3]) for row in text]
    assert won != text
    plain, winners = (
        pd.concat([table("choice", *rows[at::4], content=f"c{at}") for at in range(4)]) for rows in (text, won)
    )
    for analysis in (conditions, contents, questions, pairs, participants, raters, preferences, strengths):
        one, other = analysis(plain), analysis(winners)
        assert one is not None
        assert other is not None
        pd.testing.assert_frame_equal(one.table, other.table)
    assert participants(winners).table["agreement"].notna().all()


def test_scores_of_a_reversed_question_are_turned_and_the_answers_stay() -> None:
    raw = pd.DataFrame({
        "participant": ["a", "b", "a", "b"], "content": "k", "condition": "one",
        "question": ["creepy", "creepy", "real", "real"], "value": [2.0, 3.0, 4.0, 5.0], "keyed": [4.0, 3.0, 4.0, 5.0],
    })  # fmt: skip
    asked = [Question(id="creepy", text="It is creepy.", keyed="-", label="Creepy"), Question(id="real", text="Real.")]
    ratings = tidy(fill_columns(raw), RowOrder(asked=asked))
    assert ratings.table.groupby("question")["value"].mean().to_dict() == {"creepy": 3.5, "real": 4.5}
    assert ratings.turned == ("creepy",)
    assert ratings.labels == {"creepy": "Creepy (turned)", "real": "real"}
    assert raw["value"].tolist() == [2.0, 3.0, 4.0, 5.0]
    # What is tidied again, as the sensitivity analyses do, is not turned back.
    again = tidy(ratings.rows, ratings.order)
    assert again.table["value"].tolist() == ratings.table["value"].tolist()


def test_two_questions_of_one_label_are_told_apart() -> None:
    raw = pd.DataFrame({"participant": "a", "content": "k", "condition": "one", "question": ["q1", "q2"], "value": 1.0})
    asked = [Question(id=name, text="?", label="Look") for name in ("q1", "q2")]
    assert tidy(fill_columns(raw), RowOrder(asked=asked)).labels == {"q1": "Look (q1)", "q2": "Look (q2)"}
