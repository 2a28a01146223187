"""A run on a machine: what it is asked, and what does not go with it."""

from __future__ import annotations

from pathlib import Path

import pytest

import beholder
from beholder.deployment.unattended import run_arguments
from beholder.errors import DeployError, UserError
from beholder.methods import load_study
from beholder.testing import write_study


def test_what_does_not_go_with_a_machine_is_told_at_once(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "a", tiny)
    with pytest.raises(UserError) as refused:
        beholder.run(study, to="ada@lab", simulate=True, store="postgresql://db/study")
    fix = "goes without `to`, which runs the study elsewhere. Rehearse here first; then run it there."
    assert [str(one) for one in refused.value.problems] == [f"simulate  {fix}", f"store  {fix}"]
    platform = write_study(tmp_path / "b", tiny, recruit={"mode": "prolific", "reward": "1.20 GBP"})
    with pytest.raises(DeployError) as missing:
        beholder.run(platform, to="ada@lab")
    assert str(missing.value) == (
        "--publish  is missing, and people come from prolific only once the study is published there. Allowed: with "
        "--to, --publish and a budget. Or deploy it, and publish by hand: `beholder deploy up`, then `beholder deploy "
        "exec launch`."
    )
    asked = run_arguments(load_study(platform), participants=None, publish=True, budget=12.5, every=60)
    assert asked == ["run", "--every", "60", "--publish", "--budget", "12.50 GBP"]
