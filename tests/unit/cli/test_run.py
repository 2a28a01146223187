"""Commands that run whole studies."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from beholder.cli import cli
from beholder.desk.desk_server import link_to_running
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


AGAIN = "It logs you in once; `beholder open desk shown/study.yaml` opens the desk again."


@pytest.fixture
def reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "site", monkeypatch, "readings", METHOD, "[beholder.methods]\nreading = readings:reading\n")
    (tmp_path / "site" / "readings" / "example.yaml").write_text(EXAMPLE, "utf-8")
    shutil.copy(method_folder("acr", "a test") / "view.js", tmp_path / "site" / "readings")


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to another process there")
def test_the_demo_that_stays_has_a_desk_which_opens_again_and_ends_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reading: None
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    monkeypatch.setenv("BEHOLDER_ACCOUNTS", str(tmp_path / "desk.sqlite"))
    monkeypatch.setenv("BROWSER", "true")
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    demo = [sys.executable, "-m", "beholder", "demo", "reading", "--folder", "shown", "--port", "0"]
    with subprocess.Popen(demo, cwd=tmp_path, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            assert process.stdout is not None
            said = "".join(takewhile(lambda line: AGAIN not in line, process.stdout))
            (participants,) = re.findall(r"Participants: (\S+)", said)
            assert 'data-study="answers"' in httpx.get(participants, follow_redirects=True).text
            (printed,) = re.findall(r"Desk: +(\S+)", said)
            opened = command("open", "desk", "shown/study.yaml", cwd=tmp_path).stdout.strip()
            for link in (printed, opened):
                address, _, code = link.partition("/login#code=")
                with httpx.Client(base_url=address, headers={"origin": address}) as browser:
                    assert browser.post("/api/login", json={"code": code}).json()["role"] == "owner"
                    (study,) = browser.get("/api/studies").json()["studies"]
                    assert (study["name"], study["population"]) == ("answers", "robots")
        finally:
            os.killpg(process.pid, signal.SIGINT)
    assert link_to_running(tmp_path / "shown" / "study.yaml", accounts=tmp_path / "desk.sqlite") is None


def test_the_demo_shows_the_planted_truth_beside_the_result(tmp_path: Path, reading: None) -> None:
    said = command("demo", "reading", "--folder", "shown", "--exit", "--port", "0", cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    assert "planted" in said.stdout
    assert "  MOS(ACR)  " in said.stdout
    assert "/s/" in said.stdout
    assert (tmp_path / "shown" / "report" / "index.html").is_file()
