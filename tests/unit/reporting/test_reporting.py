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


def nobody_answered(folder: Path) -> str:
    return (
        f"{folder / 'store'}  holds no answers: nobody has taken part in this study yet. Run `beholder run` with "
        "people or `beholder run --simulate` with robots first, or name a store with `beholder clean --store`."
    )


def test_report_before_clean_says_what_to_run(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"a": 1.0})
    (tmp_path / "clean" / "account.json").unlink()
    with pytest.raises(UserError) as error:
        report(study)
    assert str(error.value) == nobody_answered(tmp_path)
    (tmp_path / "store").mkdir()
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
    assert str(error.value) == nobody_answered(tmp_path)
    (tmp_path / "store").mkdir()
    with pytest.raises(UserError) as error:
        analyse(study)
    assert str(error.value) == f"{tmp_path / 'clean' / 'ratings.csv'}  is not there. Run `beholder clean` first."


def test_notes_are_plain_json(people: tuple[Study, Page]) -> None:
    notes = json.loads((people[0].folder / "analyse" / "notes.json").read_text(encoding="utf-8"))
    assert notes["population"] == "people"
