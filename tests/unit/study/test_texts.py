"""Texts of a study are in it or in files beside it."""

from __future__ import annotations

import sys
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


def test_a_text_is_no_link_out_of_the_folder_and_no_novel(tmp_path: Path) -> None:
    (tmp_path / "study").mkdir()
    with (tmp_path / "study" / "long.md").open("wb") as file:
        file.truncate(2_000_000)
    with pytest.raises(StudyError) as caught:
        study_text(make(tmp_path / "study", consent="long.md"), "consent")
    assert str(caught.value) == (
        "study.yaml  texts.consent is long.md, which has 2000000 bytes. Allowed: at most 1000000 bytes."
    )
    if sys.platform == "win32":  # links need a right of their own there
        return
    (tmp_path / "secret.md").write_text("secret", "utf-8")
    (tmp_path / "study" / "consent.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(StudyError) as caught:
        study_text(make(tmp_path / "study", consent="consent.md"), "consent")
    assert str(caught.value) == (
        "study.yaml  texts.consent is consent.md, a link out of the study folder. "
        "Allowed: files inside the study folder. Copy it into the study folder; for stimuli elsewhere, "
        "`beholder run --stimuli FOLDER` copies them."
    )
