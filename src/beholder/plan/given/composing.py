"""The lists of a given plan, as trials: taken as they are, with colours and what a method draws by the seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from beholder.errors import PlanError, Problem
from beholder.methods.contract import Method, Trial, Units
from beholder.plan.dealing.slots import arrange, draw_colours
from beholder.plan.given.fitting import Fitting
from beholder.plan.given.pages import Page, read_pages
from beholder.plan.ground.lay import located
from beholder.plan.placing.amounts import Amounts, find_amounts
from beholder.plan.teaching.training import lesson_problems
from beholder.stimuli.catalogue import Catalogue
from beholder.study.design import Design
from beholder.study.model import Study

_MOST_TOLD = 20
"""Problems that are told one by one: a file may have a hundred thousand lines, all wrong in the same way."""


_DEALING = tuple(key for key in Design.model_fields if key not in ("plan", "breaks", "seed"))
"""Keys of the design that say how to deal."""


class Given(NamedTuple):
    """A given plan: what it is about, its pages by list, and what is checked in each list."""

    units: Units
    pages: list[list[Page]]
    amounts: Amounts


def read_given(study: Study, catalogue: Catalogue, method: Method) -> Given:
    """Return the study's own plan, or raise PlanError with everything that stands in its way."""
    units = method.units(study, catalogue)
    told = [_idle(study, key) for key in _DEALING if study.is_written(f"design.{key}")]
    told += [located(study, problem) for problem in method.problems(study, catalogue)]
    told += lesson_problems(study, catalogue, method)
    wrong: list[Problem] = []
    pages = read_pages(study, catalogue, units, wrong)
    fitting = Fitting(units, catalogue, method.name)
    wrong.extend(fitting.problems(pages))
    if wrong or told:
        more = len(wrong) - _MOST_TOLD
        rest = [Problem(str(study.design.plan), f"has {more} more problems")] if more > 0 else []
        raise PlanError((*told, *wrong[:_MOST_TOLD], *rest))
    amounts = find_amounts(study, catalogue, method, units, min(len(one) for one in pages))
    if amounts.problems:
        raise PlanError(amounts.problems)
    return Given(fitting.shown(pages), pages, amounts)


def compose_given(study: Study, catalogue: Catalogue, method: Method, given: Given) -> list[list[Trial]]:
    """Return the trials of every list, as given."""
    # The streams of a plan that is dealt: given back unchanged, it has the same colours and the same draws.
    paint, compose = (np.random.default_rng([*study.draw, stream]) for stream in (2, 3))
    fitting = Fitting(method.units(study, catalogue), catalogue, method.name)
    width = max(len(page.stimuli) for pages in given.pages for page in pages)
    hues = iter(draw_colours(sum(map(len, given.pages)), width, paint).tolist())
    lists = []
    for pages in given.pages:
        trials = []
        for page in pages:
            unit = fitting.unit(page)
            composed = method.compose(study, unit, catalogue, compose)
            order = _order(unit.stimuli, page, composed)
            trials.append(arrange(composed, f"trial:{page.position}", order, next(hues)))
        lists.append(trials)
    return lists


def _idle(study: Study, key: str) -> Problem:
    what = f"is written beside design.plan, and {study.design.plan} says all of that"
    return study.problem(f"design.{key}", what, "plan, breaks and seed", "Leave it out, or leave out design.plan.")


def _order(stimuli: Sequence[str], page: Page, composed: Trial) -> list[int]:
    """Return which of the stimuli that may stand anywhere stands in the first place, the second, ..."""
    free = sum(slot.label is None for slot in composed.slots)
    if free != len(stimuli):
        return list(range(free))  # others have a place with a name
    return [stimuli.index(stimulus) for stimulus in page.stimuli]
