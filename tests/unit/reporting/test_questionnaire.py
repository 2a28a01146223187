"""The wording that participants read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from beholder.reporting.question_sections import findings_section
from beholder.reporting.questionnaire import wording_section
from beholder.reporting.sheets import paper_sheets
from beholder.study.model import Study
from support.comparison_reports import compared, compared_undrawn, made_alike
from support.report_material import analysed_material, markup_text
from support.report_pages import Page, change_account, made_up, read, read_undrawn, text_row


def reworded(study: Study, **keys: Any) -> Study:
    """Return the study with other words, as somebody writes them after people have finished."""
    return study.model_copy(update=keys)


def test_a_question_is_told_in_the_words_that_people_read(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"a": 60.0, "b": 40.0})
    question = study.questions[0].model_copy(update={"text": "How beautiful is it?"})
    page = read(reworded(study, title="Another title", questions=(question,)))
    assert "How good is it? Dot:" in page.text
    assert "Gestures while talking" in page.words
    assert "How beautiful is it?" not in (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert "Another title" not in (tmp_path / "report" / "index.html").read_text(encoding="utf-8")


def test_every_wording_is_told_with_the_number_of_its_people(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"a": 60.0, "b": 40.0}, participants=8)
    path = tmp_path / "clean" / "ratings.csv"
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    table.loc[table["participant"] >= "p007", "digest"] = "d2"
    table.to_csv(path, index=False, lineterminator="\n")
    question = study.questions[0].model_copy(update={"text": "How natural is it?"})
    playback = study.playback.model_copy(update={"watch": "none"})
    later = text_row(reworded(study, title="Later", questions=(question,), playback=playback), "d2", used_sessions=1)
    change_account(study, lambda account: account["texts"].append(later))
    page = read_undrawn(study)
    texts = "How good is it? (7 people), How natural is it? (1 person)"
    assert f"Not everybody was asked in the same words. quality : {texts}. The scores take them together." in page.text
    assert f"{texts}. Dot: mean, every content weighing the same." in page.text
    assert f"quality {texts} 0 to 100 in steps of 1" in page.text
    assert "Title Gestures while talking (7 people), Later (1 person)" in page.text
    assert "8 sessions: A rating counts when at least 97 %" in page.text
    assert "1 session: Stimuli did not have to be watched before rating." in page.text


def test_one_wording_needs_no_note(people: tuple[Study, Page]) -> None:
    assert "Not everybody" not in people[1].text


def test_a_choice_with_a_tie_says_so(tmp_path: Path) -> None:
    questions = [{"id": "quality", "text": "Which one?", "scale": "pref3"}]
    page = compared_undrawn(tmp_path, "pair", "choice", [("a", "b", 1)], questions=questions)
    assert "1 preferred, −1 the other preferred, 0 no difference" in page.text


def test_what_is_closer_to_the_reference_is_not_called_preferred(tmp_path: Path) -> None:
    questions = [{"id": "quality", "text": "Which one?", "scale": "pref2"}]
    given = [("a", "b", 1), ("a", "c", 1), ("b", "c", 1)]
    page = compared(tmp_path, "abx", "choice", given, questions=questions)
    assert "Closeness to the reference, best first" in page.text
    assert "1 closer to the reference, −1 the other closer" in page.text
    assert "those who compared both called it closer in 100 % of its comparisons with the next, b." in page.text
    assert "refer" in page.text
    assert "preferred" not in page.text


def test_grades_of_what_fits_are_told_for_its_own_and_a_foreign_companion_wherever_they_stood(tmp_path: Path) -> None:
    questions = [{"id": "fit", "text": "Which one fits?", "scale": "ccr5"}]
    study = made_alike(tmp_path, "mismatch", "diff", [("good", "", 2), ("poor", "", -1)], questions=questions)
    path = tmp_path / "clean" / "ratings.csv"
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    foreign = "mismatched:" + table["stimulus"]
    table = table.assign(role="matched", scale_min="-2", scale_max="2", other_stimulus=foreign)
    table.to_csv(path, index=False, lineterminator="\n")
    page = read_undrawn(study)
    assert "Do people find what belongs together?" in page.text
    assert "good 8 0 0 100 % 63 to 100 % above chance" in page.text
    assert "−2 Foreign clearly better, −1 Foreign slightly better, 0 Equal, 1 Own slightly better" in page.text
    assert "A clearly better" not in page.text
    assert "the condition is better" not in page.text
    assert "above zero the stimulus with its own companion was called more fitting" in page.text


@pytest.mark.variant
def test_a_reversed_question_is_shown_turned_under_its_own_name_and_told_as_it_was_asked(tmp_path: Path) -> None:
    questions = [
        {"id": "real", "text": "It looks real.", "scale": "agree5", "label": "Realistic"},
        {"id": "creepy", "text": "It is creepy.", "scale": "agree5", "keyed": "-", "turned": "Not creepy"},
    ]
    study = made_up(tmp_path, {"good": 90.0, "odd": 30.0}, questions=questions, noise=1)

    def answer(ratings: pd.DataFrame) -> pd.DataFrame:
        is_creepy = ratings["question"] == "creepy"
        return ratings.assign(value=ratings["value"].where(~is_creepy, 6 - ratings["keyed"]))

    material = analysed_material(study, answer)
    real, turned = material.parts
    assert (real.name, turned.name, turned.caption) == ("Realistic", "Not creepy", "Not creepy")
    assert turned.order == ["good", "odd"]
    assert turned.best_first["mean"].tolist() == pytest.approx([4.98, 2.0], abs=0.01)
    assert turned.above == {("good", "odd")}
    assert dict(turned.scale.labels)[5.0] == "Strongly disagree"
    assert {row[0] for row in paper_sheets(material)["pairs"].rows} == {"Realistic", "Not creepy"}
    asked = markup_text(wording_section(material))
    assert "It is creepy. 1 to 5 in steps of 1: 1 Strongly disagree, 2 Disagree" in asked
    assert "less is better" not in markup_text(findings_section(material, turned)).lower()
    raw = material.results.ratings
    assert raw[(raw["question"] == "creepy") & (raw["condition"] == "good")]["value"].max() < 3
