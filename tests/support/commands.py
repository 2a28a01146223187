"""Run the command line on a tiny study."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from beholder.testing import write_study


@pytest.fixture
def study(tmp_path: Path, tiny: Path) -> Path:
    return write_study(tmp_path / "study", tiny)


def command(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "beholder", *arguments], cwd=cwd, capture_output=True, text=True, encoding="utf-8"
    )
