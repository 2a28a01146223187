"""Findings of a question: only what its tests support."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from beholder.analysis import analyse
from beholder.analysis.result import read_results
from beholder.files import write_table
from beholder.methods.contract import MetricWords
from beholder.reporting.findings import findings
from beholder.reporting.question_results import QuestionResults, Wording
from beholder.study.model import Study
from beholder.study.questions import SCALES
from support.headline_ratings import Value, around, flat, rated
from support.report_pages import Page, findings_text, made_up, read


def test_findings_follow_from_the_tests(people: tuple[Study, Page]) -> None:
    study, page = people
    results = read_results(study.folder)
    clear = int((results.pairs["p_holm"] < 0.05).sum())
    assert "natural is ahead." in page.text
    assert "frozen is behind all others." in page.text
    assert f"{clear} of 6 tested pairs differ clearly beyond these 4 contents." in page.text or clear == 6


def test_a_lead_that_is_not_clear_is_not_claimed(tmp_path: Path) -> None:
    text = findings_text(made_up(tmp_path, {"a": 60.0, "b": 60.2, "c": 20.0}))
    assert re.search(r"(a|b) scores highest, but not clearly above (a|b)\.", text)
    assert "is ahead" not in text


def findings_of(
    folder: Path,
    values: Mapping[str, Sequence[float | None]],
    *,
    reference: str | None = None,
    words: MetricWords = MetricWords(),
) -> list[tuple[str, str]]:
    """Return the findings for one rating of each participant under each condition; None is a missing one."""
    rows = [
        {
            "participant": f"p{person:03}",
            "content": "city",
            "condition": condition,
            "value": value,
            "question": "quality",
        }
        for condition, ratings in values.items()
        for person, value in enumerate(ratings)
        if value is not None
    ]
    write_table(folder / "r.csv", ["participant", "content", "condition", "value", "question"], rows)
    results = analyse(folder / "r.csv")
    asked = (Wording("How good?", 20),)
    part = QuestionResults(
        "quality", asked, SCALES["cont100"], results.conditions, results.pairs, results.contents, results.scores, 0.05,
        words=words, tests=results.also["tests"],
    )  # fmt: skip
    labels = {name: name for name in values}
    return [(one.headline, one.detail) for one in findings(part, labels, reference, ("person", "people"))]


HIGH_ONLY_ALONE: dict[str, Sequence[float | None]] = {
    "A": [40 + 2 * (person % 2) for person in range(20)] + [90] * 20,
    "B": [50 + person % 5 for person in range(20)],
    "C": [10 + person % 4 for person in range(20)],
}
"""A has the highest mean, thanks to twenty who rated nothing else; who rated A and B put B clearly above A."""


def test_a_difference_has_the_unit_of_its_method(tmp_path: Path) -> None:
    details = [detail for _, detail in findings_of(tmp_path, HIGH_ONLY_ALONE, words=MetricWords(unit="JND"))]
    assert details[1] == "It scores 11.5; it is 40.5 JND below the next, B."


def test_means_that_order_a_pair_against_its_test_are_said_to(tmp_path: Path) -> None:
    assert findings_of(tmp_path, HIGH_ONLY_ALONE) == [
        (
            "The plain means order A above B, but with people and contents held equal B is clearly above A.",
            "The means are 65.5 and 52.0; with people and contents held equal B is 11.0 points above A. The means do "
            "not rest on the same people and contents, the pair does.",
        ),
        ("C is behind all others.", "It scores 11.5; it is 40.5 points below the next, B."),
        ("Every condition differs clearly from every other on this one content.", "All 3 pairs, after correction."),
    ]


def test_a_condition_that_is_last_by_its_mean_alone_is_not_called_behind(tmp_path: Path) -> None:
    upside_down = {name: [None if v is None else 100 - v for v in values] for name, values in HIGH_ONLY_ALONE.items()}
    headlines = [headline for headline, _ in findings_of(tmp_path, upside_down)]
    assert headlines == [
        "The plain means order B above A, but with people and contents held equal A is clearly above B.",
        "C is ahead.",
        "Every condition differs clearly from every other on this one content.",
    ]


def test_a_reference_that_leads_by_its_mean_alone_is_compared_by_the_tests(tmp_path: Path) -> None:
    entries = findings_of(tmp_path, HIGH_ONLY_ALONE, reference="A")
    assert entries[1][0] == "Of the conditions under test, B is ahead."
    assert entries[2] == (
        "1 of 2 are clearly below the reference, A.",
        "Hidden among the others, the reference scores 65.5; nothing scores higher. Every other one differs from it "
        "clearly.",
    )


def test_every_pair_that_the_means_order_against_its_test_is_named(tmp_path: Path) -> None:
    values = HIGH_ONLY_ALONE | {"C": [48 + person % 4 for person in range(20)]}
    detail = findings_of(tmp_path, values)[0][1]
    assert detail.endswith("As doubtful in the order of the means: A above C.")


def test_equal_means_are_not_said_to_order_a_pair(tmp_path: Path) -> None:
    values: dict[str, Sequence[float | None]] = {
        "A": [40.0] * 20 + [60.0] * 20,
        "B": [50.0] * 20,
    }
    assert findings_of(tmp_path, values)[0][0] == (
        "The plain means put A level with B, but with people and contents held equal B is clearly above A."
    )


def test_a_pair_that_cannot_be_told_apart_is_given_with_its_tested_difference(tmp_path: Path) -> None:
    values: dict[str, Sequence[float | None]] = {
        "A": [50.0, 51.0, 49.0, 50.0] * 5 + [90.0] * 5,
        "B": [50.0, 50.0, 51.0, 50.0] * 5,
        "C": [10.0, 11.0] * 10,
    }
    assert findings_of(tmp_path, values)[0] == (
        "A scores highest, but not clearly above B.",
        "It scores 58.0; its difference from B, with people and contents held equal, is \u22120.3 points, which this "
        "study cannot tell from none.",
    )


def test_a_pair_that_nobody_rated_both_of_is_compared_through_a_third(tmp_path: Path) -> None:
    values: dict[str, Sequence[float | None]] = {
        "A": [80.0 + person % 3 for person in range(20)],
        "B": [None] * 20 + [60.0] * 20,
        "C": [20.0 + person % 4 for person in range(40)],
    }
    assert findings_of(tmp_path, values) == [
        ("A is ahead.", "It scores 81.0; it is 21.0 points above the next, B."),
        ("C is behind all others.", "It scores 21.5; it is 38.5 points below the next, B."),
        ("Every condition differs clearly from every other on this one content.", "All 3 pairs, after correction."),
    ]


def test_conditions_that_one_person_each_rated_last_are_not_compared(tmp_path: Path) -> None:
    values: dict[str, Sequence[float | None]] = {"A": [80.0, 81.0, None], "B": [None, None, 20.0]}
    assert findings_of(tmp_path, values) == [
        (
            "No two conditions could be compared.",
            "The conditions lie between 20.0 (B) and 80.5 (A); one participant of one: no test.",
        )
    ]


def test_only_named_contrasts_are_called_clear(tmp_path: Path) -> None:
    quality = {"a": 20.0, "b": 50.0, "c": 80.0}
    text = findings_text(made_up(tmp_path, quality, contents=8, analyse={"contrasts": [["c", "b"]]}))
    assert "c is ahead." not in text
    assert "c scores highest, clearly above b." in text
    assert "not clearly above" not in text
    assert "1 of 1 tested pairs differs clearly beyond these 8 contents. 2 pairs were not asked for." in text


def test_a_condition_in_no_contrast_is_not_held_against_others(tmp_path: Path) -> None:
    quality = {"a": 20.0, "b": 50.0, "c": 80.0}
    text = findings_text(made_up(tmp_path, quality, contents=8, analyse={"contrasts": [["b", "a"]]}))
    assert "c scores highest." in text
    assert "; its differences from the others were not asked for." in text


def test_one_person_for_each_condition_is_not_one_person(tmp_path: Path) -> None:
    assert findings_of(tmp_path, {"A": [80.0, None], "B": [None, 20.0]}) == [
        ("No condition was rated by more than one person.", "There is no interval and no test of any score.")
    ]


@pytest.mark.variant
def test_too_few_who_rated_both_are_too_few_however_many_rated_one(tmp_path: Path) -> None:
    values: dict[str, Sequence[float | None]] = {
        "A": [80.0, 82.0, 84.0, 86.0] + [50.0] * 30,
        "B": [20.0, 21.0, 22.0, 23.0],
    }
    assert findings_of(tmp_path, values)[0] == (
        "Very few people.",
        "With 4 people and 1 pair, tests lean on normally distributed differences: a first look, not a result.",
    )


@pytest.mark.variant
def test_a_mean_difference_of_zero_is_not_called_clear(tmp_path: Path) -> None:
    """Nineteen are a little below and one is far above: the ranks differ clearly, the means not at all."""
    values: dict[str, Sequence[float | None]] = {"A": [50.0] * 20, "B": [51.0] * 19 + [31.0]}
    assert findings_of(tmp_path, values)[0][0] == "No clear differences."
    tests = analyse(tmp_path / "r.csv").also["tests"].set_index("test")
    assert tests["p_holm"]["Wilcoxon"] < 0.05
    assert tests["clear"]["clustered t"] == 0


def test_too_few_people_for_any_clear_difference_are_said_to_be_too_few(tmp_path: Path) -> None:
    text = findings_text(made_up(tmp_path, {"a": 20.0, "b": 50.0, "c": 90.0}, participants=4))
    assert text.startswith(
        "Very few people. With 4 people and 3 pairs, tests lean on normally distributed differences: a first look, "
        "not a result."
    )


def test_equal_conditions_are_reported_as_no_clear_differences(tmp_path: Path) -> None:
    assert "No clear differences." in findings_text(made_up(tmp_path, {"a": 50.0, "b": 50.0}, noise=0))


@pytest.mark.variant
def test_choices_that_are_clear_on_these_contents_only_say_so(tmp_path: Path) -> None:
    votes: dict[tuple[str, str], Value] = {
        ("a", "b"): lambda _, what: 1 if what else -1, ("a", "c"): lambda who, _: 1 if who else -1, ("b", "c"): flat(1),
    }  # fmt: skip
    material = rated(tmp_path, votes, kind="choice", method="pair", contents=4)
    found = findings(material.parts[0], material.labels, None, ("person", "people"))
    assert "75 % of its comparisons with b: clear on these 4 contents; beyond them undecided." in found[0].detail


def test_the_reference_is_told_apart_in_two_steps(tmp_path: Path) -> None:
    values = {"r": around(70), "x": lambda who, what: 60 + 12 * (-1) ** what + who % 3, "y": around(20)}
    material = rated(tmp_path, values, contents=4)
    found = findings(material.parts[0], material.labels, "r", ("person", "people"))
    assert any(one.detail.endswith("Not told apart from it beyond these 4 contents: x.") for one in found)


def test_a_reference_is_compared_with_everything_else(tmp_path: Path) -> None:
    conditions = [{"name": "original", "role": "reference"}, "x", "y", "z"]
    text = findings_text(made_up(tmp_path, {"original": 70.0, "x": 90.0, "y": 40.0, "z": 30.0}, conditions=conditions))
    assert "2 of 3 are clearly below the reference, original." in text


def test_reference_and_anchors_are_marked_and_neither_ahead_nor_behind(tmp_path: Path) -> None:
    quality = {"original": 95.0, "x": 70.0, "y": 50.0, "z": 30.0, "lowpass-3500": 5.0}
    roles = {"original": "reference", "lowpass-3500": "anchor"}
    study = made_up(tmp_path, quality, roles=roles, conditions=[{"name": "original", "label": "Original"}, *"xyz"])
    page = read(study)
    assert "Of the conditions under test, x is ahead." in page.text
    assert "Of the conditions under test, z is behind all others." in page.text
    assert (
        "3 of 3 are clearly below the reference, Original. Hidden among the others, the reference scores" in page.text
    )
    assert "nothing scores higher. Every other one differs from it clearly." in page.text
    assert (
        "Every condition differs clearly from every other beyond these 4 contents. All 10 pairs, after correction."
    ) in page.text
    assert page.words.count("Original (reference)") >= 4  # figures, matrix and tables
    assert page.words.count("lowpass-3500 (anchor)") >= 4
    assert "Reference Original Anchors lowpass-3500 Answered by" in page.text


@pytest.mark.variant
def test_a_reference_that_does_not_lead_is_said_to_be_below_what_does(tmp_path: Path) -> None:
    conditions = [{"name": "original", "role": "reference"}, "x", "y"]
    text = findings_text(made_up(tmp_path, {"original": 50.0, "x": 90.0, "y": 20.0}, conditions=conditions))
    assert re.search(r"Hidden among the others, the reference scores \d\d\.\d; x scores \d\d\.\d\. ", text)


@pytest.mark.variant
def test_where_tests_disagree_it_is_said_on_which_pairs_and_by_which_we_go(tmp_path: Path) -> None:
    """Nineteen are a little below and one is far above: the ranks differ clearly, the means do not."""
    values: dict[str, Sequence[float | None]] = {"A": [50.0] * 20, "B": [51.0] * 19 + [31.0]}
    assert findings_of(tmp_path, values)[-1] == (
        "The five tests disagree on 1 of 1 pair.",
        "A and B (clear by Wilcoxon and sign, not by clustered t, page-paired t and paired t). We go by the clustered "
        "t, on all ratings: the others know pages with both conditions only, and the last three take them as "
        "independent of each other.",
    )


def test_where_tests_agree_nothing_is_said_of_them(tmp_path: Path) -> None:
    values: dict[str, Sequence[float | None]] = {"A": [80.0, 82.0] * 10, "B": [20.0, 21.0] * 10}
    assert not any("tests disagree" in headline for headline, _ in findings_of(tmp_path, values))
