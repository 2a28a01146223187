"""`python -m beholder.recruiting.fake`."""

from __future__ import annotations

import socket
import sys

import pytest
from click.testing import CliRunner

from beholder.recruiting.fake.__main__ import main


def test_people_need_a_study() -> None:
    result = CliRunner().invoke(main, ["--people", "3"])
    assert result.exit_code == 2
    assert "Error: --people needs --study: who takes a study has to know what it asks." in result.output


@pytest.mark.skipif(sys.platform == "win32", reason="two may listen on one port there")
def test_a_port_that_is_taken_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = CliRunner().invoke(main, ["--port", str(port)])
    assert result.exit_code == 2
    assert result.output.startswith(f"--port: {port} cannot be had: ")
