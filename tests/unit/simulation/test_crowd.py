"""Crowds of robots at a running server."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

import beholder
from beholder.cleaning.ratings import read_ratings
from beholder.testing import write_study


def ratings_of_robots(study: Path) -> pd.DataFrame:
    beholder.simulate(study, participants=3)
    beholder.clean(study, robots=True)
    return read_ratings(study.parent / "clean" / "ratings.csv")


def test_the_same_seed_gives_the_same_answers(study: Path, tmp_path: Path, tiny: Path) -> None:
    other = write_study(tmp_path / "other", tiny)
    columns = ["condition", "content", "question", "value"]
    first, second = (ratings_of_robots(one)[columns] for one in (study, other))
    order = columns[:3]
    assert first.sort_values([*order, "value"]).to_csv(index=False) == second.sort_values([*order, "value"]).to_csv(
        index=False
    )
