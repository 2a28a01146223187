"""Means of conditions, contents, questions and factors."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from beholder.analysis import analyse
from beholder.analysis.factors import factors
from beholder.analysis.means import conditions, contents, questions
from beholder.analysis.pairs import pairs
from beholder.analysis.scores import scores
from beholder.stats.intervals import share_interval, t_interval
from support.crossed_ratings import crossed, write_csv
from support.kind_ratings import results, table
from support.stimulus_ratings import NAMES, noisy, rated, row


def test_a_rating_more_from_one_person_does_not_narrow_the_interval(tmp_path: Path) -> None:
    """Repetitions of a participant are averaged before anything is counted."""
    table = crossed({"a": 1}, 5, contents=1)
    once = analyse(write_csv(tmp_path, table))
    thrice = analyse(write_csv(tmp_path, pd.concat([table] * 3)))
    pd.testing.assert_frame_equal(once.scores, thrice.scores)
    assert thrice.notes["ratings"]["repeated"] == 10


def test_every_content_weighs_the_same_in_a_condition_however_many_rated_it(tmp_path: Path) -> None:
    rows = [("p1", "c1", 0.0), ("p2", "c1", 0.0), ("p3", "c1", 0.0), ("p1", "c2", 4.0)]
    table = pd.DataFrame([{"participant": p, "content": c, "condition": "a", "value": v} for p, c, v in rows])
    (row,) = analyse(write_csv(tmp_path, table)).conditions.to_dict("records")
    assert (row["mean"], row["n"], row["participants"], row["contents"]) == (2.0, 4, 3, 2)


@pytest.mark.parametrize(("people", "contents"), [(20, 6), (12, 4), (6, 2), (30, 1)])
def test_where_all_agree_a_share_is_no_less_sure_than_with_a_dissenter(people: int, contents: int) -> None:
    table = crossed({"a": 1}, people, contents=contents, noise=0).assign(kind="correct")
    dissent = table.assign(value=np.where(table.index == 0, 0.0, 1.0))
    alike, other = (conditions(one).table.loc[0] for one in (table, dissent))
    for low in ("ci_low", "these_low"):
        assert other[low] < alike[low] < 1
    assert alike["these_low"] >= alike["ci_low"]
    # One rating of each person is Clopper and Pearson's case.
    assert contents > 1 or alike["ci_low"] == pytest.approx(0.025 ** (1 / people))


def means(actual: Any) -> dict[str, float]:
    return dict(zip(actual.conditions["condition"], actual.conditions["mean"], strict=True))


def test_a_preference_counts_for_one_and_against_the_other(tmp_path: Path) -> None:
    analysis = results(
        tmp_path, table("choice", ("p1", "a", "b", 1), ("p1", "a", "c", 1), ("p1", "b", "c", -1), ("p2", "a", "b", 0))
    )
    assert means(analysis) == {"a": pytest.approx(0.5), "b": pytest.approx(-0.5), "c": pytest.approx(0.0)}
    assert dict(zip(analysis.conditions["condition"], analysis.conditions["n"], strict=True)) == {
        "a": 3,
        "b": 3,
        "c": 2,
    }
    assert analysis.notes["metrics"]["q"]["name"] == "Preference"
    assert analysis.notes["ratings"]["used"] == 4
    assert "counts once for each of them" in analysis.notes["analyses"]["conditions"]["note"]


def test_grades_against_a_reference_are_means_of_the_condition_and_the_reference_has_none(tmp_path: Path) -> None:
    rows = [(f"p{n}", name, "original", value) for n in range(4) for name, value in (("a", -1), ("b", -2 - n % 2))]
    ratings = pd.concat(
        [table("diff", *rows), table("score", ("p1", "original", "", 5)).assign(question="x", role="reference")]
    )
    analysis = results(tmp_path, ratings)
    graded = analysis.conditions[analysis.conditions["question"] == "q"].set_index("condition")["mean"]
    assert graded.to_dict() == {"a": -1.0, "b": -2.5}
    pairs = analysis.pairs[analysis.pairs["question"] == "q"].set_index(["condition", "other_condition"])[
        "mean_difference"
    ]
    assert pairs.to_dict() == pytest.approx({("a", "b"): 1.5, ("a", "original"): -1.0, ("b", "original"): -2.5})
    assert analysis.notes["metrics"]["q"]["name"] == "CMOS"


def test_correct_answers_are_a_share_and_have_no_pairs(tmp_path: Path) -> None:
    analysis = results(tmp_path, table("correct", ("p1", "a", "b", 1), ("p2", "a", "b", 0), ("p3", "a", "b", 1)))
    assert means(analysis) == {"a": pytest.approx(2 / 3)}
    assert analysis.pairs.empty
    assert "chance is 0.5" in analysis.notes["analyses"]["conditions"]["note"]


def test_agreeing_people_have_an_interval_everywhere(tmp_path: Path) -> None:
    analysis = results(tmp_path, table("choice", *[(f"p{n}", "a", "b", 1) for n in range(8)], method="pair"))
    exact = stats.binomtest(8, 8).proportion_ci(method="exact")
    (pair,) = analysis.pairs.to_dict("records")
    assert (pair["ci_low"], pair["ci_high"]) == (pytest.approx(2 * exact.low - 1), 1.0)
    for rows in (analysis.conditions, analysis.scores):
        assert rows[rows["condition"] == "a"]["ci_low"].item() == pytest.approx(2 * exact.low - 1)
        assert rows[rows["condition"] == "b"]["ci_high"].item() == pytest.approx(1 - 2 * exact.low)
    assert set(analysis.conditions["note"]) == {"one content: interval over participants only"}
    assert set(analysis.conditions["interval"]) == {"t over participants, as the pair has it"}
    assert analysis.notes["intervals"] == {"q": "Korn-Graubard over participants and contents"}
    assert "Korn and Graubard" in analysis.notes["analyses"]["conditions"]["note"]


@pytest.mark.parametrize(("kind", "rivals"), [("choice", {"a": "b", "b": "a"}), ("diff", {"a": "r", "b": "r"})])
def test_a_condition_that_met_one_other_only_has_the_interval_of_their_pair(kind: str, rivals: dict[str, str]) -> None:
    """One quantity has one interval: a preference does not cross one half where the pair is clear."""
    rng = np.random.default_rng(4)
    met = {("a", "b")} if kind == "choice" else set(rivals.items())
    rows = [
        {"participant": f"p{p}", "content": f"c{k}", "condition": one, "other_condition": other, "kind": kind,
         "value": float(np.sign(rng.normal(0.6, 1)))}
        for p in range(9) for k in range(5) for one, other in sorted(met)
    ]  # fmt: skip
    result, against = conditions(pd.DataFrame(rows)), pairs(pd.DataFrame(rows)).table
    assert "is their difference in pairs.csv" in result.note
    for name, rival in rivals.items():
        own = row(result, condition=name)
        pair = against[against["condition"].isin([name, rival]) & against["other_condition"].isin([name, rival])].iloc[
            0
        ]
        sign = 1 if pair["condition"] == name else -1
        assert own["mean"] == pytest.approx(sign * pair["mean_difference"])
        for kind_of in ("ci", "these"):
            ends = sorted(sign * pair[[f"{kind_of}_low", f"{kind_of}_high"]])
            assert [own[f"{kind_of}_low"], own[f"{kind_of}_high"]] == pytest.approx(ends)
        assert own["interval"] == "clustered t over participants and contents, as the pair has it"


def test_with_everything_rated_by_all_the_narrower_intervals_are_students() -> None:
    values = noisy()
    for place, name in enumerate(NAMES[:2]):
        actual = row(conditions(rated(values)), condition=name)
        own, by_content = t_interval(values[:, :, place].mean(axis=1)), t_interval(values[:, :, place].mean(axis=0))
        pooled = t_interval(values[:, :, place].ravel())
        for kind, known in (("these", own), ("contents", by_content), ("ratings", pooled)):
            assert (actual[f"{kind}_low"], actual[f"{kind}_high"]) == (
                pytest.approx(max(1.0, known.low)),  # no interval leaves its scale
                pytest.approx(min(5.0, known.high)),
            )
        assert actual["mean"] == pytest.approx(own.mean)
        assert actual["interval"] == "clustered t over participants and contents"


def test_the_mean_of_a_condition_is_the_mean_of_its_scores() -> None:
    values = noisy(12, 4, 3)
    values[np.random.default_rng(9).random(values.shape) < 0.4] = math.nan
    by_score = scores(rated(values)).table.groupby("condition")["mean"].mean()
    for name, mean in by_score.items():
        assert row(conditions(rated(values)), condition=str(name))["mean"] == pytest.approx(mean)


def test_contents_questions_and_factors_weigh_every_stimulus_the_same() -> None:
    values = noisy(6, 2, 3)
    values[3:, 0, 0] = math.nan
    table = rated(values)
    table["factor_rate"] = table["condition"].map({"no": "low", "01": "high", "NA": "high"})
    means = scores(table).table.set_index("stimulus")["mean"]
    assert row(contents(table), content="c0")["mean"] == pytest.approx(means[["no/c0", "01/c0", "NA/c0"]].mean())
    assert row(questions(table))["mean"] == pytest.approx(means.mean())
    high = row(factors(table), factor="rate", level="high")
    assert high["mean"] == pytest.approx(means[["01/c0", "NA/c0", "01/c1", "NA/c1"]].mean())
    assert (high["contents"], high["stimuli"], high["participants"], high["n"]) == (2, 4, 6, 24)
    assert row(factors(table), level="low")["n"] == 9


def test_a_comparison_counts_for_the_levels_of_both_stimuli() -> None:
    rows = [(f"p{n}", one, other, value) for n in range(5) for one, other, value in (("no", "01", 1), ("01", "NA", 1))]
    table = pd.DataFrame(rows, columns=["participant", "condition", "other_condition", "value"])
    table = table.assign(content="c", kind="choice", factor_of=table["condition"].map({"no": "a", "01": "b"}))
    assert row(factors(table), level="a")["mean"] == 1
    assert row(factors(table), level="b")["mean"] == 0


def test_the_interval_of_a_share_knows_participants_and_contents() -> None:
    rng = np.random.default_rng(2)
    by_person, by_content = rng.normal(0, 1, (30, 1, 1)), rng.normal(0, 1, (1, 12, 1))
    answers = (by_person + by_content + rng.normal(0, 1, (30, 12, 1)) > 0).astype(float)
    actual = row(conditions(rated(answers, kind="correct")))
    width = actual["ci_high"] - actual["ci_low"]
    assert actual["interval"] == "Korn-Graubard over participants and contents"
    assert width > actual["these_high"] - actual["these_low"] > actual["ratings_high"] - actual["ratings_low"]
    own = share_interval(answers.mean(axis=(1, 2)), answers.size)
    assert (actual["these_low"], actual["these_high"]) == (
        pytest.approx(own.low),
        pytest.approx(own.high),
    )
    assert 0 <= actual["ci_low"] < actual["mean"] < actual["ci_high"] <= 1


def test_one_content_and_one_participant_are_said_so() -> None:
    alone = row(conditions(rated(noisy(1, 3, 1))))
    assert (alone["note"], alone["interval"]) == ("one participant: no interval", "")
    assert math.isnan(alone["ci_low"])
    assert alone["contents_low"] < alone["mean"]
    single = row(conditions(rated(noisy(6, 1, 1))))
    assert (single["note"], single["interval"]) == (
        "one content: interval over participants only",
        "t over participants",
    )
    assert single["ci_low"] == pytest.approx(single["these_low"])


def test_comparisons_within_a_level_say_who_won_there() -> None:
    """Of contents: `a` wins on the dark ones and loses on the bright ones."""
    rows = [
        {
            "participant": f"p{person}", "content": f"c{content}", "condition": "a", "other_condition": "b",
            "kind": "choice", "value": 1.0 if content < 2 and person else -1.0,
            "factor_light": ("dark", "dark", "bright", "bright")[content],
            "other_factor_light": ("dark", "dark", "bright", "bright")[content],
        }
        for person in range(4)
        for content in range(4)
    ]  # fmt: skip
    result = factors(pd.DataFrame(rows))
    assert result is not None
    means = {(row.level, row.condition): row.mean for row in result.table.itertuples()}
    assert means == {("dark", "a"): 0.5, ("dark", "b"): -0.5, ("bright", "a"): -1, ("bright", "b"): 1}
    assert "within a level are told by condition: above zero it was preferred to the others there" in result.note


def test_comparisons_of_groups_of_people_are_told_by_group_and_condition() -> None:
    rows = [
        {
            "participant": f"p{person}", "content": f"c{content}", "condition": "a", "other_condition": "b",
            "kind": "choice", "value": float(person % 2 == 0), "factor_layout": ("grid", "list")[person % 2],
        }
        for person in range(6)
        for content in range(3)
    ]  # fmt: skip
    result = factors(pd.DataFrame(rows))
    assert result is not None
    told = {(row.level, row.condition): (row.participants, row.n, row.mean) for row in result.table.itertuples()}
    assert told == {
        ("grid", "a"): (3, 9, 1), ("grid", "b"): (3, 9, -1), ("list", "a"): (3, 9, 0), ("list", "b"): (3, 9, 0),
    }  # fmt: skip
