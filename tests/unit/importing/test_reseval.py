"""ReSEval is recognised by its configuration, which says what responses mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder import import_study
from beholder.errors import UserError
from beholder.importing.reseval import reseval
from beholder.importing.source_folder import SourceFolder
from support.reseval_source import write_reseval


def test_a_test_is_recognised_by_its_configuration(tmp_path: Path) -> None:
    source = write_reseval(tmp_path / "root")
    assert reseval.recognise(SourceFolder(source)) == "test and datatype in config.yaml"
    (source / "config.yaml").write_text("test: other\ndatatype: audio\n", "utf-8")
    assert reseval.recognise(SourceFolder(source)) == ""


def test_tables_without_a_configuration_say_what_is_missing(tmp_path: Path) -> None:
    source = write_reseval(tmp_path / "root")
    (source / "config.yaml").unlink()
    with pytest.raises(UserError) as refused:
        import_study(source, tmp_path / "mine", importer="reseval")
    (problem,) = refused.value.problems
    assert problem.what == "has no configuration"
    assert problem.fix == "Its YAML file says what the responses mean: put it beside them."


def test_a_configuration_alone_becomes_a_study_with_files_from_elsewhere(tmp_path: Path) -> None:
    source = write_reseval(tmp_path / "root")
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone" / "config.yaml").write_bytes((source / "config.yaml").read_bytes())
    done = import_study(tmp_path / "alone" / "config.yaml", tmp_path / "mine", stimuli=source / "files")
    assert (done.missing, done.problems, done.sessions) == ((), (), 0)
