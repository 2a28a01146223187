"""The report of comparisons, correct answers and ticks."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from beholder.cleaning.ratings import COLUMNS
from beholder.files import write_table
from support.report_pages import Page, made_up, read

Given = tuple[str, str, float]
"""condition, other condition, value"""


def compared(
    folder: Path, method: str, kind: str, given: Sequence[Given], *, people: int = 8, unit: str = "", **keys: Any
) -> Page:
    """Return the report of a study in which everybody gives these answers."""
    names = dict.fromkeys(name for one, other, _ in given for name in (one, other) if name)
    study = made_up(folder, dict.fromkeys(names, 50.0), participants=1, contents=1, method=method, **keys)
    low, high = {"diff": (-3, 3), "choice": (-1, 1)}.get(kind, (0, 1))
    rows = [
        dict.fromkeys(COLUMNS, "")
        | {
            "digest": "d1", "participant": f"p{person}", "session": f"s{person}", "position": place, "kind": kind,
            "method": method, "question": study.questions[0].id, "content": f"t{person % 8}", "condition": one,
            "other_condition": other, "stimulus": f"{one}/{person % 8}", "role": "test", "value": value, "unit": unit,
            "other_stimulus": f"{other}/{person % 8}" if other else "", "scale_min": low, "scale_max": high,
            "use": True, "answered_at": "2026-11-14T09:00:00+00:00",
        }
        for person in range(people)
        for place, (one, other, value) in enumerate(given, 1)
    ]  # fmt: skip
    write_table(folder / "clean" / "ratings.csv", COLUMNS, rows)
    return read(study)


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
    assert "95 % interval, Korn-Graubard over participants" in page.text
    assert "Condition Comparisons Participants Mean 95 % interval SD of comparisons Median" in page.text
    assert (tmp_path / "report" / "figures" / "scores-quality.svg").is_file()


def test_grades_are_held_against_the_reference_which_has_no_mean(tmp_path: Path) -> None:
    page = compared(
        tmp_path,
        "ccr",
        "diff",
        [("a", "original", -1), ("b", "original", -2)],
        roles={"original": "reference"},
        options={"presentation": "sequential", "gap": 1.0},
    )
    assert "CMOS(CCR), best first" in page.text
    assert "2 of 2 are clearly worse than the reference, original. Every one differs from it clearly." in page.text
    assert "Every condition differs clearly from every other. All 3 pairs, after correction." in page.text
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


def test_two_conditions_are_one_pair_and_a_choice_without_a_tie_has_none(tmp_path: Path) -> None:
    questions = [{"id": "quality", "text": "Which one?", "scale": "pref2"}]
    page = compared(tmp_path, "ab", "choice", [("a", "b", 1)], questions=questions)
    assert "2 conditions" in page.text
    assert "The two differ clearly from each other. Holm-corrected p below 0.05." in page.text
    assert "1 of 1 tested pair differs" in page.text
    assert "Method ab, −1 to 1" in page.text
    assert "1 preferred, −1 the other preferred" in page.text
    assert "0 no difference" not in page.text


def test_a_choice_with_a_tie_says_so(tmp_path: Path) -> None:
    questions = [{"id": "quality", "text": "Which one?", "scale": "pref3"}]
    page = compared(tmp_path, "pair", "choice", [("a", "b", 1)], questions=questions)
    assert "1 preferred, −1 the other preferred, 0 no difference" in page.text


def test_both_of_which_one_had_to_be_named_are_conditions(tmp_path: Path) -> None:
    page = compared(tmp_path, "abx", "correct", [("a", "b", 1)])
    assert "2 conditions" in page.text


def test_a_reference_that_nobody_rates_goes_by_its_label(tmp_path: Path) -> None:
    page = compared(
        tmp_path,
        "dcr",
        "score",
        [("a", "orig", 0), ("b", "orig", 1)],
        roles={"orig": "reference"},
        conditions=["a", "b", {"name": "orig", "label": "Untouched", "role": "reference"}],
    )
    assert "Reference Untouched" in page.text


def test_what_is_closer_to_the_reference_is_not_called_preferred(tmp_path: Path) -> None:
    questions = [{"id": "quality", "text": "Which one?", "scale": "pref2"}]
    given = [("a", "b", 1), ("a", "c", 1), ("b", "c", 1)]
    page = compared(tmp_path, "abx", "choice", given, questions=questions)
    assert "Closeness to the reference, best first" in page.text
    assert "1 closer to the reference, −1 the other closer" in page.text
    assert "those who compared both called it closer in 100 % of its comparisons with the next, b." in page.text
    assert "refer" in page.text
    assert "preferred" not in page.text


def test_shares_of_ticks_differ_by_percentage_points(tmp_path: Path) -> None:
    questions = [{"id": "faults", "text": "What was wrong?", "ticks": ["Echo"]}]
    given = [("a", "", 1), ("b", "", 0), ("c", "", 0)]
    page = compared(tmp_path, "likert", "pick", given, unit="Echo", questions=questions)
    assert (
        "a was ticked most often. It was ticked in 100 % of the answers; those who rated both put it 100 percentage "
        "points above the next, b."
    ) in page.text
    assert "Row minus column, as shares" in page.text


def test_a_long_scale_keeps_the_words_at_its_ends(tmp_path: Path) -> None:
    questions = [{"id": "quality", "text": "How visible?", "scale": "dcr5"}]
    compared(tmp_path, "dcr", "score", [("a", "orig", 1), ("b", "orig", 0)], questions=questions)
    figure = (tmp_path / "report" / "figures" / "scores-quality.svg").read_text("utf-8")
    assert "Very annoying" in figure
    assert "Imperceptible" in figure
    assert "Slightly annoying" not in figure


def test_grades_have_the_words_of_their_scale(tmp_path: Path) -> None:
    questions = [{"id": "quality", "text": "Which one?", "scale": "ccr7"}]
    compared(tmp_path, "ccr", "diff", [("a", "b", 1)], questions=questions)
    figure = (tmp_path / "report" / "figures" / "scores-quality.svg").read_text("utf-8")
    assert "Much worse" in figure
    assert "Much better" in figure


def test_many_questions_have_an_overview_and_their_details_folded(tmp_path: Path) -> None:
    names = ["one", "two", "three", "four"]
    questions = [{"id": name, "text": f"Is it {name}?", "scale": "agree5"} for name in names]
    page = read(made_up(tmp_path, {"a": 40.0, "b": 80.0}, questions=questions))
    folded = [attributes for tag, attributes in page.tags if tag == "details" and "id" in attributes]
    assert [one["id"] for one in folded] == ["question-1", "question-2", "question-3", "question-4"]
    assert all("open" not in one for one in folded)
    assert "All questions Mean of every condition, by question Question a b Is it one?" in page.text
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a" and "href" in attributes]
    assert "#findings-four" in links  # inside: browsers unfold what a link leads into
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert "findings" in ids


def test_three_questions_are_told_one_after_the_other(tmp_path: Path) -> None:
    questions = [{"id": name, "text": f"Is it {name}?", "scale": "agree5"} for name in ("one", "two", "three")]
    page = read(made_up(tmp_path, {"a": 40.0, "b": 80.0}, questions=questions))
    assert "details" not in [tag for tag, _ in page.tags]


def test_a_picture_has_300_dots_in_an_inch(tmp_path: Path) -> None:
    compared(tmp_path, "ab", "choice", [("a", "b", 1)])
    png = (tmp_path / "report" / "figures" / "scores-quality.png").read_bytes()
    place = png.index(b"pHYs") + 4
    assert struct.unpack(">IIB", png[place : place + 9]) == (11811, 11811, 1)  # in a metre
