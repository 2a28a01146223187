"""Commands that run whole studies."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from beholder.cli import cli
from beholder.errors import UserError
from beholder.methods import method_folder
from support.commands import command
from support.installed_packages import install


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


# Samples of text: to draw those of video takes longer than the rest of a demo.
METHOD = """
from beholder.methods.acr import Acr

class Reading(Acr):
    name = "reading"

reading = Reading()
"""
EXAMPLE = """
beholder: 1
name: answers
title: Answers
method: reading
stimuli: stimuli
conditions: [edited, garbled]
questions: [{id: quality, text: "How good is this answer?", scale: acr5}]
design: {participants: 8, trials: 4, seed: 1}
contact: researcher@example.org
"""


def test_the_demo_shows_the_planted_truth_beside_the_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "site", monkeypatch, "readings", METHOD, "[beholder.methods]\nreading = readings:reading\n")
    (tmp_path / "site" / "readings" / "example.yaml").write_text(EXAMPLE, "utf-8")
    shutil.copy(method_folder("acr", "a test") / "view.js", tmp_path / "site" / "readings")
    said = command("demo", "reading", "--folder", "shown", "--exit", "--port", "0", cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    assert "planted" in said.stdout
    assert "  MOS(ACR)  " in said.stdout
    assert "/s/" in said.stdout
    assert (tmp_path / "shown" / "report" / "index.html").is_file()
