"""Studies whose pairs are in a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from beholder.study.model import Study
from support.plans import make_study


def table_study(folder: Path, text: str, **design: Any) -> Study:
    """Return a study whose pairs are in `pairs.csv`."""
    (folder / "pairs.csv").write_text(text, "utf-8")
    study = make_study(pairs="pairs.csv", **design)
    study._folder = folder
    return study
