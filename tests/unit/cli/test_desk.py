"""`beholder desk`: what is said where no study is."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from beholder.cli import cli
from beholder.errors import UserError


def test_a_folder_without_a_study_is_told(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["desk", str(tmp_path), "--accounts", str(tmp_path / "desk.sqlite")])
    assert isinstance(result.exception, UserError)
    assert "holds no study.yaml" in str(result.exception)
