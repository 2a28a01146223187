"""The studies and tables that are joined: read all at once, named apart, with every problem of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from beholder.analyse.side import Side, named_apart, read_side
from beholder.dimensions.joined import Joined, join
from beholder.errors import Problem, UserError
from beholder.study.model import Study

Source: TypeAlias = "str | Path | Study | Side"
_FEWEST = 2


def open_joined(sources: Sequence[Source]) -> Joined:
    """Return the sources joined by condition, or raise UserError with every problem."""
    sides: list[Side] = []
    problems: list[Problem] = []
    for source in sources:
        try:
            sides.append(source if isinstance(source, Side) else read_side(source))
        except UserError as error:
            problems += error.problems
    if problems:
        raise UserError(problems)
    joined = join(named_apart(sides))
    if problems := [*_without_numbers(joined), *_alone(joined)]:
        raise UserError(problems)
    if len(joined.questions) < _FEWEST:
        fix = "Add a study with other questions about the same conditions."
        what = f"asks only {joined.questions[0]} for a number"
        raise UserError(Problem(_place(joined.parts[0].side), what, "two questions or more", fix))
    return joined


def _without_numbers(joined: Joined) -> list[Problem]:
    return [
        Problem(_place(part.side), "has no question that was answered by numbers", "scores, or graded comparisons")
        for part in joined.parts
        if not part.questions
    ]


def _alone(joined: Joined) -> list[Problem]:
    """Return a problem for each source of whose conditions no other source has any."""
    if len(joined.parts) < 2:
        return []
    own = [set(part.side.conditions["condition"]) for part in joined.parts]
    problems = []
    for place, (part, mine) in enumerate(zip(joined.parts, own, strict=True)):
        others = [name for number, names in enumerate(own) if number != place for name in sorted(names)]
        if mine and not mine & set(others):
            what = f"shares no condition with the others, as {min(mine)}"
            fix = "Conditions are joined by their names: give them the same in all."
            problems.append(Problem(_place(part.side), what, f"such as {others[0]}" if others else "", fix))
    return problems


def _place(side: Side) -> str:
    return side.name or "dimensions"
