"""How many lists give every stimulus, or every pair, as many ratings as the study wants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import ceil
from typing import NamedTuple, TypeVar

import numpy as np

from beholder.errors import PlanError, Problem
from beholder.methods.contract import Method, Trial, Units
from beholder.methods.pairs import (
    OF_STIMULI,
    condition_pairs,
    given_pair_problems,
    pair_units,
    parts,
    read_given_pairs,
    reference_units,
)
from beholder.planning.capacity import MOST_TRIALS, count_trials, rooms
from beholder.planning.cells import StimulusGrid, lay_out, trials_in_time
from beholder.planning.check_counts import Amounts, find_amounts
from beholder.planning.contents import ListShape, quotas
from beholder.planning.counts import compared_slots
from beholder.planning.model import CHECKING, Plan
from beholder.planning.training import lesson_problems
from beholder.stimuli.catalogue import Catalogue
from beholder.study.design import Design
from beholder.study.model import Study

MOST_LISTS = 100_000
"""Lists of a plan."""
T = TypeVar("T")


def lists_for(grid: StimulusGrid, design: Design, trials: int) -> int:
    """Return how many lists of so many trials a plan has: for its participants, or for its votes.

    A content whose trials are as many as `n` votes of each of its columns need gives each of them `n`: within a
    content columns are even within one. Contents are so over all lists, or in proportion to what there is of them.
    """
    if design.votes is None:
        return design.participants * design.sessions_per_participant
    chain, columns = design.sessions_per_participant, grid.present.sum(axis=1)
    needed = -(-design.votes * columns // max(1, grid.dealt_per_trial)) if grid.dealt_per_trial else columns
    needed = np.maximum(needed, design.votes)
    if grid.kind == "content" or (columns == columns[0]).all():
        lists = -(-int(needed.max()) * len(grid.contents) // trials)
    else:
        room = rooms(grid, design)
        if design.contents == "apart":
            room = np.minimum(room, -(-trials // 2))
        quota = quotas(trials * chain, columns, np.minimum(room * chain, columns)) / chain
        lists = ceil(float((needed / quota).max()) - 1e-6)
    if lists > MOST_LISTS:
        raise PlanError(_too_many(design, trials, lists))
    return lists


def enough(wanted: int, lists: int, make: Callable[[int], T], fewest: Callable[[T], int]) -> T:
    """Return what `make` makes of the least number of lists, from `lists` on, that gives everything so many ratings.

    Checks take ratings away and companions take places, by lot; so it is made, counted, and made anew.
    """
    made, short = make(lists), lists - 1
    while (found := fewest(made)) < wanted:
        short = lists
        # As many more as the ratings of the worst-off stimulus lack.
        lists += max(1, ceil(lists * (wanted - found) / max(1, found)))
        if lists > MOST_LISTS:
            raise PlanError(Problem("design.votes", f"is {wanted}, and {MOST_LISTS} lists do not give as many"))
        made = make(lists)
    while lists - short > max(1, lists // 100):
        middle = (lists + short) // 2
        tried = make(middle)
        if fewest(tried) >= wanted:
            made, lists = tried, middle
        else:
            short = middle
    return made


def votes_range(plan: Plan) -> tuple[int, int]:
    """Return how many ratings a stimulus, or a pair, gets in each group if every list is finished: fewest and most."""
    if plan.groups:
        least, most = zip(*map(votes_range, plan.groups), strict=True)
        return min(least), max(most)
    assert plan.units is not None, "a plan that was made knows what was dealt"
    counts = _counts([planned.trials for planned in plan.lists], plan.units)
    return min(counts), max(counts)


def fewest_ratings(lists: Sequence[Sequence[Trial]], units: Units) -> int:
    """Return how many ratings the stimulus, or pair, that gets fewest of them has."""
    return min(_counts(lists, units))


def _counts(lists: Iterable[Sequence[Trial]], units: Units) -> list[int]:
    is_pair = units.kind == "pair"
    counts: dict[frozenset[str] | str, int] = {
        key: 0 for unit in units.items for key in ([frozenset(unit.stimuli)] if is_pair else unit.stimuli)
    }
    unrated: set[frozenset[str] | str] = set()
    for trials in lists:
        seen = set()
        for trial in trials:
            for key in rated_units(trial, is_pair=is_pair):
                if key in counts and key not in seen:
                    counts[key] += 1
                    seen.add(key)
            unrated.update(slot.stimulus for slot in trial.slots if not slot.rated)
    # What only stands beside others to be compared with is rated by nobody.
    return [count for key, count in counts.items() if count or key not in unrated]


def rated_units(trial: Trial, *, is_pair: bool) -> Sequence[frozenset[str] | str]:
    """Return what is rated on a page: its stimuli, or the two that are compared as one."""
    rated = [slot for slot in trial.slots if slot.rated and slot.role not in CHECKING]
    if is_pair:
        return [frozenset(slot.stimulus for slot in compared_slots(trial))] if rated else []
    return [slot.stimulus for slot in rated]


def _too_many(design: Design, trials: int, lists: int) -> Problem:
    assert design.votes is not None
    most = design.votes * MOST_LISTS // lists
    what = f"is {design.votes}, which takes {lists} lists of {trials} trials, more than {MOST_LISTS}"
    return Problem("design.votes", what, f"1 to {most}" if most > 1 else "1", "Make design.trials larger.")


# --- What a plan stands on: what there is to deal, how many trials a list has, and what is checked in it ---


class PlanFrame(NamedTuple):
    """What a plan stands on; `shape` counts dealt trials, each of which may come once for every set of questions."""

    units: Units
    grid: StimulusGrid
    shape: ListShape
    amounts: Amounts


def lay_ground(study: Study, catalogue: Catalogue, method: Method) -> PlanFrame:
    """Return what a plan stands on, or raise PlanError with everything that stands in its way."""
    design = study.design
    units = method.units(study, catalogue)
    untaught = tuple(lesson_problems(study, catalogue, method))
    try:
        grid = _lay_out(study, catalogue, method, units)
        at_most = (
            MOST_TRIALS if design.trials else min(MOST_TRIALS, trials_in_time(study, catalogue, method, units, grid))
        )
        trials = count_trials(grid, design, at_most)
        shape = ListShape(lists_for(grid, design, trials), trials, design.sessions_per_participant)
    except PlanError as error:
        raise PlanError((*(located(study, problem) for problem in error.problems), *untaught)) from None
    amounts = find_amounts(study, catalogue, method, units, shape.trials * max(1, len(units.asks)))
    if untaught or amounts.problems:
        raise PlanError((*untaught, *amounts.problems))
    return PlanFrame(units, grid, shape, amounts)


def _lay_out(study: Study, catalogue: Catalogue, method: Method, units: Units) -> StimulusGrid:
    """Return what there is to deal, or raise what the method and the planner find wrong, together."""
    problems = [*method.problems(study, catalogue), *pair_problems(study, catalogue, units, method.name)]
    if problems and (units.companions or study.design.given_pairs is not None):
        # What a test goes with, or is compared with, may be the very thing that is missing.
        raise PlanError(problems)
    try:
        grid = lay_out(units, catalogue, study.design, method.name)
    except PlanError as error:
        problems += error.problems
    if problems:
        raise PlanError(problems)
    return grid


def check_comparing(study: Study, catalogue: Catalogue, method: Method) -> None:
    """Raise PlanError where a method cannot compare these stimuli, whichever pairs of them are chosen."""
    problems = list(method.problems(study, catalogue))
    if makes_own_trials(study, catalogue, method.units(study, catalogue)):
        what = f"does not fit {method.name}, which makes its own trials"
        problems.append(Problem("design.pairs", what, "a method that compares two, such as pair"))
    if problems:
        raise PlanError(located(study, problem) for problem in problems)


def located(study: Study, problem: Problem) -> Problem:
    """Return the problem with the line of the key that it is about: methods and planner name the key alone."""
    if problem.where.partition(".")[0] not in Study.model_fields:
        return problem
    return study.problem(problem.where, problem.what, problem.allowed, problem.fix)


# --- Whether conditions that are compared hold together: through pairs, everyone can be held against everyone ---


_SHOWN = 4
"""Conditions of a part, and parts, that are listed; of more it is said how many there are."""
_MOST_TOLD = 20
"""Lines of a file that are told one by one."""


def pair_problems(study: Study, catalogue: Catalogue, units: Units, method: str) -> Iterator[Problem]:
    """Yield what is wrong with the pairs of a study: their file, a method without them, or parts that never meet."""
    pairs, file = study.design.pairs, study.design.given_pairs
    if file is not None:
        wrong = list(given_pair_problems(study.folder, file, catalogue))
        if wrong:
            yield from wrong[:_MOST_TOLD]
            if len(wrong) > _MOST_TOLD:
                yield Problem(file, f"has {len(wrong) - _MOST_TOLD} more problems")
            return
    may_split = file is not None and read_given_pairs(study.folder, file, []).has_parts
    if makes_own_trials(study, catalogue, units):
        if pairs != "all" and study.design.star is None:
            yield Problem("design.pairs", f"does not fit {method}, which makes its own trials", "all", "Leave it out.")
        return
    degree, others = study.design.degree, len(catalogue.conditions) - 1
    if degree is not None and degree > others:
        what = f"is {{sparse: {degree}}}, but each of {others + 1} conditions has {others} other{'s' * (others != 1)}"
        yield Problem("design.pairs", what, f"{{sparse: 2}} to {{sparse: {others}}}, or all" if others > 2 else "all")
        return
    if units.items and not may_split and not (pairs == "all" and set(units.items) == set(reference_units(catalogue))):
        yield from _split(study, catalogue, units)


def makes_own_trials(study: Study, catalogue: Catalogue, units: Units) -> bool:
    """Return whether a method deals something else than the pairs that `design.pairs` chooses."""
    chosen = {frozenset(unit.stimuli) for unit in pair_units(study, catalogue)}
    return units.kind != "pair" or any(frozenset(unit.stimuli) not in chosen for unit in units.items)


def _split(study: Study, catalogue: Catalogue, units: Units) -> Iterator[Problem]:
    """Yield that conditions fall into parts, and the pair that would join two of them."""
    condition = {stimulus.id: stimulus.condition for stimulus in catalogue.by_cell.values()}
    compared = [tuple(condition[stimulus] for stimulus in unit.stimuli) for unit in units.items]
    tested = {stimulus.condition for stimulus in catalogue.by_cell.values() if stimulus.role != "reference"}
    shown = tested.union(*compared)
    found = parts([one for one in catalogue.conditions if one in shown], [(one, two) for one, two in compared])
    if len(found) < 2:
        return
    found.sort(key=lambda part: -len(part))
    named = [f"({_some(part)})" for part in found[:_SHOWN]]
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    what = f"{_told(study)} leaves {len(found)} parts that are never compared with each other: "
    what += " and ".join(named) + more
    yield Problem("design.pairs", what, "pairs that hold all conditions together", _bridge(study, catalogue, found))


def _told(study: Study) -> str:
    design = study.design
    if design.given_pairs is not None:
        return f"is {design.given_pairs}, which"
    if design.star is not None:
        return f"is a star around {design.star}, which, with the files that there are,"
    word = "all" if design.pairs == "all" else "sparse"
    return f"is {word}, which, with the files that there are,"


def _bridge(study: Study, catalogue: Catalogue, found: Sequence[Sequence[str]]) -> str:
    """Return which pair would join the first part and another one."""
    whole, rest = found[0], [one for part in found[1:] for one in part]
    file = study.design.given_pairs
    if file is not None:
        for one, two in ((one, two) for one in whole for two in rest):
            for content in catalogue.contents:
                cells = catalogue.by_cell.get((content, one)), catalogue.by_cell.get((content, two))
                if cells[0] and cells[1]:
                    of_stimuli = read_given_pairs(study.folder, file, []).of_stimuli
                    line = f"{cells[0].id},{cells[1].id}" if of_stimuli else f"{one},{two}"
                    columns = ",".join(OF_STIMULI) if of_stimuli else "condition,other"
                    return f"Add the line {line} ({columns}) to join two of them."
    there = tuple(one for one in catalogue.conditions if one in {*whole, *rest})
    chosen = set(condition_pairs(study, there)) if file is None else set()
    for one, two in ((one, two) for two in rest for one in whole):
        if not chosen or {(one, two), (two, one)} & chosen:
            content = next(content for content in catalogue.contents if (content, two) in catalogue.by_cell)
            return f"Add {one} of content {content}, which has {two}: the pair {one}, {two} would join two of them."
    return ""


def _some(words: Sequence[str]) -> str:
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return ", ".join(words[:_SHOWN]) + more
