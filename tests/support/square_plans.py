"""Plans whose lists are rows of squares."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from beholder.methods.contract import Method
from beholder.planning.model import Plan
from beholder.stimuli.catalogue import Catalogue
from support.plans import acr, make_study, problems_of

SQUARES = st.sampled_from(["latin", "williams"])


def sequence(plan: Plan, catalogue: Catalogue) -> list[list[frozenset[str]]]:
    """Return the conditions of each trial, list by list."""
    return [
        [frozenset(catalogue.by_id[slot.stimulus].condition for slot in trial.slots) for trial in planned.trials]
        for planned in plan.lists
    ]


def square_problems_of(catalogue: Catalogue, method: Method = acr, **design: Any) -> str:
    return problems_of(make_study(**design), catalogue, method)
