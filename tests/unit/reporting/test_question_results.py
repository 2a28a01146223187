"""The results of a question by its kind: comparisons, correct answers and ticks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.comparison_reports import compared, compared_undrawn


@pytest.mark.variant
def test_a_preference_has_its_own_heading_and_a_line_at_zero(tmp_path: Path) -> None:
    page = compared(tmp_path, "pair", "choice", [("a", "b", 1), ("a", "c", 1), ("b", "c", 1)])
    assert "Preference (pair), best first" in page.text
    assert "Broken line: no preference." in page.text
    assert (
        "a is ahead. Its preference is 1.00; those who compared both preferred it in 100 % of its comparisons with the "
        "next, b."
    ) in page.text
    assert "points" not in page.text
    assert "How often the row was preferred minus how often the column was, as a share of their comparisons" in (
        page.text
    )
    assert "Thick bar: 95 % interval for people like these, with these contents. Thin bar: for people and" in page.text
    assert "Condition Comparisons Participants Mean 95 % interval These contents SD of comparisons" in page.text
    assert (tmp_path / "report" / "figures" / "scores-quality.svg").is_file()


def test_grades_are_held_against_the_reference_which_has_no_mean(tmp_path: Path) -> None:
    page = compared_undrawn(
        tmp_path,
        "ccr",
        "diff",
        [("a", "original", -1), ("b", "original", -2)],
        roles={"original": "reference"},
        options={"presentation": "sequential", "gap": 1.0},
    )
    assert "CMOS(CCR), best first" in page.text
    assert "2 of 2 are clearly worse than the reference, original. Every one differs from it clearly." in page.text
    assert re.search(r"Every condition differs clearly from every other \S.{,30}\. All 3 pairs, after corr", page.text)
    assert "3 of 3 tested pairs differ" in page.text
    assert "One after the other, 1 s of grey between them." in page.text


def test_a_share_of_correct_answers_is_held_against_guessing(tmp_path: Path) -> None:
    page = compared(tmp_path, "abx", "correct", [("a", "b", 1), ("a", "b", 0), ("a", "b", 1), ("a", "b", 1)], people=40)
    assert "Share correct (ABX), best first" in page.text
    assert "They were told apart. a or b: the share correct is 0.75" in page.text
    assert "Wilcoxon" not in page.text
    assert "P.910" not in page.text
    assert "Sources Clopper and Pearson (1934), Biometrika 26 Korn and Graubard (1998)" in page.text


def test_what_was_ticked_is_told_tick_by_tick_in_files_with_plain_names(tmp_path: Path) -> None:
    questions = [{"id": "faults", "text": "What was wrong?", "ticks": ["Echo / noise"]}]
    given = [("a", "", 1), ("b", "", 0)]
    page = compared(tmp_path, "likert", "pick", given, unit="Echo / noise", questions=questions)
    assert "Share ticked (Likert), highest first" in page.text
    assert "What was wrong? Echo / noise. Dot: mean" in page.text
    assert (tmp_path / "report" / "figures" / "scores-question-1.svg").is_file()


@pytest.mark.variant
def test_two_conditions_are_one_pair_and_a_choice_without_a_tie_has_none(tmp_path: Path) -> None:
    questions = [{"id": "quality", "text": "Which one?", "scale": "pref2"}]
    page = compared(tmp_path, "ab", "choice", [("a", "b", 1)], questions=questions)
    assert "2 conditions" in page.text
    assert "The two differ clearly from each other. Clear" in page.text
    assert "1 of 1 tested pair differs" in page.text
    assert "Method ab, −1 to 1" in page.text
    assert "1 preferred, −1 the other preferred" in page.text
    assert "0 no difference" not in page.text


def test_both_of_which_one_had_to_be_named_are_conditions(tmp_path: Path) -> None:
    page = compared_undrawn(tmp_path, "abx", "correct", [("a", "b", 1)])
    assert "2 conditions" in page.text


def test_a_reference_that_nobody_rates_goes_by_its_label(tmp_path: Path) -> None:
    page = compared_undrawn(
        tmp_path,
        "dcr",
        "score",
        [("a", "orig", 0), ("b", "orig", 1)],
        roles={"orig": "reference"},
        conditions=["a", "b", {"name": "orig", "label": "Untouched", "role": "reference"}],
    )
    assert "Reference Untouched" in page.text


def test_differences_are_told_in_the_unit_of_the_method(tmp_path: Path) -> None:
    conditions = ["a", "b", {"name": "orig", "role": "reference"}]
    given = [("a", "orig", -1), ("b", "orig", -2)]
    roles = {"orig": "reference"}
    page = compared_undrawn(tmp_path, "bs1116", "diff", given, roles=roles, conditions=conditions)
    assert "Row minus column, in grades" in page.text


def test_shares_of_ticks_differ_by_percentage_points(tmp_path: Path) -> None:
    questions = [{"id": "faults", "text": "What was wrong?", "ticks": ["Echo"]}]
    given = [("a", "", 1), ("b", "", 0), ("c", "", 0)]
    page = compared_undrawn(tmp_path, "likert", "pick", given, unit="Echo", questions=questions)
    assert (
        "a was ticked most often. It was ticked in 100 % of the answers; it is 100 percentage points above the next, b."
    ) in page.text
    assert "Row minus column, as shares" in page.text
