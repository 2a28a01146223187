"""Pairs of stimuli as units: which go together, in canonical order. For methods that compare two."""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations

from beholder.methods.contract import Catalogue, Role, Study, Unit

COMPARED: tuple[Role, ...] = ("test", "reference", "anchor")


def pair_units(study: Study, catalogue: Catalogue, roles: Collection[Role] = COMPARED) -> tuple[Unit, ...]:
    """Return the pairs that `design.pairs` asks for, content by content, the earlier condition of the study first.

    Only stimuli of these roles are paired; a content that lacks one of two conditions lacks that pair.
    """
    star = study.design.star
    pairs = [pair for pair in combinations(catalogue.conditions, 2) if star is None or star in pair]
    units = []
    for content in catalogue.contents:
        cells = {condition: catalogue.by_cell.get((content, condition)) for condition in catalogue.conditions}
        for one, two in ((cells[one], cells[two]) for one, two in pairs):
            if one and two and one.role in roles and two.role in roles:
                units.append(Unit(content, (one.id, two.id)))
    return tuple(units)


def reference_units(catalogue: Catalogue) -> tuple[Unit, ...]:
    """Return each stimulus under test with the reference of its content, the reference first."""
    return tuple(
        Unit(stimulus.content, (catalogue.references[stimulus.content].id, stimulus.id))
        for stimulus in catalogue.by_cell.values()
        if stimulus.role != "reference" and stimulus.content in catalogue.references
    )
