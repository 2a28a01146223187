"""The data and tooltips of a chart, and rows to draw."""

from __future__ import annotations

from typing import Any

import pandas as pd

NAMES = ("no", "01", "NA", "Größe 2")


def marks(chart: Any) -> list[dict[str, Any]]:
    """Return every row of data that a chart draws."""

    def walk(part: Any) -> list[dict[str, Any]]:
        if isinstance(part, list):
            return [row for one in part for row in walk(one)]
        if not isinstance(part, dict):
            return []
        own = part["data"]["values"] if isinstance(part.get("data"), dict) and "values" in part["data"] else []
        return [*own, *(row for key, one in part.items() if key != "data" for row in walk(one))]

    return walk(chart.to_dict())


def tooltips(chart: Any) -> set[str]:
    """Return the texts that the marks of a chart show."""
    return {row["tip"] for row in marks(chart) if "tip" in row}


def profile_rows(levels: tuple[str, ...] = ("",)) -> pd.DataFrame:
    return pd.DataFrame([
        {
            "question": question, "condition": name, "level": level, "n": 12, "mean": 1 + place + 0.1 * shift,
            "ci_low": 0.8 + place, "ci_high": 1.3 + place,
        }
        for question in ("real", "liked")
        for place, name in enumerate(NAMES)
        for shift, level in enumerate(levels)
    ])  # fmt: skip
