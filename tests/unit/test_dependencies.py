"""Lock files fit what the project asks for, and a pin that does not is found."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path

from support.data import ROOT

TOOL = runpy.run_path(str(ROOT / "tools" / "check_dependencies.py"))


def test_every_dependency_has_a_pin_with_a_hash() -> None:
    assert [*TOOL["lock_faults"]("run"), *TOOL["lock_faults"]("dev")] == []


def test_a_lock_file_that_does_not_fit_is_found(tmp_path: Path) -> None:
    (tmp_path / "requirements").mkdir()
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    text = (ROOT / "requirements" / "run.txt").read_text("utf-8")
    text = (
        text.replace("regex==", "regex==0.", 1).replace("click==", "clack==", 1)
        + "idle==1.0\n# https://index.example\n"
    )
    (tmp_path / "requirements" / "run.txt").write_text(text, "utf-8")
    assert list(TOOL["lock_faults"]("run", tmp_path)) == [
        "run.txt: idle has no hash",
        "run.txt: holds an address",
        "run.txt: has no pin for click>=8.1; run `make lock`",
        "run.txt: has no pin for regex>=2024.11; run `make lock`",
    ]
