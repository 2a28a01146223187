"""Run the demonstration on the fake platform."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from beholder.cli.study import cli


def run_demo(folder: Path) -> Result:
    return CliRunner().invoke(cli, ["demo", "--prolific", "--exit", "--port", "0", "--folder", str(folder)])
