"""HEMVIP is recognised by its configurations, its sessions, or the documents of the second one."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder import import_study
from beholder.errors import UserError
from beholder.importing.hemvip import hemvip
from beholder.importing.source_folder import SourceFolder
from support.hemvip_sources import write_documents, write_hemvip


def test_it_is_recognised_by_its_keys(tmp_path: Path) -> None:
    source = write_hemvip(tmp_path / "one")
    assert hemvip.recognise(SourceFolder(source)) == "pages in configs/g/config0.json"
    assert hemvip.recognise(SourceFolder(write_documents(tmp_path / "two"))) == "pageid in studies.json"
    (tmp_path / "x.json").write_text("{}", "utf-8")
    assert hemvip.recognise(SourceFolder(tmp_path / "x.json")) == ""


def test_sessions_without_a_configuration_say_what_is_missing(tmp_path: Path) -> None:
    source = write_hemvip(tmp_path / "one")
    with pytest.raises(UserError, match="has sessions, and no configuration"):
        import_study(source / "output.json", tmp_path / "mine")


def test_a_file_that_is_not_json_is_refused_with_line_and_column(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"testname": "x", "stopOnErrors": true,\n"pages": [1,]}', "utf-8")
    with pytest.raises(UserError, match=r"config\.json:2 .*is not JSON: .*line 2, column"):
        import_study(tmp_path, tmp_path / "mine")
