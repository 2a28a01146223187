"""What a message offers for an impossible design works."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.errors import PlanError, Problem
from beholder.methods import find
from beholder.planning.feasibility import build_frame
from beholder.stimuli.catalogue import Catalogue
from support.plans import make_catalogue, make_study

_KEYS = ("design.trials", "design.per_trial")


def frame_problems_of(method: str, design: dict[str, Any], catalogue: Catalogue) -> tuple[Problem, ...]:
    try:
        build_frame(make_study(method, **design), catalogue, find(method))
    except PlanError as error:
        return tuple(error.problems)
    return ()


def key_of(problem: Problem) -> str:
    """Return the key of the design that a problem is about, `trials`; nothing where it is about something else."""
    return next((key.partition(".")[2] for key in _KEYS if problem.what.startswith(f"{key} ")), "")


def offers(problem: Problem, design: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the designs that a message offers."""
    key, told = key_of(problem), problem.allowed
    found = []
    if numbers := re.fullmatch(r"(?:even numbers, )?(\d+)(?: to (\d+))?", told):
        found += [design | {key: int(number)} for number in numbers.groups() if number]
    if rule := re.search(r"write contents: (\w+)(?:, which allows (?:1 to )?(\d+))?", problem.fix):
        found.append(design | {"contents": rule[1]} | ({"trials": int(rule[2])} if rule[2] else {}))
    if smaller := re.search(r"write per_trial: (\d+)", problem.fix):
        found.append(design | {"per_trial": int(smaller[1])})
    return found


@st.composite
def wishes(draw: st.DrawFn) -> tuple[str, dict[str, Any], Catalogue]:
    contents, conditions = draw(st.integers(1, 5)), draw(st.integers(2, 14))
    cells = st.tuples(st.integers(0, contents - 1), st.integers(1, conditions - 1))
    missing = draw(st.frozensets(cells, max_size=3))
    method = draw(st.sampled_from(["parallel", "acr", "acr-hr", "pair"]))
    design: dict[str, Any] = {
        "participants": 3,
        "trials": draw(st.integers(1, 60)),
        "contents": draw(st.sampled_from(["once", "apart", "free"])),
    }
    if method == "parallel":
        design["per_trial"] = draw(st.integers(1, 15))
        design["always"] = [f"condition{n}" for n in range(draw(st.integers(0, min(2, conditions))))]
    roles: dict[int, Any] = {0: "reference"} if method == "acr-hr" else {}
    return method, design, make_catalogue(contents, conditions, missing, roles)


@settings(max_examples=150, deadline=None)
@given(wishes())
def test_the_design_that_a_message_offers_works(case: tuple[str, dict[str, Any], Catalogue]) -> None:
    method, design, catalogue = case
    for problem in frame_problems_of(method, design, catalogue):
        for offered in offers(problem, design):
            # Something else may be wrong with it, which is another message.
            still = [one for one in frame_problems_of(method, offered, catalogue) if key_of(one) == key_of(problem)]
            assert not still, (problem, offered, still)
