"""Tallies of questionnaires, and what people wrote."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from beholder.reporting.material import Material
from beholder.reporting.participants import (
    demographics_section,
    demographics_sheet,
    participants_section,
    texts_section,
)
from support.participant_tables import put, shown

HOSTILE = "<script>alert(1)</script>\0 Größe 2 \u202eolleh"


PEOPLE = ("participant", "use", "answer_age", "answer_gender", "answer_easy", "answer_tools", "answer_remarks")


def person(number: int, *, use: bool, **answers: Any) -> dict[str, Any]:
    return {"participant": f"p{number}", "use": use, **{f"answer_{name}": value for name, value in answers.items()}}


def test_answers_are_counted_of_those_who_are_used_and_of_all(material: Material) -> None:
    rows = [
        person(1, use=True, age=20, gender="female", easy=5, tools=["=VR", "no"]),
        person(2, use=True, age=40, gender="female", easy=4),
        person(3, use=True, age=30, gender="male", tools=["no"]),
        person(4, use=False, age=70, gender="rather not say"),
        person(5, use=False),
    ]
    put(material, "participants", PEOPLE, rows)
    text = shown(participants_section(material)).text
    assert text.startswith("3 people of 5 who came are used.")
    assert (
        "How old are you? Used All answered 3 4 mean ± SD 30.0 ± 10.0 40.0 ± 21.6 median 30 35 "
        "range 20 to 40 20 to 70 no answer 0 1"
    ) in text
    assert "Your gender? Used % All female 2 67 % 2 male 1 33 % 1 rather not say 0 0 % 1 no answer 0 – 1" in text
    assert "It was easy." in text
    assert "4 Agree 1 50 % 1 5 Strongly agree 1 50 % 1 no answer 1 – 3" in text
    assert "Mean ± SD of those used: 4.5 ± 0.7, from 1 to 5." in text
    assert "What do you use? (several answers) Used % All =VR 1 50 % 1 no 2 100 % 2 no answer 1 – 3" in text


def test_nobody_used_gives_zeros_and_dashes(material: Material) -> None:
    put(material, "participants", PEOPLE, [person(1, use=False, age=20, gender="male")])
    text = shown(participants_section(material)).text
    assert text.startswith("Nobody is used. 1 person came.")
    assert "answered 0 1 mean ± SD – 20.0 median – 20 range – 20 no answer 0 0" in text
    assert "male 0 – 1" in text
    assert "Nobody answered: It was easy. and What do you use?" in text


def test_a_study_without_questions_has_no_such_section(material: Material) -> None:
    put(material, "participants", PEOPLE, [person(1, use=True, age=20)])
    assert (
        participants_section(replace(material, study=material.study.model_copy(update={"before": (), "after": ()})))
        is None
    )


COMMENTS = ("session", "participant", "position", "trial", "content", "question", "kind", "text")


def test_texts_are_listed_as_written_and_cannot_do_anything(material: Material) -> None:
    rows = [person(number, use=number % 2 == 0, remarks=f"{number} {HOSTILE}") for number in range(500)]
    put(material, "participants", PEOPLE, [*rows, person(501, use=True, remarks="=SUM(A1)")])
    put(material, "sessions", ("session", "use"), [{"session": "s1", "use": True}, {"session": "s2", "use": False}])
    comment = {"session": "s2", "content": "Größe 2", "question": "quality", "text": "Too <i>dark</i>"}
    put(material, "comments", COMMENTS, [comment | {"kind": "reason"}, comment | {"kind": "comment", "session": "s1"}])
    page = shown(texts_section(material))
    assert "Remarks? 501 texts, 250 of them of people who are not used" in page.text
    assert "<script>alert(1)</script>\ufffd Größe 2 \u202eolleh" in page.text
    assert " =SUM(A1) " in page.text
    assert "Reasons: How good is it? 1 text, 1 of them of people who are not used Not used Too <i>dark</i>" in page.text
    assert page.text.endswith("Comments on the stimuli 1 text Too <i>dark</i> Größe 2")
    assert {"script", "i"}.isdisjoint(name for name, _ in page.tags)
    assert "p500" not in page.text
    spans = [attributes.get("dir") for name, attributes in page.tags if name == "span"]
    assert set(spans) == {"auto"}


def test_nothing_written_has_no_such_section(material: Material) -> None:
    put(material, "participants", PEOPLE, [person(1, use=True, age=20)])
    put(material, "comments", COMMENTS, [])
    assert texts_section(material) is None


def grouped(material: Material) -> Material:
    between = {"asked": {"Q1": {}, "Q2": {"playback": {"watch": "none"}}, "Q3": {"playback": {"sound": "off"}}}}
    design = material.study.design.model_validate({**material.study.design.model_dump(), "between": between})
    study = material.study.model_copy(update={"design": design})
    study._folder = material.study.folder
    return replace(material, study=study)


def test_who_took_part_has_a_column_for_each_group(material: Material) -> None:
    rows = [
        person(1, use=True, age=20, gender="female", easy=5, tools=["=VR", "no"]) | {"factor_asked": "Q1"},
        person(2, use=True, age=40, gender="female", easy=4) | {"factor_asked": "Q2"},
        person(3, use=True, age=30, gender="male", tools=["no"]) | {"factor_asked": "Q1"},
        person(4, use=False, age=70, gender="rather not say") | {"factor_asked": "Q2"},
    ]
    put(material, "participants", (*PEOPLE, "factor_asked"), rows)
    sheet = demographics_sheet(grouped(material))
    assert sheet is not None
    assert sheet.heads == ("Question", "Answer", "Q1", "Q2", "Q3", "All")
    assert list(sheet.rows) == [
        ("Participants", "", "2", "1", "0", "3"),
        ("How old are you?", "mean ± SD", "25.0 ± 7.1", "40.0", "–", "30.0 ± 10.0"),
        ("Your gender?", "female", "1 (50 %)", "1 (100 %)", "–", "2 (67 %)"),
        ("", "male", "1 (50 %)", "0 (0 %)", "–", "1 (33 %)"),
        ("It was easy.", "mean ± SD, from 1 to 5", "5.0", "4.0", "–", "4.5 ± 0.7"),
        ("", "no answer", "1", "0", "0", "1"),
        ("What do you use?", "=VR", "1 (50 %)", "–", "–", "1 (50 %)"),
        ("", "no", "2 (100 %)", "–", "–", "2 (100 %)"),
        ("", "no answer", "0", "1", "0", "1"),
    ]
    assert "Question Answer Q1 Q2 Q3 All Participants 2 1 0 3" in shown(demographics_section(grouped(material))).text


def test_without_groups_or_answers_there_are_no_demographics_by_group(material: Material) -> None:
    put(material, "participants", PEOPLE, [person(1, use=True, age=20), person(2, use=False, age=30)])
    sheet = demographics_sheet(material)
    assert sheet is not None
    assert sheet.heads == ("Question", "Answer", "All")
    assert demographics_section(material) is None
    # Cleaned before groups stood in the table.
    assert demographics_section(grouped(material)) is None
    put(material, "participants", PEOPLE, [person(1, use=True)])
    assert demographics_sheet(material) is None
    put(material, "participants", PEOPLE, [person(1, use=False, age=20)])
    assert demographics_sheet(material) is None
