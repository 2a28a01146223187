"""`beholder participants`: the command `list` may be left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from beholder.cli import cli
from beholder.store.open import open_store
from beholder.testing import write_study


@pytest.mark.parametrize("words", [[], ["list"]])
async def test_without_a_command_participants_are_listed(words: list[str], tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path, tiny)
    async with open_store(tmp_path / "store"):
        pass
    result = CliRunner().invoke(cli, ["participants", *words, str(study)])
    assert (result.exit_code, result.output) == (0, "Nobody has come yet.\n"), result.exception
