"""Run the command line on a tiny study."""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from beholder.cli import main
from beholder.testing import write_study


@pytest.fixture
def study(tmp_path: Path, tiny: Path) -> Path:
    return write_study(tmp_path / "study", tiny)


def command(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as `beholder` does, but in this process: starting one takes longer than most commands."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with chdir(cwd), redirect_stdout(out), redirect_stderr(err), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["beholder", *arguments])
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def command_process(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "beholder", *arguments], cwd=cwd, capture_output=True, text=True, encoding="utf-8"
    )
