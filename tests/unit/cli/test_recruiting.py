"""Commands for recruiting: options that exclude each other."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from beholder.cli import cli


@pytest.mark.parametrize(
    "options", [["--pause", "--resume"], ["--pause", "--publish", "1 GBP"], ["--resume", "--places", "3"]]
)
def test_pausing_and_resuming_stand_alone(options: list[str]) -> None:
    result = CliRunner().invoke(cli, ["launch", *options])
    assert str(result.exception).startswith("beholder launch  --pause and --resume stand alone.")
