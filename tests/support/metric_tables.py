"""A table of ratings to relate metrics to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

CONDITIONS = ["no", "01", "NA", "Größe 2", "e", "f", "g"]


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    """A table of ratings: four contents under seven conditions, by six people."""
    rng = np.random.default_rng(7)
    rows = ["participant,content,condition,value"]
    for person in range(6):
        for place, condition in enumerate(CONDITIONS):
            rows += [f"p{person},c{content},{condition},{place + rng.normal():.3f}" for content in range(4)]
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(rows) + "\n", "utf-8")
    return path
