"""`plan`: the plan of a study, written to its folder."""

from __future__ import annotations

from pathlib import Path

import beholder
from beholder.testing import write_study


def test_a_plan_is_returned_and_written(tmp_path: Path, tiny: Path) -> None:
    plan = beholder.plan(write_study(tmp_path, tiny))
    assert len(plan.lists) == 6
    assert (tmp_path / "plan" / "balance.csv").is_file()
    assert beholder.plan(tmp_path / "study.yaml").lists == plan.lists
