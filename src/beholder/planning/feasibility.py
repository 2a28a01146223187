"""planning/feasibility."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from beholder.errors import PlanError, Problem
from beholder.methods.contract import Method, Units
from beholder.methods.pairs import (
    STIMULUS_COLUMNS,
    condition_pairs,
    connected_parts,
    pair_table_problems,
    pair_units,
    read_pair_table,
    reference_units,
)
from beholder.planning.capacity import MOST_TRIALS, count_trials, trials_in_time
from beholder.planning.check_counts import CheckCounts, count_checks
from beholder.planning.contents import ListShape
from beholder.planning.grid import StimulusGrid, build_grid
from beholder.planning.list_counts import lists_for
from beholder.planning.training import training_problems
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study


class PlanFrame(NamedTuple):
    """What a plan stands on; `shape` counts dealt trials, each of which may come once for every set of questions."""

    units: Units
    grid: StimulusGrid
    shape: ListShape
    amounts: CheckCounts


def build_frame(study: Study, catalogue: Catalogue, method: Method) -> PlanFrame:
    """Return what a plan stands on, or raise PlanError with everything that stands in its way."""
    design = study.design
    units = method.units(study, catalogue)
    untaught = tuple(training_problems(study, catalogue, method))
    try:
        grid = _build_grid(study, catalogue, method, units)
        at_most = (
            MOST_TRIALS if design.trials else min(MOST_TRIALS, trials_in_time(study, catalogue, method, units, grid))
        )
        trials = count_trials(grid, design, at_most)
        shape = ListShape(lists_for(grid, design, trials), trials, design.sessions_per_participant)
    except PlanError as error:
        raise PlanError((*(locate(study, problem) for problem in error.problems), *untaught)) from None
    amounts = count_checks(study, catalogue, method, units, shape.trials * max(1, len(units.asks)))
    if untaught or amounts.problems:
        raise PlanError((*untaught, *amounts.problems))
    return PlanFrame(units, grid, shape, amounts)


def _build_grid(study: Study, catalogue: Catalogue, method: Method, units: Units) -> StimulusGrid:
    """Return what there is to deal, or raise what the method and the planner find wrong, together."""
    problems = [*method.problems(study, catalogue), *pair_problems(study, catalogue, units, method.name)]
    if problems and (units.companions or study.design.given_pairs is not None):
        # What a test goes with, or is compared with, may be the very thing that is missing.
        raise PlanError(problems)
    try:
        grid = build_grid(units, catalogue, study.design, method.name)
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
        raise PlanError(locate(study, problem) for problem in problems)


def locate(study: Study, problem: Problem) -> Problem:
    """Return the problem with the line of the key that it is about: methods and planner name the key alone."""
    if problem.where.partition(".")[0] not in Study.model_fields:
        return problem
    return study.problem(problem.where, problem.what, problem.allowed, problem.fix)


_SHOWN = 4
"""Conditions of a part, and parts, that are listed; of more it is said how many there are."""


_MOST_PROBLEMS = 20
"""Lines of a file that are told one by one."""


def pair_problems(study: Study, catalogue: Catalogue, units: Units, method: str) -> Iterator[Problem]:
    """Yield what is wrong with the pairs of a study: their file, a method without them, or parts that never meet."""
    pairs, file = study.design.pairs, study.design.given_pairs
    if file is not None:
        wrong = list(pair_table_problems(study.folder, file, catalogue))
        if wrong:
            yield from wrong[:_MOST_PROBLEMS]
            if len(wrong) > _MOST_PROBLEMS:
                yield Problem(file, f"has {len(wrong) - _MOST_PROBLEMS} more problems")
            return
    may_split = file is not None and read_pair_table(study.folder, file, []).has_parts
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
        yield from _split_problems(study, catalogue, units)


def makes_own_trials(study: Study, catalogue: Catalogue, units: Units) -> bool:
    """Return whether a method deals something else than the pairs that `design.pairs` chooses."""
    chosen = {frozenset(unit.stimuli) for unit in pair_units(study, catalogue)}
    return units.kind != "pair" or any(frozenset(unit.stimuli) not in chosen for unit in units.items)


def _split_problems(study: Study, catalogue: Catalogue, units: Units) -> Iterator[Problem]:
    """Yield that conditions fall into parts, and the pair that would join two of them."""
    condition = {stimulus.id: stimulus.condition for stimulus in catalogue.by_cell.values()}
    compared = [tuple(condition[stimulus] for stimulus in unit.stimuli) for unit in units.items]
    tested = {stimulus.condition for stimulus in catalogue.by_cell.values() if stimulus.role != "reference"}
    shown = tested.union(*compared)
    found = connected_parts(
        [one for one in catalogue.conditions if one in shown], [(one, two) for one, two in compared]
    )
    if len(found) < 2:
        return
    found.sort(key=lambda part: -len(part))
    named = [f"({_some(part)})" for part in found[:_SHOWN]]
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    what = f"{_pairs_text(study)} leaves {len(found)} parts that are never compared with each other: "
    what += " and ".join(named) + more
    yield Problem("design.pairs", what, "pairs that hold all conditions together", _bridge(study, catalogue, found))


def _pairs_text(study: Study) -> str:
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
                    of_stimuli = read_pair_table(study.folder, file, []).of_stimuli
                    line = f"{cells[0].id},{cells[1].id}" if of_stimuli else f"{one},{two}"
                    columns = ",".join(STIMULUS_COLUMNS) if of_stimuli else "condition,other"
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
