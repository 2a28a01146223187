"""Commands that run whole studies."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from beholder.cli import cli
from beholder.errors import UserError
from support.commands import command


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--participants", "2", "--browser", "1"],
            "--participants  and --browser are both given. Allowed: one of the two.",
        ),
        (["--browser", "1", "--memory"], "--memory  opens no page, and --browser does. Allowed: one of the two."),
    ],
)
def test_options_that_clash_are_told(options: list[str], message: str) -> None:
    result = CliRunner().invoke(cli, ["simulate", *options])
    assert isinstance(result.exception, UserError)
    assert str(result.exception) == message


def test_the_demo_shows_the_planted_truth_beside_the_result(tmp_path: Path) -> None:
    said = command("demo", "acr", "--folder", "shown", "--exit", "--port", "0", cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    assert "planted" in said.stdout
    assert "  MOS(ACR)  " in said.stdout
    assert "/s/" in said.stdout
    assert (tmp_path / "shown" / "report" / "index.html").is_file()
