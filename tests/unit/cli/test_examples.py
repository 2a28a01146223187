"""`beholder examples`: what it prints."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from beholder.cli import cli


def test_the_examples_are_listed_with_their_papers() -> None:
    result = CliRunner().invoke(cli, ["examples", "list"])
    assert result.exit_code == 0, result.output
    assert [line.split()[0] for line in result.output.splitlines()[2:]] == ["hemvip", "p910-acr", "avatar", "reseval"]


def test_an_example_is_copied(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["examples", "copy", "reseval", "--folder", str(tmp_path / "mine")])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "mine" / "ab-image" / "study.yaml").is_file()
