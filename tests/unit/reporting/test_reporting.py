"""The verb report: what has to run before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beholder.analysis import analyse
from beholder.errors import UserError
from beholder.reporting import report
from beholder.study.model import Study
from support.report_pages import Page, made_up


def test_report_before_clean_says_what_to_run(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"a": 1.0})
    (tmp_path / "clean" / "account.json").unlink()
    with pytest.raises(UserError) as error:
        report(study)
    assert str(error.value) == f"{tmp_path / 'clean'}  holds no clean ratings. Run `beholder clean` first."


def test_report_before_analyse_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        report(made_up(tmp_path, {"a": 1.0}))
    assert str(error.value) == f"{tmp_path / 'analyse'}  holds no results. Run `beholder analyse` first."


def test_analyse_before_clean_says_what_to_run(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"a": 1.0})
    (tmp_path / "clean" / "ratings.csv").unlink()
    with pytest.raises(UserError) as error:
        analyse(study)
    assert str(error.value) == f"{tmp_path / 'clean' / 'ratings.csv'}  is not there. Run `beholder clean` first."


def test_notes_are_plain_json(people: tuple[Study, Page]) -> None:
    notes = json.loads((people[0].folder / "analyse" / "notes.json").read_text(encoding="utf-8"))
    assert notes["population"] == "people"
