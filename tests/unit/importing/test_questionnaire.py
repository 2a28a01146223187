"""The questions on the last page of webMUSHRA become items of ours, and its cells become answers to them."""

from __future__ import annotations

from pathlib import Path

from beholder.importing.questionnaire import Questionnaire, read_questionnaire
from beholder.importing.source_folder import SourceFolder

TEXT = """\
- {type: text, name: e_mail}
- {type: long_text, label: Anything else?, name: remarks, optional: true, default: no}
- {type: number, label: Age, name: age, min: 18, max: 99, optional: false}
- {type: likert, label: Hearing, name: Hearing aid, response: [{value: yes, label: I have one}, {value: no}]}
- {type: likert, name: broken, response: [{value: 1}]}
- {type: slider, name: odd}
"""


def read(tmp_path: Path) -> tuple[SourceFolder, Questionnaire]:
    (tmp_path / "q.yaml").write_text(TEXT, "utf-8")
    source = SourceFolder(tmp_path / "q.yaml")
    return source, read_questionnaire(source.yaml("q.yaml"))


def test_each_type_becomes_one_of_ours_and_others_are_told(tmp_path: Path) -> None:
    source, questions = read(tmp_path)
    assert [item.keys for item in questions.items] == [
        {"id": "e_mail", "text": "e_mail", "type": "text"},
        {"id": "remarks", "text": "Anything else?", "type": "text", "required": False},
        {"id": "age", "text": "Age", "min": 18, "max": 99, "type": "number"},
        {"id": "hearing-aid", "text": "Hearing", "type": "single", "options": ["I have one", "no"]},
    ]
    assert [item.is_email for item in questions.items] == [True, False, False, False]
    source.provenance.close()
    lost = {str(entry["key"]).partition(".")[0] for entry in source.provenance.entries("unsupported")}
    assert lost == {"1", "4", "5"}


def test_cells_become_answers(tmp_path: Path) -> None:
    _, questions = read(tmp_path)
    _, remarks, age, hearing = questions.items
    assert (remarks.read("=1+1"), age.read(" 20.0 "), hearing.read("yes")) == ("=1+1", 20, "I have one")
    assert (remarks.read(""), age.read("old"), hearing.read("perhaps")) == (None, None, None)


def test_a_page_without_questions_has_none() -> None:
    assert read_questionnaire(None).items == ()
