"""This machine as a target: where it can be one, and what its commands get of the environment."""

from __future__ import annotations

import os
import sys

import pytest

from beholder.deployment.here import HereTarget, ThisMachine, plain_environment


def test_only_linux_can_keep_a_server_running(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert [str(problem) for problem in HereTarget().problems()] == [
        "--to  is here, and this machine runs darwin. Allowed: Linux. On macOS and Windows: `beholder serve "
        "--public-url` with a tunnel beside it (docs/serving.md), Windows' own Linux (WSL), or a machine that you "
        "reach by ssh."
    ]


def test_commands_know_nothing_of_the_environment_that_beholder_was_called_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", "/somewhere")
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    assert not {"VIRTUAL_ENV", "PYTHONPATH"} & set(plain_environment(os.environ))
    reply = ThisMachine().run([sys.executable, "-c", "import os; print(os.environ.get('PYTHONPATH'))"])
    assert reply.out.strip() == b"None"
