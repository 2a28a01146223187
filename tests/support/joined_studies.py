"""Ratings and score tables of several questionnaires, joined by condition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from beholder.analysis.result import Result
from beholder.dimensionality.data import Joined, join
from support.data import DATA

WEIGHTS = {"real": (1.0, 0.0), "trust": (0.9, 0.0), "warm": (0.8, 0.0), "face": (0.0, 1.0), "mood": (0.0, 0.9)}


def rate(
    weights: dict[str, tuple[float, float]] = WEIGHTS, *, people: int = 8, contents: int = 6, seed: int = 1
) -> pd.DataFrame:
    """Return ratings of eight conditions that differ in two dimensions, weighted by question."""
    rng = np.random.default_rng(seed)
    things = rng.normal(size=(8, contents, 2))
    person, condition, content = np.indices((people, 8, contents)).reshape(3, -1)
    offset = rng.normal(size=people) * 0.3
    parts = []
    for name, weight in weights.items():
        value = 5 + things[condition, content] @ np.array(weight) + offset[person] + 0.4 * rng.normal(size=len(person))
        parts.append(
            pd.DataFrame({
                "participant": [f"p{one}" for one in person], "content": [f"k{one}" for one in content],
                "condition": [f"c{one}" for one in condition], "question": name, "value": value,
            })
        )  # fmt: skip
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="session")
def ratings() -> pd.DataFrame:
    return rate()


@pytest.fixture(scope="session")
def joined(ratings: pd.DataFrame) -> Joined:
    return join(ratings)


def at(result: Result, **keys: Any) -> pd.Series:
    rows = result.table
    for column, value in keys.items():
        rows = rows[rows[column] == value]
    assert len(rows) == 1
    return rows.iloc[0]


@pytest.fixture(scope="session")
def avatars(tmp_path_factory: pytest.TempPathFactory) -> Joined:
    """The eight avatars of the paper's Table 14: eight questions of template A, two of template B."""
    path = DATA / "tables" / "avatar_table14.csv"
    if not path.is_file():
        pytest.skip(f"tables/avatar_table14.csv is not in {DATA}; set BEHOLDER_TEST_DATA")
    folder = tmp_path_factory.mktemp("avatars")
    published = pd.read_csv(path).rename(columns={"model": "condition"})
    for name, asked in (("a", published.columns[11:19]), ("b", published.columns[19:21])):
        published.melt("condition", list(asked), "question", "mean").to_csv(folder / f"{name}.csv", index=False)
    return join([folder / "a.csv", folder / "b.csv"])
