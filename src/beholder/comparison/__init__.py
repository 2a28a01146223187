"""How well sets of scores agree: studies, runs, laboratories, panels or methods.

sides      what is compared, and the scores that two sides share
agreement  correlations, errors, differences and equivalence of every two sides
contrasts  whether two sides agree on the differences between conditions
paper_tables  every side against the first, and correlations in triangles, as papers print them
result     all tables of a comparison, and what `compare` returns
text       the finding in sentences, and the tables of the page
figures    scatter plots, Bland-Altman plots and matrices
page       the folder compare/ and its page
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from beholder.analysis.column_roles import Columns
    from beholder.analysis.sides import Side
    from beholder.comparison.result import Comparison
    from beholder.study.model import Study

__all__ = ["compare"]


def compare(
    *sides: str | Path | Study | Side,
    out: str | Path | None = None,
    margin: float | None = None,
    questions: Sequence[str] = (),
    runs: bool = False,
    columns: Columns = None,
    scale: str | Sequence[float] | None = None,
    reference: str | None = None,
    missing: str | Sequence[str | float] | None = None,
    sheet: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Compare the scores of two or more sides; write `compare/` beside the first and return the comparison.

        found = beholder.compare("crowd/study.yaml", "laboratory=lab.csv")

    What most comparisons need:
        sides           each a study (its file or folder), a run of it (`study.yaml@2`, `study.yaml@all`), a table of
                        ratings, or a table of scores (stimulus or condition, and mean; also question, content, sd and
                        n). `NAME=PATH` names it. One study alone stands for all its runs. The others are mapped to the
                        first
        questions       only these, by name or label
        margin          sides whose difference is surely within so many points are called equivalent: 5 % of the scale
                        when left out
        runs            every study stands for its runs, and runs of the same number are one side: two questionnaires
                        about the same systems, run equally often, are compared at once

    Of all tables among the sides:
        columns         what is not evident, as {"participant": "Subject"}
        scale           its scale, as `acr5` or `1..5`
        reference       the condition that is the reference
        missing         cells that are no answers, as [-1, "skipped"]
        sheet           which sheet of a workbook

    Rarely:
        out             another folder than compare/
        progress        a function that gets the number of figures that are drawn, and of all
    """
    from beholder.analysis.ratings_table import TableOptions
    from beholder.comparison.page import compare_folder

    return compare_folder(
        sides, out=Path(out) if out is not None else None, margin=margin, questions=questions, runs=runs,
        options=TableOptions.of(columns, scale, reference, missing, sheet), progress=progress,
    )  # fmt: skip
