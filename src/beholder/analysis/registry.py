"""All analyses, ours and those of other packages: found by entry points."""

from __future__ import annotations

from dataclasses import fields
from typing import cast

from beholder.analysis.contract import Analysis
from beholder.analysis.result import TABLES
from beholder.errors import Problem, UserError
from beholder.study.entry_points import Group

_ANALYSES = Group("beholder.analyses", "analysis", "beholder.analysis.contract.Analysis")


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


def is_ours(name: str) -> bool:
    """Return whether an analysis is part of Beholder."""
    return _ANALYSES.entry(name, _where(name)).module.startswith("beholder.")


def problems_of(name: str, error: Exception) -> list[Problem]:
    """Return what to tell of an analysis of another package that failed."""
    if isinstance(error, UserError):
        return list(error.problems)
    what = f"{_ANALYSES.subject(_ANALYSES.entry(name, _where(name)))} fails: {type(error).__name__}: {error}"
    return [Problem(_where(name), what, "", "Repair, update or uninstall that package.")]


def _where(name: str) -> str:
    return f"analyse/{name}.csv"
