"""The built wheel holds everything, and runs without the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from support.data import ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    code = f"import hatchling.build as b; print(b.build_wheel({str(folder)!r}))"
    built = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    source = ROOT / "src"
    expected = {
        path.relative_to(source).as_posix()
        for path in (source / "beholder").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert expected <= held
    assert any(name.endswith("licenses/LICENSE") for name in held)


def test_the_wheel_runs_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    environment = {**os.environ, "PYTHONPATH": str(site)}

    def run(*arguments: str) -> str:
        ran = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    # Short and small clips: drawing those of `beholder new` takes 8 s of processor time.
    where = run("-c", "import beholder as b; b.new('acr', 'study', seconds=1, size=(96, 54)); print(b.__file__)")
    assert where.startswith(str(site))
    assert "No problems found" in run("-m", "beholder", "check", "study/study.yaml")
