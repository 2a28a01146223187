"""Fully crossed ratings, and their file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd


def write_csv(folder: Path, table: pd.DataFrame) -> Path:
    path = folder / "ratings.csv"
    table.to_csv(path, index=False, encoding="utf-8", lineterminator="\n")
    return path


def crossed(means: dict[str, float], participants: int, contents: int = 2, noise: float = 1) -> pd.DataFrame:
    """Return fully crossed ratings of participants, conditions and contents."""
    rng = np.random.default_rng(5)
    rows = [
        {"participant": f"p{p}", "content": f"c{k}", "condition": name, "value": mean + rng.normal(0, noise)}
        for p in range(participants)
        for k in range(contents)
        for name, mean in means.items()
    ]
    return pd.DataFrame(rows, columns=["participant", "content", "condition", "value"])
