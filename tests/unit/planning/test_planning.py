"""Planning a study in its folder, and what importing the package loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from beholder.errors import PlanError
from beholder.planning import plan_study as plan_verb
from beholder.planning import read_plan
from support.tiny_plans import tiny_catalogue, tiny_study


def test_the_verb_writes_the_plan_and_can_be_called_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = plan_verb(tiny_study(), catalogue=tiny_catalogue())
    second = plan_verb(tiny_study(), catalogue=tiny_catalogue())
    assert first == second == read_plan(tmp_path)


def test_the_verb_passes_on_what_the_method_finds_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PlanError) as caught:
        plan_verb(tiny_study(per_trial=1), catalogue=tiny_catalogue())
    assert str(caught.value) == (
        "study.yaml  design.per_trial is 1, and parallel compares at least two. Allowed: 2 or more."
    )
    assert not (tmp_path / "plan").exists()


def test_importing_the_package_brings_no_heavy_module() -> None:
    code = "import sys, beholder.planning; print({'numpy', 'pandas', 'scipy', 'starlette'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"
