"""Rating files of three sides, and their comparison."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from beholder.analysis.sides import read_side
from beholder.comparison.result import ComparisonTables, find
from beholder.comparison.sides import Source, open_sides

CONDITIONS = {"low": 2.0, "middle": 3.0, "high": 4.0, "Größe 2": 4.1}


def ratings(path: Path, seed: int, shift: float = 0.0, *, people: int = 12, **columns: Any) -> Path:
    """Write ratings of 4 conditions and 5 contents on a scale of five."""
    rng = np.random.default_rng(seed)
    rows = [
        {"participant": f"p{person}", "content": content, "condition": condition,
         "value": float(np.clip(np.round(quality + 0.3 * place + shift + rng.normal(0, 0.7)), 1, 5)), **columns}
        for person in range(people)
        for place, content in enumerate(("01", "NA", "no", "four", "five"), -2)
        for condition, quality in CONDITIONS.items()
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def score_table(path: Path, source: Path, *columns: str) -> Path:
    """Write the scores of a rating file, with these columns only."""
    table = _read(source).stimuli
    table[list(columns) or ["stimulus", "mean", "sd", "n"]].to_csv(path, index=False)
    return path


_read = cache(read_side)


def found_of(*sources: Source, margin: float | None = None) -> ComparisonTables:
    return find(
        open_sides([_read(one) if isinstance(one, Path) and len(sources) > 1 else one for one in sources]), margin
    )


def row_of(table: pd.DataFrame, **keys: str) -> Any:
    mine = table
    for column, value in keys.items():
        mine = mine[mine[column] == value]
    assert len(mine) == 1
    return mine.iloc[0]


@pytest.fixture(scope="session")
def three(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    folder = tmp_path_factory.mktemp("three")
    return ratings(folder / "a.csv", 1), ratings(folder / "b.csv", 2), ratings(folder / "c.csv", 3, 0.5)


@pytest.fixture(scope="session")
def compared(three: tuple[Path, Path, Path]) -> ComparisonTables:
    return found_of(*three)
