"""The P.910 toolkit is recognised by its tables or its configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder import import_study
from beholder.errors import UserError
from beholder.importing.p910 import p910
from beholder.importing.source_folder import SourceFolder
from support.toolkit_sources import MASTER, url, write_rows


def test_a_batch_is_recognised_by_its_columns_and_a_configuration_by_its_keys(tmp_path: Path) -> None:
    write_rows(tmp_path / "one" / "clips.csv", [{"pvs": url("a"), "": ""}])
    assert p910.recognise(SourceFolder(tmp_path / "one")) == "the columns of clips.csv"
    (tmp_path / "master.cfg").write_text(MASTER, "utf-8")
    assert p910.recognise(SourceFolder(tmp_path / "master.cfg")) == "keys of master.cfg"
    with pytest.raises(UserError, match="names configurations alone"):
        import_study(tmp_path / "master.cfg", tmp_path / "mine")
