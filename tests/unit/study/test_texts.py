"""Texts of a study are in it or in files beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.errors import StudyError
from beholder.study.model import Study, installed_study_model
from beholder.study.texts import study_text


def make(folder: Path, **texts: str) -> Study:
    study = installed_study_model().model_validate(
        {"beholder": 1, "name": "a", "title": "A", "method": "acr", "stimuli": "s", "texts": texts}
    )
    study._folder = folder
    return study


def test_a_text_is_inline_or_a_file_or_nothing(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "consent.md").write_text("\ufeffI agree", "utf-8")
    study = make(tmp_path, consent="texts/consent.md", thanks="Bye")
    assert study_text(study, "consent") == "I agree"
    assert study_text(study, "thanks") == "Bye"
    assert study_text(study, "pause") is None


def test_a_text_that_ends_in_md_on_its_last_line_is_still_inline(tmp_path: Path) -> None:
    assert study_text(make(tmp_path, thanks="Read\nnotes.md"), "thanks") == "Read\nnotes.md"


def test_a_text_file_that_went_away_is_named(tmp_path: Path) -> None:
    with pytest.raises(StudyError) as caught:
        study_text(make(tmp_path, consent="gone.md"), "consent")
    assert str(caught.value) == (
        "study.yaml  texts.consent is gone.md, and there is no such file. "
        "Allowed: Markdown, or the name of a file that ends in .md. Write it to gone.md in the study folder."
    )
