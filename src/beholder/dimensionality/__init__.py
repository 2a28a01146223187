"""Dimensionality: how many things the questions of one or several studies measure.

data         studies joined by condition, levels, scales
components   principal components, internal consistency, split halves
relation     one question against another; spread of questions
profile      conditions by questions, and correlations of questions
short_forms  which few questions would do
text         the finding in words, and the result of `dimensions`
figures, page, folder    the folder dimensions/
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from beholder.analysis.sides import Side
    from beholder.dimensionality.text import Dimensions
    from beholder.study.model import Study

__all__ = ["dimensions"]


def dimensions(
    *studies: str | Path | Study | Side,
    split: tuple[str, float] | None = None,
    metrics: str | Path | None = None,
    factor: str | None = None,
    of: str | None = None,
    components: int | None = None,
    over: Literal["condition", "stimulus"] = "condition",
    out: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Dimensions:
    """Analyse how questions correlate; write `dimensions/` beside the first study and return the result.

    A study may also be one of its runs (`study.yaml@2`), or a table of ratings or of scores (.csv); several are joined
    by condition. `split`, as ("realistic", 2), repeats everything for conditions above and below. `metrics` is a table
    of objective metrics, as `beholder metrics` writes it. With a `factor`, a column of the manifest, there is a profile
    for each of its levels. `of` is the question to which the others are related: by default the one that explains most
    of the variance. `components` keeps that many, in place of those above chance. `over` is what the spread and the
    relations of questions are of: conditions, or every stimulus. `progress` is called as figures are drawn.
    """
    from beholder.dimensionality.folder import dimensions_folder

    return dimensions_folder(
        studies or ("study.yaml",), split=split, metrics=Path(metrics) if metrics is not None else None, factor=factor,
        of=of, keep=components, over=over, out=Path(out) if out is not None else None, progress=progress,
    )  # fmt: skip
