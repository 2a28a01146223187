"""Is one better than the other: yes, no or undecided, by the same rule as the report, with its evidence."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from beholder.analysis.condition_difference import equivalence, inconclusive
from beholder.analysis.pairs import pairs
from beholder.analysis.ratings import RowOrder, tidy
from beholder.analysis.ratings_table import fill_columns
from beholder.analysis.result import Results, metric, records
from beholder.errors import UserError
from beholder.stats.tests import holm
from beholder.study.cleaning import Analyse
from support.pair_ratings import ODD
from support.pair_ratings import ratings as crossed_ratings


def results(table: pd.DataFrame, population: str = "people", **order: Any) -> Results:
    whole = fill_columns(table)
    actual, none = tidy(whole, RowOrder(**order)), pd.DataFrame()
    notes = {
        "population": population,
        "claim": actual.order.settings.claim,
        "conditions": list(actual.conditions),
        "questions": list(actual.questions),
        "labels": dict(actual.labels),
        "turned": list(actual.turned),
        "kinds": dict(actual.kinds),
        "metrics": {name: metric(actual.methods[name], kind)._asdict() for name, kind in actual.kinds.items()},
    }
    return Results(none, none, none, pairs(actual).table, whole, none, notes)


def rated(means: dict[str, float], *, people: int = 12, noise: float = 5.0, seed: int = 2, **more: Any) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = [
        (f"p{p}", f"c{k}", name, mean + rng.normal(0, noise))
        for p in range(people)
        for k in range(6)
        for name, mean in means.items()
    ]
    table = pd.DataFrame(rows, columns=["participant", "content", "condition", "value"])
    return table.assign(scale_min=0.0, scale_max=100.0, **more)


def chosen(share: float, *, people: int = 20, kind: str = "choice", **more: Any) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    rows = [
        (f"p{p}", f"c{k}", "new", "old", 1.0 if rng.random() < share else -1.0) for p in range(people) for k in range(6)
    ]
    columns = ["participant", "content", "condition", "other_condition", "value"]
    return pd.DataFrame(rows, columns=columns).assign(kind=kind, **more)


THREE = results(rated({"old": 50, "new": 58, "twin": 50.2}))


def test_a_clear_difference_is_yes_one_way_and_no_the_other() -> None:
    yes, no = THREE.better("new", "old"), THREE.better("old", "new")
    assert (yes.answer, no.answer) == ("yes", "no")
    assert str(yes) == (
        "Yes: new scores 8.1 points higher than old (95 % interval 5.7 to 10.5, Holm-corrected p < 0.001, "
        "12 participants): clear, also beyond these 6 contents."
    )
    assert str(no) == (
        "No: old scores 8.1 points lower than new (95 % interval 5.7 to 10.5, Holm-corrected p < 0.001, "
        "12 participants): clear, also beyond these 6 contents."
    )
    assert (no.estimate, no.low, no.high) == (-yes.estimate, -(yes.high or 0), -(yes.low or 0))
    assert (yes.n, yes.participants, yes.test, yes.question) == (72, 12, "clustered t", "rating")
    assert yes._repr_html_() == f"<p>{escape(str(yes))}</p>"


def test_two_that_are_not_told_apart_are_undecided_and_make_the_next_study() -> None:
    difference = THREE.better("twin", "old")
    assert difference.answer == "undecided"
    assert str(difference).endswith("12 participants), which cannot be told from none.")
    assert inconclusive(THREE) == [("old", "twin")]


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (
            "beyond",
            "Undecided: new scores 10.0 points higher than old (95 % interval −12.0 to 32.0, Holm-corrected p = 0.245, "
            "12 participants): clear on these 4 contents (95 % interval 9.3 to 10.7, Holm-corrected p < 0.001); beyond "
            "them undecided.",
        ),
        (
            "these",
            "Yes: new scores 10.0 points higher than old (95 % interval 9.3 to 10.7, Holm-corrected p < 0.001, 12 "
            "participants): clear on these 4 contents; beyond them undecided (95 % interval −12.0 to 32.0, "
            "Holm-corrected p = 0.245).",
        ),
    ],
)
def test_a_difference_on_these_contents_only_is_told_in_two_steps_and_counts_where_it_is_claimed(
    claim: Any, said: str
) -> None:
    rows = [
        (f"p{person}", f"c{content}", name, mean + spread * (-1) ** content + person % 3)
        for person in range(12)
        for content in range(4)
        for name, mean, spread in (("new", 60, 12), ("old", 50, 0))
    ]
    table = pd.DataFrame(rows, columns=["participant", "content", "condition", "value"])
    analysis = results(table.assign(scale_min=0.0, scale_max=100.0), settings=Analyse(claim=claim))
    difference = analysis.better("new", "old")
    assert str(difference) == said
    assert difference.verdict == "these"
    assert inconclusive(analysis) == ([("new", "old")] if claim == "beyond" else [])


def test_an_answer_is_compared_and_never_taken_for_a_truth() -> None:
    difference = THREE.better("new", "old")
    assert difference == "yes"
    assert difference != "no"
    assert difference == THREE.better("new", "old")
    assert len({difference, THREE.better("new", "old")}) == 1
    with pytest.raises(TypeError, match='The answer is "yes", "no" or "undecided"'):
        bool(difference)


def test_a_reversed_question_is_turned_and_named_so() -> None:
    table = rated({"old": 60, "new": 40}, question="creepy")
    difference = results(table.assign(keyed=100 - table["value"])).better("new", "old")
    assert difference == "yes"
    assert difference.estimate > 0
    assert str(difference) == (
        "Yes, on creepy (turned): new scores 21.4 points higher than old (95 % interval 19.0 to 23.8, Holm-corrected "
        "p < 0.001, 12 participants): clear, also beyond these 6 contents."
    )


def test_comparisons_are_told_as_the_share_that_won() -> None:
    difference = results(chosen(0.75, question="preference")).better("new", "old")
    assert difference == "yes"
    assert str(difference).startswith("Yes: new was preferred to old in 7")
    assert " % of their comparisons (95 % interval " in str(difference)
    half = results(chosen(0.5)).better("old", "new")
    assert half == "undecided"
    assert str(half).endswith("which cannot be told from one half.")
    closest = results(chosen(0.8, method="abx")).better("new", "old")
    assert " was called closer than old in " in str(closest)


def test_grades_of_comparisons_are_points() -> None:
    difference = results(chosen(0.9, kind="diff", scale_min=-3.0, scale_max=3.0)).better("old", "new")
    assert difference == "no"
    assert " points lower than new (" in str(difference)


def test_robots_are_called_robots() -> None:
    assert "12 robots" in str(results(rated({"old": 50, "new": 58}), "robots").better("new", "old"))


def test_one_participant_decides_nothing() -> None:
    difference = results(rated({"old": 50, "new": 90}, people=1, noise=0.0)).better("new", "old")
    assert (difference.answer, difference.low, difference.high, difference.p) == ("undecided", None, None, None)
    assert str(difference) == (
        "Undecided: new scores 40.0 points higher than old (1 participant), without a test: one participant: no test."
    )


def test_equal_ratings_are_undecided() -> None:
    difference = results(rated({"old": 50, "new": 50}, noise=0.0)).better("new", "old")
    assert difference == "undecided"
    assert str(difference).startswith("Undecided: new scores the same as old (")
    assert str(difference).endswith(" participants).")
    assert "nan" not in str(difference)


def test_a_pair_that_the_study_is_not_about_is_not_judged() -> None:
    table = rated({"old": 50, "new": 70, "Größe 2": 50.1})
    analysis = results(table, settings=Analyse(contrasts=(("Größe 2", "old"),)))
    text = analysis.better("new", "old")
    assert text == "undecided"
    assert str(text).endswith("; the study names other contrasts, and this one is not judged.")
    assert inconclusive(analysis) == [("Größe 2", "old")]


def test_each_question_has_its_own_answer() -> None:
    both = pd.concat(
        [rated({"no": 50, "01": 58}, question="quality"), rated({"no": 50, "01": 50.1}, question="fit", seed=5)]
    )
    analysis = results(both)
    assert str(analysis.better("01", "no", question="quality")).startswith("Yes, on quality: 01 scores ")
    assert analysis.better("01", "no", question="fit") == "undecided"
    assert inconclusive(analysis) == [("01", "no")]
    assert inconclusive(analysis, "quality") == []
    with pytest.raises(UserError) as error:
        analysis.better("01", "no")
    assert str(error.value) == (
        'better("01", "no")  2 questions were asked. Allowed: fit, quality. Say which: question="fit" (--question fit).'
    )
    with pytest.raises(UserError) as error:
        analysis.better("01", "no", question="qualty")
    assert str(error.value) == (
        'better("01", "no")  no question \'qualty\' was asked. Allowed: fit, quality. Did you mean quality?'
    )


def test_names_that_nobody_rated_are_told_all_at_once() -> None:
    with pytest.raises(UserError) as error:
        THREE.better("nwe", "odl")
    assert str(error.value) == (
        'better("nwe", "odl")  no condition \'nwe\' was rated. Allowed: new, old, twin. Did you mean new?\n'
        'better("nwe", "odl")  no condition \'odl\' was rated. Allowed: new, old, twin. Did you mean old?'
    )
    with pytest.raises(UserError) as error:
        THREE.better("new", "new")
    assert str(error.value) == 'better("new", "new")  is one condition against itself. Name two conditions.'


def test_two_that_nobody_compared() -> None:
    apart = chosen(0.7).replace({"old": "a", "new": "b"})
    also = chosen(0.7).replace({"old": "c", "new": "d"})
    with pytest.raises(UserError) as error:
        results(pd.concat([apart, also]).assign(question="preference")).better("a", "c")
    assert str(error.value) == (
        'better("a", "c")  a was not compared with c in preference. Allowed: a with b. '
        "A study that shows both to the same people compares them."
    )


def test_correct_answers_compare_nothing_with_each_other() -> None:
    table = chosen(0.7, kind="correct", question="which").assign(value=1.0)
    with pytest.raises(UserError) as error:
        results(table).better("new", "old")
    assert str(error.value) == (
        'better("new", "old")  which asks which of two something was: conditions are held against chance, not against '
        "each other. Look at `results.conditions`: the share correct with its interval."
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 999), st.floats(-6, 6), st.integers(1, 6))
def test_asked_the_other_way_round_the_answer_turns(seed: int, gap: float, people: int) -> None:
    analysis = results(rated({"a": 50, "b": 50 + gap}, people=people, seed=seed))
    one, other = analysis.better("a", "b"), analysis.better("b", "a")
    assert {one.answer, other.answer} in ({"yes", "no"}, {"undecided"})
    assert one.estimate == -other.estimate
    assert (one.p, one.n, one.participants) == (other.p, other.n, other.participants)
    assert ("a", "b") in inconclusive(analysis) or one.answer != "undecided"
    assert "nan" not in f"{one}{other}"


# Equivalence


ALIKE = crossed_ratings({"a": 50, "b": 50.5, "c": 58})


def within_margin(data: pd.DataFrame, margin: float | dict[str, float], **options: Any) -> pd.DataFrame:
    result = equivalence(data, margin=margin, **options)
    assert result is not None
    return result.table.set_index(["condition", "other_condition"], drop=False)


def test_what_is_near_is_equivalent_and_what_is_far_is_not() -> None:
    table = within_margin(ALIKE, 4)
    assert table["equivalent"].to_dict() == {("a", "b"): "yes", ("a", "c"): "no", ("b", "c"): "no"}
    assert table["these_equivalent"].to_dict() == {("a", "b"): "yes", ("a", "c"): "no", ("b", "c"): "no"}
    # a and b are worse than c by twice the margin.
    assert table["not_worse"].to_dict() == {("a", "b"): "yes", ("a", "c"): "no", ("b", "c"): "no"}
    # With these contents alone one is surer, of either verdict.
    assert table["these_equivalent_p"]["a", "b"] < table["equivalent_p"]["a", "b"]


def test_the_tests_are_those_of_the_difference_and_its_error_in_pairs() -> None:
    table, told = within_margin(ALIKE, 4), pairs(ALIKE).table.set_index(["condition", "other_condition"])
    t = (told["mean_difference"] + 4) / told["se"], (4 - told["mean_difference"]) / told["se"]
    below, above = (special.stdtr(told["df"], -one) for one in t)
    np.testing.assert_allclose(table["not_worse_p"], below)
    np.testing.assert_allclose(table["equivalent_p"], np.maximum(below, above))
    np.testing.assert_allclose(table["equivalent_p_holm"], holm(table["equivalent_p"]))
    is_within = (table["inner_low"] > -4) & (table["inner_high"] < 4)
    assert (is_within == (table["equivalent_p"] < 0.05)).all()


def test_no_end_of_the_inner_interval_is_beyond_the_scale() -> None:
    table = within_margin(chosen(1.0), 0.5)
    assert (table["mean_difference"].item(), table["inner_high"].item()) == (pytest.approx(1), 1)
    assert 0.5 < table["these_inner_low"].item() < 1


def test_only_named_contrasts_are_judged_each_from_its_first_side() -> None:
    table = within_margin(ALIKE, 4, contrasts=[("c", "a")])
    assert (table["not_worse"]["c", "a"], table["equivalent"]["c", "a"]) == ("yes", "no")
    assert table["equivalent"].drop(index=[("c", "a")]).tolist() == ["", ""]
    assert table["equivalent_p_holm"]["c", "a"] == table["equivalent_p"]["c", "a"]


def test_the_margin_of_the_study_is_taken_question_by_question() -> None:
    data = pd.concat([ALIKE.assign(question=name) for name in ("quality", "fit")])
    study = tidy(fill_columns(data), RowOrder(settings=Analyse(margin={"fit": 4.0})))
    result = equivalence(study)
    assert result is not None
    assert set(result.table["question"]) == {"fit"}
    assert set(result.table["margin"]) == {4.0}
    assert equivalence(ALIKE) is None


@pytest.mark.parametrize("name", sorted(ODD))
def test_odd_ratings_are_never_called_equivalent_without_a_test(name: str) -> None:
    result = equivalence(ODD[name], margin=0.5)
    for row in records(result.table) if result is not None else ():
        has_p = row["equivalent_p"] == row["equivalent_p"]
        assert (row["equivalent"] == "") or has_p
        assert not has_p or row["equivalent_p"] > 0
