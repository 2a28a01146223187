"""All analyses, ours and those of other packages: found by entry points, run one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import NamedTuple, cast

from beholder.analysis.contract import Analysis
from beholder.analysis.ratings import Ratings
from beholder.analysis.result import TABLES, Result
from beholder.errors import Problem, UserError
from beholder.study.entry_points import Group

_ANALYSES = Group("beholder.analyses", "analysis", "beholder.analysis.contract.Analysis")


class Computed(NamedTuple):
    """The results of all analyses that apply to ratings, in order, and what is wrong with those of other packages."""

    results: dict[str, Result]
    """By the name of the analysis."""
    analyses: tuple[Analysis, ...]
    """Those that have a result."""
    problems: list[Problem]


def names() -> tuple[str, ...]:
    """Return the names of all registered analyses, without importing them."""
    return _ANALYSES.names()


def find(name: str) -> Analysis:
    """Return an analysis by its name; raises `StudyError` where there is none, or it cannot be used."""
    entry = _ANALYSES.entry(name, _where(name))
    return cast("Analysis", _ANALYSES.load(entry, _where(name), [field.name for field in fields(Analysis)]))


def installed() -> tuple[list[Analysis], list[Problem]]:
    """Return all analyses that can be used, ours first, and what is wrong with the others.

    An analysis stands after the one whose result it takes.
    """
    analyses: list[Analysis] = []
    problems: list[Problem] = []
    for name in names():
        try:
            analyses.append(find(name))
        except UserError as error:
            problems += error.problems
    if not {one.name for one in analyses}.issuperset(TABLES):
        raise UserError(problems)
    return sorted(analyses, key=lambda one: (one.order, bool(one.takes), one.name)), problems


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
    results: dict[str, Result] = {}
    for done, analysis in enumerate(analyses, 1):
        source = results.get(analysis.takes) if analysis.takes else ratings
        try:
            result = None if source is None else _checked(analysis, analysis.compute(source))
        except Exception as error:
            if is_ours(analysis.name):
                raise
            result = None
            problems += _problems(analysis.name, error)
        if result is not None:
            results[analysis.name] = result
        if progress is not None:
            progress(done, len(analyses))
    return Computed(results, tuple(one for one in analyses if one.name in results), problems)


def is_ours(name: str) -> bool:
    """Return whether an analysis is part of Beholder."""
    return _ANALYSES.entry(name, _where(name)).module.startswith("beholder.")


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


def _problems(name: str, error: Exception) -> list[Problem]:
    """Return what to tell of an analysis of another package that failed."""
    if isinstance(error, UserError):
        return list(error.problems)
    what = f"{_ANALYSES.subject(_ANALYSES.entry(name, _where(name)))} fails: {type(error).__name__}: {error}"
    return [Problem(_where(name), what, "", "Repair, update or uninstall that package.")]


def _where(name: str) -> str:
    return f"analyse/{name}.csv"
