"""Dimensions: what the questions of one study, or of several joined by condition, measure together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

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
    out: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Dimensions:
    """Look at how questions go together; write `dimensions/` beside the first study and return what was found.

    A study may also be one of its runs (`study.yaml@2`), or a table of ratings or of scores (.csv); several are joined
    by condition. `split`, as ("realistic", 2), tells everything once more for conditions above and below. `metrics` is
    a table of objective metrics, as `beholder metrics` writes it. With a `factor`, a column of the manifest, profiles
    are told for each of its levels. `of` is the question against which the others are held; the one that says most of
    what all share when left out. `components` keeps so many, in place of those above chance. `progress` is told of
    figures.
    """
    from beholder.dimensionality.folder import dimensions_folder

    return dimensions_folder(
        studies or ("study.yaml",), split=split, metrics=Path(metrics) if metrics is not None else None, factor=factor,
        of=of, keep=components, out=Path(out) if out is not None else None, progress=progress,
    )  # fmt: skip
