"""webMUSHRA is recognised by its configuration, or by its results."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder import import_study
from beholder.errors import UserError
from beholder.importing.source_folder import SourceFolder
from beholder.importing.webmushra import webmushra
from support.webmushra_source import MUSHRA, mushra_results, write_source


def test_a_configuration_alone_is_found_with_its_sounds_above_it(tmp_path: Path) -> None:
    source = write_source(tmp_path / "root")
    done = import_study(source / "configs" / "test.yaml", tmp_path / "mine")
    assert (done.missing, done.problems, done.sessions) == ((), (), 0)


def test_results_alone_are_recognised(tmp_path: Path) -> None:
    (tmp_path / "mushra.csv").write_text(mushra_results(1), "utf-8")
    assert webmushra.recognise(SourceFolder(tmp_path)) == "the columns of mushra.csv"
    (tmp_path / "mushra.csv").write_text("participant,value\n", "utf-8")
    assert webmushra.recognise(SourceFolder(tmp_path)) == ""


def test_of_several_tests_one_has_to_be_named(tmp_path: Path) -> None:
    source = write_source(tmp_path / "root")
    (source / "configs" / "other.yaml").write_text(MUSHRA, "utf-8")
    with pytest.raises(
        UserError, match=r"holds 2 tests: configs/other\.yaml, configs/test\.yaml\. Allowed: one test\."
    ):
        import_study(source, tmp_path / "mine")
