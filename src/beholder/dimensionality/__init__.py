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

        found = beholder.dimensions("study.yaml", split=("Realistic", 2))

    What most studies need:
        studies         study files, runs (`study.yaml@2`), or tables of ratings or of scores (.csv); several are joined
                        by condition
        of              the question to which the others are related, by name or label: the one that explains most of
                        the variance when left out
        split           repeats everything for conditions above and below a score of a question, as ("realistic", 2)

    Besides questions:
        metrics         a table of objective metrics, as `beholder metrics` writes it
        factor          a column of the manifest: a profile for each of its levels

    Rarely:
        components      keeps so many, in place of those above chance
        over            what the spread and the relations of questions are of: each `condition`, or each `stimulus`
        out             another folder than dimensions/
        progress        a function that gets the number of figures that are drawn, and of all
    """
    from beholder.dimensionality.folder import dimensions_folder

    return dimensions_folder(
        studies or ("study.yaml",), split=split, metrics=Path(metrics) if metrics is not None else None, factor=factor,
        of=of, keep=components, over=over, out=Path(out) if out is not None else None, progress=progress,
    )  # fmt: skip
