"""A source belongs to the one importer that recognises it."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.errors import UserError
from beholder.importing.registry import find, installed, recognised
from beholder.importing.source_folder import SourceFolder
from support.webmushra_source import write_source


def test_a_source_is_recognised_and_it_is_said_by_what(tmp_path: Path) -> None:
    importer, by = recognised(SourceFolder(write_source(tmp_path / "root")))
    assert (importer.name, by) == ("webmushra", "testname and pages in configs/test.yaml")
    assert importer in installed()


def test_what_nobody_recognises_is_refused_with_the_names_of_all(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Nothing", "utf-8")
    with pytest.raises(UserError) as refused:
        recognised(SourceFolder(tmp_path))
    (problem,) = refused.value.problems
    assert problem.what == "is nothing that an importer recognises"
    assert "webmushra" in problem.allowed


def test_an_unknown_importer_is_named() -> None:
    with pytest.raises(UserError, match=r"importer is webmusra, which is not an importer.*Did you mean webmushra\?"):
        find("webmusra")
