"""Ratings of every kind, and their analysis."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from beholder.analysis import analyse

Row = tuple[str, str, str, float]
"""participant, condition, other condition, value"""


def table(kind: str, *rows: Row, method: str = "", unit: str = "", content: str = "t") -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "participant": person, "content": content, "condition": one, "other_condition": other, "kind": kind,
                "question": "q", "value": value, "method": method, "unit": unit, "use": True, "role": "test",
                "stimulus": f"{one}/{content}", "other_stimulus": f"{other}/{content}" if other else "",
            }
            for person, one, other, value in rows
        ]
    )  # fmt: skip


def results(folder: Path, ratings: pd.DataFrame) -> Any:
    ratings.to_csv(folder / "ratings.csv", index=False, encoding="utf-8", lineterminator="\n")
    return analyse(folder / "ratings.csv")
