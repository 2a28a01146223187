"""Commands for analyses: what they refuse."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from beholder.cli import cli
from beholder.errors import UserError


@pytest.mark.parametrize("split", ["realistic", "realistic:", ":2", "realistic:nan", "realistic:high"])
def test_a_split_needs_a_question_and_a_number(split: str) -> None:
    result = CliRunner().invoke(cli, ["dimensions", "study.yaml", "--split", split])
    assert isinstance(result.exception, UserError)
    assert str(result.exception) == f"--split  is {split}. Allowed: a question, a colon and a number, as realistic:2."
