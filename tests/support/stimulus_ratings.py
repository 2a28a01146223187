"""Ratings from arrays of participants, contents and conditions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from beholder.analysis.result import Result

NAMES = ("no", "01", "NA", "Größe 2")


def rated(values: Any, **columns: Any) -> pd.DataFrame:
    """Return ratings from an array of participants x contents x conditions; NaN was not rated."""
    values = np.asarray(values, dtype=float)
    p, c, h = (axis.ravel() for axis in np.indices(values.shape))
    table = pd.DataFrame(
        {"participant": [f"p{n}" for n in p], "content": [f"c{n}" for n in c], "condition": [NAMES[n] for n in h]}
    )
    return table.assign(value=values.ravel(), **columns).dropna(subset=["value"], ignore_index=True)


def noisy(people: int = 8, kinds: int = 3, names: int = 2, seed: int = 3) -> Any:
    rng = np.random.default_rng(seed)
    return rng.integers(1, 6, (people, kinds, names)).astype(float)


def row(result: Result | None, **cells: str) -> dict[str, Any]:
    assert result is not None
    table = result.table
    for column, value in cells.items():
        table = table[table[column] == value]
    (only,) = table.to_dict("records")
    return {str(key): value for key, value in only.items()}


def compared(raw: list[list[float]], seconds: list[list[bool]], kind: str = "diff") -> pd.DataFrame:
    """Return comparisons of a with b: the answers in presentation order, and whether a was second."""
    rows = [
        {"participant": f"p{p}", "content": f"c{c}", "condition": "a", "other_condition": "b", "raw_value": answer,
         "value": answer if second else -answer, "kind": kind, "method": "ccr" if kind == "diff" else "pair"}
        for p, (own, orders) in enumerate(zip(raw, seconds, strict=True))
        for c, (answer, second) in enumerate(zip(own, orders, strict=True))
    ]  # fmt: skip
    return pd.DataFrame(rows)


def referenced(values: Any, **columns: Any) -> pd.DataFrame:
    """Return votes with the first condition as reference."""
    table = rated(values, scale_min=1, scale_max=5, method="acr-hr", **columns)
    return table.assign(role=np.where(table["condition"] == NAMES[0], "hidden_reference", "test"))
