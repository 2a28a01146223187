"""Rater models in analyse/ and in the report: what stands in the tables, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import beholder
from beholder.analysis.models import P910, all_question_votes, quality
from beholder.analysis.rater_models import MODEL_RATERS, MODELS, model_raters, models
from beholder.analysis.ratings import as_ratings
from beholder.analysis.result import read_result


def ratings(raters: int = 12, contents: int = 6, **more: str) -> pd.DataFrame:
    """Return grades of two conditions; the odd raters are one higher."""
    return pd.DataFrame(
        [
            {
                "participant": f"p{rater:02}", "content": f"c{content}", "condition": name,
                "value": grade + rater % 2 + (rater + content) % 3 // 2, **more,
            }
            for rater in range(raters)
            for content in range(contents)
            for name, grade in (("Größe 2", 2), ("NA", 3))
        ]
    )  # fmt: skip


def test_every_model_has_a_row_for_each_stimulus_and_participant(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    ratings().to_csv(path, index=False)
    results = beholder.analyse(path, out=tmp_path / "out")
    table, people = results.also["models"], results.also["model_raters"]
    assert list(table.columns) == MODELS.names
    assert list(people.columns) == MODEL_RATERS.names
    assert dict(table["model"].value_counts()) == dict.fromkeys(["mos", "p913", "bt500", "p910", "shrunken"], 12)
    assert dict(people["model"].value_counts()) == dict.fromkeys(["p913", "bt500", "p910", "shrunken"], 12)
    for name, actual in (("models", table), ("model_raters", people)):
        read = read_result(tmp_path / "out" / f"{name}.csv")
        pd.testing.assert_frame_equal(read, actual, check_dtype=False, check_exact=False, rtol=1e-8)
    plain = table[table["model"] == "mos"].set_index("stimulus")
    scores = results.scores.set_index("stimulus").loc[plain.index]
    np.testing.assert_allclose(plain["quality"].astype(float), scores["mean"])
    np.testing.assert_allclose(plain["high"].astype(float), scores["ci_high"])
    bias = people[people["model"] == "p913"].set_index("participant")["bias"]
    assert bias["p01"] - bias["p00"] == pytest.approx(1)
    assert set(people[people["model"] == "bt500"]["rejected"]) == {"no"}
    assert set(people[people["model"] == "p910"]["rejected"]) == {""}


def test_models_have_nothing_to_say_of_choices_and_of_comparisons_that_count_twice() -> None:
    choices = ratings(kind="choice").assign(value=1.0, other_condition="other")
    assert models(choices) is None
    assert model_raters(choices) is None
    compared = ratings(kind="diff").assign(other_condition="other")
    assert models(compared) is None
    assert model_raters(compared) is None


def test_a_person_with_one_rating_and_one_who_always_says_the_same_are_marked() -> None:
    table = ratings()
    odd = pd.concat([table[(table["participant"] != "p00") | (table["content"] == "c0")].iloc[1:]])
    odd.loc[odd["participant"] == "p02", "value"] = 3
    result = model_raters(odd)
    assert result is not None
    notes = result.table[result.table["model"] == "shrunken"].set_index("participant")["note"]
    assert notes[notes != ""].to_dict() == {"p00": "one rating", "p02": "always the same answer"}
    assert result.table["bias"].abs().max() < 5
    assert result.plot() is not None


def test_annex_e_warns_in_short_sessions_and_not_in_long_ones() -> None:
    short, long = quality(ratings(contents=6), "p910"), quality(ratings(contents=12), "p910")
    warning = (
        "Too few ratings for Annex E: half of the participants gave 12 or fewer, and below 20 its intervals are too "
        "narrow. Go by the plain mean, or by shrunken. With 12 ratings per participant such intervals hold the truth "
        "in about 87 % of simulated cases, and not in 95 %."
    )
    assert warning in short.note
    assert "Too few ratings" not in long.note
    assert quality(ratings(), "shrunken").note.startswith("Ours, no standard: ")


def test_intervals_carry_how_often_they_hold_stay_on_the_scale_and_have_a_width() -> None:
    table = ratings(contents=3).assign(value=lambda t: np.minimum(t["value"], 5), scale_min=1.0, scale_max=5.0)
    # Everybody says the same of one stimulus, and nearly everybody of another at the end of the scale.
    alike = (table["content"] == "c0") & (table["condition"] == "NA")
    near = (table["content"] == "c1") & (table["condition"] == "NA")
    table["value"] = table["value"].mask(alike, 4.0).mask(near, 5.0).mask(near & (table["participant"] == "p00"), 1.0)
    result = models(table)
    assert result is not None
    rows = result.table
    assert ((rows["low"] >= 1) & (rows["high"] <= 5)).all()
    assert (rows["high"] > rows["low"]).all()
    plain = rows[(rows["model"] == "mos") & (rows["stimulus"] == "NA/c0")].iloc[0]
    others = 1 - 0.025 ** (1 / 12)
    assert (plain["low"], plain["high"]) == pytest.approx((4 - 3 * others, 4 + others))
    assert rows.groupby("model")["coverage"].first().to_dict() == {
        "bt500": 0.92, "mos": 0.91, "p910": 0.63, "p913": 0.84, "shrunken": 0.94,
    }  # fmt: skip


def test_a_model_that_stops_early_says_so() -> None:
    actual = [
        (asked, P910.fit(asked.votes)._replace(has_converged=False, iterations=1000))
        for asked in all_question_votes(as_ratings(ratings(contents=12)))
    ]
    assert P910.remarks(actual) == ["It had not settled after 1,000 rounds."]


def graded(extra: dict[int, int]) -> pd.DataFrame:
    """Return grades round 3 by 20 people, and by one more who gives these, by content."""
    spread = (2, 3, 3, 3, 4)
    rows = [(f"p{rater:02}", content, spread[(rater + content) % 5]) for rater in range(20) for content in range(20)]
    rows += [("zz", content, value) for content, value in extra.items()]
    table = pd.DataFrame(rows, columns=["participant", "content", "value"])
    return table.assign(content="c" + table["content"].astype(str), condition="a")


@pytest.mark.parametrize(
    ("extra", "text"),
    [
        ({}, "Nobody is left out: nobody has more than 5 % of their ratings far from the others'."),
        ({0: 5, 1: 5}, "Nobody is left out: 1 participant has more than 5 % of their ratings far from the others', but "
                       "mostly on one side, which the rule takes for a habit and not for carelessness."),
        ({0: 1, 1: 5}, "Left out: zz; 1 of 21."),
    ],
    ids=["nobody far", "one side", "both sides"],
)  # fmt: skip
def test_bt500_says_whom_it_leaves_out_or_why_nobody(extra: dict[int, int], text: str) -> None:
    assert quality(graded(extra), "bt500").note.endswith(f" {text}")


def test_parts_that_share_nobody_are_told() -> None:
    two = pd.concat([ratings(), ratings().assign(participant=lambda table: "q" + table["participant"],
                                                 content=lambda table: "d" + table["content"])])  # fmt: skip
    result = models(two)
    assert result is not None
    assert result.table.groupby("component")["stimulus"].nunique().to_dict() == {"1": 12, "2": 12}
    assert "The stimuli fall into 2 groups that share no participant" in result.note
