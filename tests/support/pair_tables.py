"""Which conditions the pairs of a study compare."""

from __future__ import annotations

from beholder.methods.pairs import pair_units
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study


def compared_conditions(study: Study, catalogue: Catalogue) -> set[frozenset[str]]:
    """Return which conditions are compared with each other."""
    return {frozenset(catalogue.by_id[s].condition for s in unit.stimuli) for unit in pair_units(study, catalogue)}
