"""Crowds of robots at a running server."""

from __future__ import annotations

from pathlib import Path

import beholder
from beholder.testing import write_study


def test_the_same_seed_gives_the_same_answers(study: Path, tmp_path: Path, tiny: Path) -> None:
    other = write_study(tmp_path / "other", tiny)
    columns = ["condition", "content", "question", "value"]
    first = beholder.run(study, simulate=True, participants=3).ratings[columns]
    second = beholder.run(other, simulate=True, participants=3).ratings[columns]
    order = columns[:3]
    assert first.sort_values([*order, "value"]).to_csv(index=False) == second.sort_values([*order, "value"]).to_csv(
        index=False
    )
