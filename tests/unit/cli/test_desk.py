"""`beholder desk`: what is said where no study is."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from beholder.cli import cli
from beholder.errors import UserError
from beholder.testing import write_study


def test_a_folder_without_a_study_is_told(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["desk", str(tmp_path), "--accounts", str(tmp_path / "desk.sqlite")])
    assert isinstance(result.exception, UserError)
    assert "holds no study.yaml" in str(result.exception)


def test_who_asks_for_a_desk_where_a_study_is_deployed_is_told_how_to_open_it(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "study", tiny)
    result = CliRunner().invoke(cli, ["deploy", "up", str(study), "--to", "ada@lab.example.org", "--desk"])
    assert str(result.exception) == (
        "--desk  has no address of its own on a machine where people take part. Deploy without it, then run "
        f"`beholder desk --to ada@lab.example.org {study}` here: it comes through ssh."
    )
    result = CliRunner().invoke(cli, ["deploy", "up", str(study), "--desk"])
    assert f"`beholder desk --to USER@HOST {study}`" in str(result.exception)
