"""Pairs of stimuli as units: which go together, in canonical order. For methods that compare two."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from itertools import combinations

import numpy as np

from beholder.methods.contract import Catalogue, Role, Stimulus, Study, Unit
from beholder.methods.given_pairs import GivenPairs, read_given_pairs
from beholder.methods.graph import Edge, sparse_edges, usual_degree
from beholder.study.cells import plain
from beholder.study.design import Design

COMPARED: tuple[Role, ...] = ("test", "reference", "anchor")
_GRAPH = 40
"""The stream of chance of a sparse graph."""


def pair_units(study: Study, catalogue: Catalogue, roles: Collection[Role] = COMPARED) -> tuple[Unit, ...]:
    """Return the pairs that `design.pairs` asks for, content by content, the earlier condition of the study first.

    Only stimuli of these roles are paired; a content that lacks one of two conditions lacks that pair. What is wrong
    with a file of pairs is left out here, and told by the planner.
    """
    cells = {cell: stimulus for cell, stimulus in catalogue.by_cell.items() if stimulus.role in roles}
    if study.design.given_pairs is not None:
        given = read_given_pairs(study.folder, study.design.given_pairs, [])
        if given.of_stimuli:
            return _given_units(given, cells, catalogue)
        pairs = _in_order([(one, two) for _, one, two in given.lines], catalogue.conditions)
    else:
        there = {condition for _, condition in cells}
        pairs = condition_pairs(study, tuple(one for one in catalogue.conditions if one in there))
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
        return [(conditions[one], conditions[two]) for one, two in _sparse(len(conditions), degree, study.seed)]
    return [pair for pair in combinations(conditions, 2) if design.star is None or design.star in pair]


def reference_units(catalogue: Catalogue) -> tuple[Unit, ...]:
    """Return each stimulus under test with the reference of its content, the reference first."""
    return tuple(
        Unit(stimulus.content, (catalogue.references[stimulus.content].id, stimulus.id))
        for stimulus in catalogue.by_cell.values()
        if stimulus.role != "reference" and stimulus.content in catalogue.references
    )


def _degree(design: Design, conditions: int) -> int | None:
    """Return how many others each condition meets; None where that is not for a graph to say."""
    if design.pairs == "sparse":
        return usual_degree(conditions)
    return design.degree


@lru_cache(maxsize=64)
def _sparse(conditions: int, degree: int, seed: int) -> tuple[Edge, ...]:
    return tuple(sparse_edges(conditions, degree, np.random.default_rng([seed, _GRAPH])))


def _in_order(pairs: Collection[tuple[str, str]], conditions: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the pairs of known conditions, the earlier first, each once, sorted."""
    place = {condition: number for number, condition in enumerate(conditions)}
    known = [(place[one], place[two]) for one, two in pairs if one in place and two in place and one != two]
    return [(conditions[one], conditions[two]) for one, two in sorted({(min(pair), max(pair)) for pair in known})]


def _given_units(
    given: GivenPairs, cells: Mapping[tuple[str, str], Stimulus], catalogue: Catalogue
) -> tuple[Unit, ...]:
    """Return the pairs of stimuli that a file names, as those of conditions are returned."""
    # What we made so that it asks for an answer stands for what it was made of.
    names = {
        name: stimulus for stimulus in cells.values() for name in (stimulus.made_of, plain(stimulus.file), stimulus.id)
    }
    names.pop("", None)
    content, condition = (
        {name: number for number, name in enumerate(some)} for some in (catalogue.contents, catalogue.conditions)
    )
    found: dict[tuple[int, int, int], Unit] = {}
    for _, *words in given.lines:
        two = [names[word] for word in words if word in names]
        if len(two) == 2 and two[0].content == two[1].content and two[0].id != two[1].id:
            two.sort(key=lambda stimulus: condition[stimulus.condition])
            key = (content[two[0].content], condition[two[0].condition], condition[two[1].condition])
            found[key] = Unit(two[0].content, (two[0].id, two[1].id))
    return tuple(found[key] for key in sorted(found))
