"""All analyses computed: those that share nothing with the others beside them, where there are many ratings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import NamedTuple

from beholder.analysis.contract import Analysis
from beholder.analysis.ratings import Ratings
from beholder.analysis.registry import installed, is_ours, problems_of
from beholder.analysis.result import Result
from beholder.errors import Problem
from beholder.processes import Turns, beside, spare_cores

_MANY = 5_000
"""So many ratings take longer to analyse than it takes to copy this process."""


class Computed(NamedTuple):
    """The results of all analyses that apply to ratings, in order, and what is wrong with those of other packages."""

    results: dict[str, Result]
    """By the name of the analysis."""
    analyses: tuple[Analysis, ...]
    """Those that have a result."""
    problems: list[Problem]


def compute_all(
    ratings: Ratings, progress: Callable[[int, int], None] | None = None, *, is_interim: bool = False
) -> Computed:
    """Return the result of every analysis that applies to these ratings.

    While people may still come (`is_interim`), without analyses whose intervals or p-values hold at the end only. An
    analysis of another package that fails costs its own table only. An error in one of ours is raised.
    """
    analyses, problems = installed()
    if is_interim:
        analyses = [one for one in analyses if one.holds_at_looks or not one.has_inference]
    taken = _Taken(ratings, progress, len(analyses))
    if len(ratings.rows) >= _MANY and spare_cores():
        _share(taken, analyses)
    taken.take(analyses)  # those that are left
    results = {one.name: result for one in analyses if (result := taken.results[one.name]) is not None}
    return Computed(results, tuple(one for one in analyses if one.name in results), [*problems, *taken.problems])


class _Taken:
    """The analyses that were computed so far."""

    def __init__(self, ratings: Ratings, progress: Callable[[int, int], None] | None, count: int) -> None:
        self.ratings, self.progress, self.count = ratings, progress, count
        self.results: dict[str, Result | None] = {}
        self.problems: list[Problem] = []

    def take(self, analyses: Iterable[Analysis]) -> None:
        """Compute these, but for those that are computed already."""
        for analysis in analyses:
            if analysis.name not in self.results:
                self.add(analysis, self._compute(analysis))

    def add(self, analysis: Analysis, result: Result | None) -> None:
        """Keep what an analysis came to."""
        self.results[analysis.name] = result
        if self.progress is not None:
            self.progress(len(self.results), self.count)

    def _compute(self, analysis: Analysis) -> Result | None:
        source = self.results.get(analysis.takes) if analysis.takes else self.ratings
        try:
            return None if source is None else _checked(analysis, analysis.compute(source))
        except Exception as error:
            if is_ours(analysis.name):
                raise
            self.problems += problems_of(analysis.name, error)
            return None


def _checked(analysis: Analysis, result: object) -> Result | None:
    """Return what an analysis returned, if it is what it declares."""
    if result is None:
        return None
    if not isinstance(result, Result):
        raise TypeError(f"it returns a {type(result).__name__}, not a Result")
    faults = "; ".join(analysis.faults(result.table))
    if faults:
        raise ValueError(faults)
    return result


# In two processes


def _share(taken: _Taken, analyses: Sequence[Analysis]) -> None:
    """Compute all analyses, those that are `apart` in whichever of two processes has time for them.

    A result that does not come back is left for whoever computes what is left.
    """
    parts: dict[str, list[Analysis]] = {}
    for one in analyses:
        if one.apart:
            parts.setdefault(one.apart, []).append(one)
    apart = list(parts.values())
    # What rests on the same fit is computed in one process, and the fit once.
    here = [one for one in analyses if not one.apart]

    def work(pipe: Connection) -> None:
        found = []
        for one in (one for number in turns for one in apart[number]):
            taken.take([one])
            result = taken.results[one.name]
            # How it is drawn is known there, and nothing that a pipe can carry.
            found.append((one.name, result and replace(result, draw=None)))
        pipe.send(found)

    with closing(Turns(len(apart))) as turns, beside(work) as pipe:
        taken.take(here)
        for number in turns:
            taken.take(apart[number])
        try:
            found = pipe.recv()
        except EOFError:
            return
    by_name = {one.name: one for one in analyses}
    for name, result in found:
        taken.add(by_name[name], result and replace(result, draw=by_name[name].draw))
