"""A study with questionnaires whose folder tests fill, and the page of a section."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from beholder.analysis import analyse
from beholder.files import write_table
from beholder.reporting.html import Markup
from beholder.reporting.material import Material, load_material
from support.report_pages import SPREAD, Page, made_up


def device(number: int, *, use: bool = True, **known: Any) -> dict[str, Any]:
    return {"session": f"s{number}", "participant": f"p{number}", "use": use, **known}


ASKS: dict[str, Any] = {
    "before": [
        {"id": "age", "text": "How old are you?", "type": "number"},
        {"id": "gender", "text": "Your gender?", "type": "single", "options": ["female", "male"]},
    ],
    "after": [
        {"id": "easy", "text": "It was <b>easy</b>.", "type": "likert"},
        {"id": "tools", "text": "What do you use?", "type": "multiple", "options": ["=VR", "no"]},
        {"id": "remarks", "text": "Remarks?", "type": "text"},
    ],
}


@pytest.fixture(scope="session")
def analysed(tmp_path_factory: pytest.TempPathFactory) -> Material:
    study = made_up(tmp_path_factory.mktemp("people"), SPREAD, participants=10, **ASKS)
    analyse(study)
    return load_material(study)


@pytest.fixture
def material(analysed: Material, tmp_path: Path) -> Material:
    """The same results in a folder of its own, into which each test puts what clean would write."""
    study = analysed.study.model_copy()
    study._folder = tmp_path
    return replace(analysed, study=study)


def shown(markup: Markup | None) -> Page:
    assert markup is not None
    page = Page(f"<div>{markup}</div>")
    assert page.open == []
    assert "nan" not in page.text.lower().split()
    return page


def put(material: Material, name: str, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    write_table(material.study.folder / "clean" / f"{name}.csv", columns, rows)
