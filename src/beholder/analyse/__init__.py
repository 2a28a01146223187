"""Analyse: from ratings to scores with intervals, and to which conditions differ."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from beholder.analyse.results import Results
    from beholder.study.model import Study

__all__ = ["analyse"]


def analyse(study: str | Path | Study = "study.yaml", *, out: str | Path | None = None) -> Results:
    """Analyse a study's clean/ratings.csv, or any table of ratings; write `analyse/` and return the results.

    A table of your own (a path that ends in .csv) needs the columns participant, content, condition and value.
    """
    from beholder.analyse.folder import analyse_folder

    return analyse_folder(study, out=Path(out) if out is not None else None)
