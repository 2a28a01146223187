"""Pairs of stimuli as units, for methods that compare two: all pairs, a star, a sparse graph, or a table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from math import log2
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from beholder.errors import Problem, did_you_mean
from beholder.formats import first_names
from beholder.methods.contract import Catalogue, Role, Stimulus, Study, Unit
from beholder.study.csv_files import column_names, plain_text, read_lines
from beholder.study.design import Design

COMPARED_ROLES: tuple[Role, ...] = ("test", "reference", "anchor")
_GRAPH_STREAM = 40
"""The stream of chance of a sparse graph."""


def pair_units(study: Study, catalogue: Catalogue, roles: Collection[Role] = COMPARED_ROLES) -> tuple[Unit, ...]:
    """Return the pairs that `design.pairs` asks for, content by content, the earlier condition of the study first.

    Only stimuli of these roles are paired; a content that lacks one of two conditions lacks that pair. Errors
    in a table of pairs are ignored here, and reported by the planner.
    """
    cells = {cell: stimulus for cell, stimulus in catalogue.by_cell.items() if stimulus.role in roles}
    if study.design.given_pairs is not None:
        table = read_pair_table(study.folder, study.design.given_pairs, [])
        if table.of_stimuli:
            return _table_units(table, cells, catalogue)
        pairs = _sorted_pairs([(one, two) for _, one, two in table.lines], catalogue.conditions)
    else:
        present = {condition for _, condition in cells}
        pairs = condition_pairs(study, tuple(one for one in catalogue.conditions if one in present))
    units = []
    for content in catalogue.contents:
        row = {condition: cells.get((content, condition)) for condition in catalogue.conditions}
        for one, two in ((row[one], row[two]) for one, two in pairs):
            if one and two:
                units.append(Unit(content, (one.id, two.id)))
    return tuple(units)


def condition_pairs(study: Study, conditions: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return which of these conditions are compared, in the order of the study: all, a star, or a sparse graph."""
    design = study.design
    degree = _degree(design, len(conditions))
    if degree is not None:
        return [(conditions[one], conditions[two]) for one, two in _sparse_cached(len(conditions), degree, study.seed)]
    return [pair for pair in combinations(conditions, 2) if design.star is None or design.star in pair]


def reference_units(catalogue: Catalogue) -> tuple[Unit, ...]:
    """Return each stimulus under test with the reference of its content, the reference first."""
    return tuple(
        Unit(stimulus.content, (catalogue.references[stimulus.content].id, stimulus.id))
        for stimulus in catalogue.by_cell.values()
        if stimulus.role != "reference" and stimulus.content in catalogue.references
    )


def _degree(design: Design, conditions: int) -> int | None:
    """Return how many others each condition is compared with in a sparse graph; None for other designs."""
    if design.pairs == "sparse":
        return default_degree(conditions)
    return design.degree


@lru_cache(maxsize=64)
def _sparse_cached(conditions: int, degree: int, seed: int) -> tuple[_Edge, ...]:
    return tuple(sparse_edges(conditions, degree, np.random.default_rng([seed, _GRAPH_STREAM])))


def _sorted_pairs(pairs: Collection[tuple[str, str]], conditions: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the pairs of known conditions, the earlier first, each once, sorted."""
    place = {condition: number for number, condition in enumerate(conditions)}
    known = [(place[one], place[two]) for one, two in pairs if one in place and two in place and one != two]
    return [(conditions[one], conditions[two]) for one, two in sorted({(min(pair), max(pair)) for pair in known})]


def _table_units(table: PairTable, cells: Mapping[tuple[str, str], Stimulus], catalogue: Catalogue) -> tuple[Unit, ...]:
    """Return the pairs of stimuli that a file names, as those of conditions are returned."""
    # What we made so that it asks for an answer stands for what it was made of.
    names = {
        name: stimulus
        for stimulus in cells.values()
        for name in (stimulus.derived_from, plain_text(stimulus.file), stimulus.id)
    }
    names.pop("", None)
    content, condition = (
        {name: number for number, name in enumerate(some)} for some in (catalogue.contents, catalogue.conditions)
    )
    units: dict[tuple[int, int, int], Unit] = {}
    for _, *words in table.lines:
        pair = [names[word] for word in words if word in names]
        if len(pair) == 2 and pair[0].content == pair[1].content and pair[0].id != pair[1].id:
            pair.sort(key=lambda stimulus: condition[stimulus.condition])
            key = (content[pair[0].content], condition[pair[0].condition], condition[pair[1].condition])
            units[key] = Unit(pair[0].content, (pair[0].id, pair[1].id))
    return tuple(units[key] for key in sorted(units))


# Tables of pairs

_CONDITION_COLUMNS, STIMULUS_COLUMNS = ("condition", "other"), ("stimulus", "other")
_PART_COLUMN = "part"
"""A column that says that parts which no pair joins are meant to stay apart."""
_MAX_LISTED = 5
"""Names that are listed before the others are only counted."""


class PairTable(NamedTuple):
    """The lines of a table, each with where it stands and its two names, and whether they name single stimuli."""

    lines: tuple[tuple[str, str, str], ...]
    of_stimuli: bool
    has_parts: bool = False
    """Whether the table names its parts, so that they need not hold together."""


def read_pair_table(folder: Path, name: str, problems: list[Problem]) -> PairTable:
    """Return the pairs of a table; what is wrong with the table as such is added to `problems`."""
    heads = column_names(folder, name)
    columns, has_parts = STIMULUS_COLUMNS if "stimulus" in heads else _CONDITION_COLUMNS, _PART_COLUMN in heads
    before = len(problems)
    lines = read_lines(folder, name, (*columns, _PART_COLUMN) if has_parts else columns, problems)
    if not lines and len(problems) == before:
        problems.append(Problem(name, "has no lines below the first", "one line for each pair"))
    return PairTable(
        tuple((line.where, line.cells[columns[0]], line.cells[columns[1]]) for line in lines),
        columns == STIMULUS_COLUMNS,
        has_parts,
    )


def pair_table_problems(folder: Path, name: str, catalogue: Catalogue) -> Iterator[Problem]:
    """Yield everything that is wrong with the pairs of a table, line by line."""
    problems: list[Problem] = []
    table = read_pair_table(folder, name, problems)
    yield from problems
    known = _stimulus_ids(catalogue) if table.of_stimuli else {one: one for one in catalogue.conditions}
    kind = "stimulus" if table.of_stimuli else "condition"
    lines: dict[frozenset[str], str] = {}
    for where, *words in table.lines:
        unknown = [(column, word) for column, word in zip((kind, "other"), words, strict=True) if word not in known]
        for column, word in unknown:
            yield _unknown_name(where, column, word, kind, known)
        if unknown:
            continue
        one, two = (known[word] for word in words)
        if one == two:
            yield Problem(where, f"compares {one} with itself", "two different ones")
            continue
        if table.of_stimuli and catalogue.by_id[one].content != catalogue.by_id[two].content:
            contents = " and ".join(catalogue.by_id[stimulus].content for stimulus in (one, two))
            yield Problem(where, f"compares stimuli of two contents, {contents}", "two stimuli of one content")
        pair = frozenset((one, two))
        if pair in lines:
            what = f"has {words[0]} and {words[1]}, as line {lines[pair].rpartition(':')[2]} has"
            yield Problem(where, what, "every pair once, in either order", "Remove one.")
        lines.setdefault(pair, where)


def _stimulus_ids(catalogue: Catalogue) -> Mapping[str, str]:
    """Return the ids of what can be rated, by id and by file."""
    stimuli = catalogue.by_cell.values()
    return {plain_text(stimulus.file): stimulus.id for stimulus in stimuli} | {
        stimulus.id: stimulus.id for stimulus in stimuli
    }


def _unknown_name(where: str, column: str, word: str, kind: str, known: Mapping[str, str]) -> Problem:
    names = list(dict.fromkeys(known.values()))
    allowed = first_names(names, _MAX_LISTED)
    if not word:
        return Problem(where, f"{column} is empty", allowed)
    near = did_you_mean(word, list(known))
    return Problem(where, f"{column} is {word}, which is no {kind}", "" if near else allowed, near)


# Sparse graphs

_Edge = tuple[int, int]

_CANDIDATES = 12
"""Graphs of which the one with the shortest ways is taken."""
_SWITCHES = 8
"""How often each edge is switched with another one, on average: by then nothing is left of the ring."""


def default_degree(conditions: int) -> int:
    """Return the default number of comparisons per condition: about 2 log2 of the number of conditions."""
    return round(2 * log2(conditions)) if conditions > 1 else 0


def sparse_edges(conditions: int, degree: int, rng: Generator) -> list[_Edge]:
    """Return a connected graph in which every node has `degree` edges, one of them one more where that is odd.

    A ring with chords is switched edge by edge, which keeps every degree; of several such graphs the one with the
    shortest way between the two that are furthest apart, then between all, is taken.
    """
    if degree >= conditions - 1:
        return list(combinations(range(conditions), 2))
    labels = rng.permutation(conditions)
    ring = [(int(labels[a]), int(labels[b])) for a, b in _ring(conditions, degree)]
    candidates = [_switch_edges(ring, rng) for _ in range(_CANDIDATES)]
    # The ring itself is connected, should none of the others be.
    best = min((*candidates, ring), key=lambda edges: _path_lengths(conditions, edges))
    return sorted((min(edge), max(edge)) for edge in best)


def connected_parts(nodes: Sequence[str], edges: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return the connected components, each in the order of the nodes."""
    part = {node: [node] for node in nodes}
    for one, two in edges:
        if part[one] is not part[two]:
            part[one] += part[two]
            for node in part[two]:
                part[node] = part[one]
    place = {node: number for number, node in enumerate(nodes)}
    return [sorted(one, key=place.__getitem__) for one in {id(one): one for one in part.values()}.values()]


def _ring(nodes: int, degree: int) -> list[_Edge]:
    """Return a ring with chords: edges to the nearest on both sides and, for odd degrees, to the opposite node."""
    edges = [(node, (node + step) % nodes) for step in range(1, degree // 2 + 1) for node in range(nodes)]
    if degree % 2:
        half = nodes // 2
        edges += [(node, node + half) for node in range(half)]
        if nodes % 2:
            edges.append((nodes - 1, half - 1))
    return edges


def _switch_edges(edges: Sequence[_Edge], rng: Generator) -> list[_Edge]:
    """Return the graph with ends of edges exchanged, two edges at a time."""
    switched = list(edges)
    present = {frozenset(edge) for edge in switched}
    for one, two in rng.integers(len(switched), size=(_SWITCHES * len(switched), 2)).tolist():
        (a, b), (c, d) = switched[one], switched[two]
        if len({a, b, c, d}) < 4 or frozenset((a, d)) in present or frozenset((c, b)) in present:
            continue
        present -= {frozenset((a, b)), frozenset((c, d))}
        present |= {frozenset((a, d)), frozenset((c, b))}
        # Turned round every second time, so that either end can go either way.
        switched[one], switched[two] = (a, d), (b, c)
    return switched


def _path_lengths(nodes: int, edges: Sequence[_Edge]) -> tuple[int, int]:
    """Return the longest shortest path and the sum of all; more than any possible where the graph is not connected."""
    near: NDArray[np.bool_] = np.eye(nodes, dtype=np.bool_)
    one, two = np.array(edges).T
    near[one, two] = near[two, one] = True
    reached, longest, total = near, 1, int(near.sum())
    while not reached.all():
        further = (reached.astype(np.int64) @ near.astype(np.int64)) > 0
        if (further == reached).all():
            return nodes, nodes**3
        longest += 1
        total += longest * int((further & ~reached).sum())
        reached = further
    return longest, total
