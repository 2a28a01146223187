"""The folder of a comparison: tables, figures, notes and the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from beholder.compare.comparison import Comparison
from beholder.compare.found import find
from beholder.compare.page import outcome
from beholder.compare.sides import Source, open_sides
from beholder.compare.words import told
from beholder.errors import Problem, UserError
from beholder.report.outcome import write_outcome


def compare_folder(
    sources: Sequence[Source],
    *,
    out: Path | None,
    margin: float | None,
    questions: Sequence[str],
    progress: Callable[[int, int], None] | None,
) -> Comparison:
    """Compare, write the folder, and return what was found."""
    if margin is not None and not 0 < margin < float("inf"):
        raise UserError(Problem("--margin", f"is {margin:g}", "a number above 0, in points of the scale"))
    if not sources:
        fix = "Give studies, runs (study.yaml@2) or tables (.csv)."
        raise UserError(Problem("compare", "has no sides", "two or more", fix))
    sides = open_sides(sources, questions)
    found = find(sides, margin)
    made = outcome(found)
    folder = out or (sides.sides[0].folder or Path()) / "compare"
    page = write_outcome(made, folder, progress)
    tables = {name: one.table for name, one in found.results.items() if name != "agreement"}
    words = (*filter(None, [made.simulated]), *told(found))
    return Comparison(found.table("agreement"), words, page, tables, made.notes)
