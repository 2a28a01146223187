"""What holds up several in the same way, told once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from beholder.errors import Problem

_NAMED = 3
"""Of more than so many the others are counted."""


def together(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return the problems with those that differ only in whom they are about as one."""
    alike: dict[Problem, list[str]] = {}
    for problem in problems:
        alike.setdefault(replace(problem, where=""), []).append(problem.where)
    return tuple(
        replace(one, where=names[0]) if len(names) == 1 else replace(one, where=named(names), what=f"each {one.what}")
        for one, names in alike.items()
    )


def named(names: Sequence[str]) -> str:
    """Return names in a row, the first few of many."""
    more = len(names) - _NAMED
    if more > 0:
        return f"{', '.join(names[:_NAMED])} and {more} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
