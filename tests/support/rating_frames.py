"""Small tables of ratings and of means, for tests of analyses and figures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from beholder.analysis.result import Result

ODD_NAMES = ("no", "01", "NA", "Größe 2", 'a "b" <c> & d')


def ratings_frame(rows: Sequence[tuple[object, ...]], *columns: str) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["participant", "content", "condition", "value", *columns])


def table_of(result: Result | None) -> pd.DataFrame:
    assert result is not None
    return result.table


def crowd(n: int = 12, *, unused: tuple[str, ...] = ()) -> pd.DataFrame:
    """Return ratings of n people who agree up to noise; p000 is ten points higher, p001 is reversed."""
    rng = np.random.default_rng(3)
    rows = []
    for person in range(n):
        for place in range(12):
            value = 20 + 5 * place + rng.normal(0, 2) + (10 if person == 0 else 0)
            rows.append((f"p{person:03}", f"x{place}", "a", 100 - value if person == 1 else value))
    data = ratings_frame(rows).assign(scale_min=0.0, scale_max=100.0)
    return data.assign(use=~data["participant"].isin(unused))


def means_frame(names: tuple[str, ...] = ODD_NAMES) -> pd.DataFrame:
    rows = [("q", name, 40, 10, 50.0 + place, 45.0 + place, 55.0 + place) for place, name in enumerate(names)]
    return pd.DataFrame(rows, columns=["question", "condition", "n", "participants", "mean", "ci_low", "ci_high"])
