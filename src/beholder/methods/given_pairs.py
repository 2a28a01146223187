"""Pairs that the researcher gives as a table: of conditions, for every content, or of single stimuli."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from beholder.errors import Problem, did_you_mean
from beholder.stimuli.catalogue import Catalogue
from beholder.study.cells import first_cells, plain, read_lines

OF_CONDITIONS, OF_STIMULI = ("condition", "other"), ("stimulus", "other")
PART = "part"
"""A column that says that parts which no pair joins are meant to stay apart."""
_SHOWN = 5
"""Names that are listed; of more it is said how many there are."""


class GivenPairs(NamedTuple):
    """The lines of a table, each with where it stands and its two names, and whether they name single stimuli."""

    lines: tuple[tuple[str, str, str], ...]
    of_stimuli: bool
    has_parts: bool = False
    """Whether the table names its parts, so that they need not hold together."""


def read_given_pairs(folder: Path, name: str, problems: list[Problem]) -> GivenPairs:
    """Return the pairs of a table; what is wrong with the table as such is added to `problems`."""
    heads = first_cells(folder, name)
    columns, has_parts = OF_STIMULI if "stimulus" in heads else OF_CONDITIONS, PART in heads
    before = len(problems)
    lines = read_lines(folder, name, (*columns, PART) if has_parts else columns, problems)
    if not lines and len(problems) == before:
        problems.append(Problem(name, "has no lines below the first", "one line for each pair"))
    return GivenPairs(
        tuple((line.where, line.cells[columns[0]], line.cells[columns[1]]) for line in lines),
        columns == OF_STIMULI,
        has_parts,
    )


def given_pair_problems(folder: Path, name: str, catalogue: Catalogue) -> Iterator[Problem]:
    """Yield everything that is wrong with the pairs of a table, line by line."""
    problems: list[Problem] = []
    given = read_given_pairs(folder, name, problems)
    yield from problems
    known = _stimuli(catalogue) if given.of_stimuli else {one: one for one in catalogue.conditions}
    kind = "stimulus" if given.of_stimuli else "condition"
    seen: dict[frozenset[str], str] = {}
    for where, *words in given.lines:
        unknown = [(column, word) for column, word in zip((kind, "other"), words, strict=True) if word not in known]
        for column, word in unknown:
            yield _unknown(where, column, word, kind, known)
        if unknown:
            continue
        one, two = (known[word] for word in words)
        if one == two:
            yield Problem(where, f"compares {one} with itself", "two different ones")
            continue
        if given.of_stimuli and catalogue.by_id[one].content != catalogue.by_id[two].content:
            contents = " and ".join(catalogue.by_id[stimulus].content for stimulus in (one, two))
            yield Problem(where, f"compares stimuli of two contents, {contents}", "two stimuli of one content")
        pair = frozenset((one, two))
        if pair in seen:
            what = f"has {words[0]} and {words[1]}, as line {seen[pair].rpartition(':')[2]} has"
            yield Problem(where, what, "every pair once, in either order", "Remove one.")
        seen.setdefault(pair, where)


def _stimuli(catalogue: Catalogue) -> Mapping[str, str]:
    """Return the ids of what can be rated, by id and by file."""
    stimuli = catalogue.by_cell.values()
    return {plain(stimulus.file): stimulus.id for stimulus in stimuli} | {
        stimulus.id: stimulus.id for stimulus in stimuli
    }


def _unknown(where: str, column: str, word: str, kind: str, known: Mapping[str, str]) -> Problem:
    names = list(dict.fromkeys(known.values()))
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    allowed = ", ".join(names[:_SHOWN]) + more
    if not word:
        return Problem(where, f"{column} is empty", allowed)
    near = did_you_mean(word, list(known))
    return Problem(where, f"{column} is {word}, which is no {kind}", "" if near else allowed, near)
