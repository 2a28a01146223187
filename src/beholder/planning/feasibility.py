"""Whether a plan is possible: units, grid, list shape and checks of a study, or every problem with them; and which
conditions it cannot tell from contents or people.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from beholder.errors import PlanError, Problem
from beholder.formats import first_names, listed, plain_count
from beholder.methods import methods
from beholder.methods.contract import Method, Units, shows_first, task_of
from beholder.methods.pairs import (
    STIMULUS_COLUMNS,
    condition_pairs,
    connected_parts,
    pair_table_problems,
    pair_units,
    read_pair_table,
    reference_units,
)
from beholder.methods.presentation import MEDIUM_NAMES, presentation
from beholder.methods.time_marks import marks_of
from beholder.methods.views import views_of
from beholder.methods.waveform import waveform_problems
from beholder.planning.capacity import MOST_TRIALS, count_trials, trials_in_time
from beholder.planning.check_counts import CheckCounts, count_checks
from beholder.planning.contents import ListShape
from beholder.planning.grid import StimulusGrid, build_grid
from beholder.planning.list_counts import lists_for
from beholder.planning.model import Plan
from beholder.planning.training import training_problems
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from beholder.types import CHECK_ROLES


class PlanFrame(NamedTuple):
    """What a plan is built on; `shape` counts allocated trials, each of which comes once for every set of questions."""

    units: Units
    grid: StimulusGrid
    shape: ListShape
    checks: CheckCounts


def build_frame(study: Study, catalogue: Catalogue, method: Method, *, at_most: int | None = None) -> PlanFrame:
    """Return what a plan is built on, or raise PlanError with all problems.

    `at_most`: how many trials a list has if the study does not say; as many as fit into a short session if left out.
    """
    design = study.design
    if design.active is not None:  # who comes again may compare the same two again
        design = design.model_copy(update={"sessions_per_participant": 1})
    units = method.units(study, catalogue)
    training = tuple(training_problems(study, catalogue, method))
    try:
        grid = _build_grid(study, catalogue, method, units)
        if at_most is None:
            fitting = MOST_TRIALS if design.trials else trials_in_time(study, catalogue, method, units, grid)
            at_most = min(MOST_TRIALS, fitting)
        trials = count_trials(grid, design, at_most)
        shape = ListShape(lists_for(grid, design, trials), trials, design.sessions_per_participant)
    except PlanError as error:
        raise PlanError((*(locate(study, problem) for problem in error.problems), *training)) from None
    checks = count_checks(study, catalogue, method, units, shape.trials * max(1, len(units.asks)))
    if training or checks.problems:
        raise PlanError((*training, *checks.problems))
    return PlanFrame(units, grid, shape, checks)


def _build_grid(study: Study, catalogue: Catalogue, method: Method, units: Units) -> StimulusGrid:
    """Return the grid, or raise PlanError with the problems of method and planner together."""
    problems = [*method_problems(study, catalogue, method), *pair_problems(study, catalogue, units, method)]
    if problems and (units.companions or study.design.given_pairs is not None):
        # A missing companion or partner of a comparison would only cause further problems.
        raise PlanError(problems)
    try:
        grid = build_grid(units, catalogue, study.design, method.name)
    except PlanError as error:
        problems += error.problems
    if problems:
        raise PlanError(problems)
    return grid


def method_problems(study: Study, catalogue: Catalogue, method: Method) -> Iterator[Problem]:
    """Yield what does not fit a method, also of what the last page is to show of its answers."""
    yield from method.problems(study, catalogue)
    yield from waveform_problems(study, catalogue, method)
    if task_of(method) in _NOTHING_TO_COMPARE:
        for key in (key for key, is_shown in study.ending if is_shown):
            what = f"is true, and {method.name} gives neither scores nor preferences to compare with those of others"
            yield Problem(f"ending.{key}", what, "false", "Take it out.")
    yield from stage_problems(study, catalogue, method)


def stage_problems(study: Study, catalogue: Catalogue, method: Method) -> Iterator[Problem]:
    """Yield what cannot be shown on a separate stage: what has to stand beside the answers, or waits for a press."""
    if study.stage == "same":
        return
    if not shows_first(method):
        what = f"is separate, and {method.name} has its stimuli beside the answers, for as long as somebody answers"
        able = ", ".join(sorted(name for name, other in methods().items() if shows_first(other)))
        yield Problem("stage", what, f"same, or a method that asks afterwards: {able}", "Leave it out.")
        return
    if unfit := sorted({stimulus.medium for stimulus in catalogue.stimuli} - {"video", "audio"}):
        what = f"is separate, and the stimuli are {listed([MEDIUM_NAMES[medium] for medium in unfit])}"
        yield Problem("stage", what, "same, or videos or sounds", "Leave it out.")
    way = presentation(study, catalogue)
    if way not in (None, "sequential"):
        what = f"is {way}, and on a separate stage stimuli come one after the other"
        yield Problem("options.presentation", what, "sequential", "Leave out one of the two.")
    if views_of(study):
        what = "is there, and a pair is looked at in its views on the page that asks, which has no clips here"
        yield Problem("options.view", what, "", "Take it out, or take out stage: separate.")
    if marks_of(study) is not None:
        what = "is there, and marks are set on the page on which stimuli play, which is not the one that asks"
        yield Problem("options.marks", what, "false", "Take it out, or take out stage: separate.")
    if study.playback.volume:
        what = "is true, and the sound comes from another device than the page that would set it"
        yield Problem("playback.volume", what, "false", "Take it out, or take out stage: separate.")


_NOTHING_TO_COMPARE = ("identify", "mark", "type")
"""Tasks whose answers are right or wrong, or words."""


def check_comparing(study: Study, catalogue: Catalogue, method: Method) -> None:
    """Raise PlanError if a method cannot compare these stimuli, whichever pairs are chosen."""
    problems = list(method_problems(study, catalogue, method))
    if makes_own_trials(study, catalogue, method.units(study, catalogue)):
        what = f"does not fit {method.name}, which makes its own trials"
        problems.append(Problem("design.pairs", what, "a method that compares two, such as pair"))
    if problems:
        raise PlanError(locate(study, problem) for problem in problems)


def locate(study: Study, problem: Problem) -> Problem:
    """Return the problem with the line of its key in the study: methods and planner name the key alone."""
    if problem.where.partition(".")[0] not in Study.model_fields:
        return problem
    return study.problem(problem.where, problem.what, problem.allowed, problem.fix)


# Pairs: every condition must be connected with every other one

_SHOWN = 4
"""Conditions of a part, and parts, that a message lists."""

_MOST_PROBLEMS = 20
"""Problems of a file that are listed one by one."""


_IN_ORDER = ("order", "extremes")
"""Tasks whose pages can be chosen while answers come in, as pairs can: they put conditions into an order."""


def pair_problems(study: Study, catalogue: Catalogue, units: Units, method: Method) -> Iterator[Problem]:
    """Yield the problems with the pairs of a study: the file, a method without pairs, or unconnected conditions."""
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
        if study.design.active is not None and task_of(method) in _IN_ORDER:
            if units.items and units.per_trial >= (most := max(len(unit.stimuli) for unit in units.items)):
                what = f"is {units.per_trial}, all conditions that there are, and active pairs choose some of them"
                yield Problem("design.per_trial", what, f"2 to {most - 1}" if most > 2 else "more conditions")
            return
        if pairs != "all" and study.design.star is None:
            yield Problem(
                "design.pairs", f"does not fit {method.name}, which makes its own trials", "all", "Leave it out."
            )
        return
    degree, others = study.design.degree, len(catalogue.conditions) - 1
    if degree is not None and degree > others:
        what = f"is {{sparse: {degree}}}, but each of {others + 1} conditions has {plain_count(others, 'other')}"
        yield Problem("design.pairs", what, f"{{sparse: 2}} to {{sparse: {others}}}, or all" if others > 2 else "all")
        return
    if units.items and not may_split and not (pairs == "all" and set(units.items) == set(reference_units(catalogue))):
        yield from _split_problems(study, catalogue, units)


def makes_own_trials(study: Study, catalogue: Catalogue, units: Units) -> bool:
    """Return whether a method allocates something else than the pairs that `design.pairs` chooses."""
    chosen = {frozenset(unit.stimuli) for unit in pair_units(study, catalogue)}
    return units.kind != "pair" or any(frozenset(unit.stimuli) not in chosen for unit in units.items)


def _split_problems(study: Study, catalogue: Catalogue, units: Units) -> Iterator[Problem]:
    """Yield the problem that conditions fall into unconnected parts, with a pair that would join two of them."""
    condition = {stimulus.id: stimulus.condition for stimulus in catalogue.by_cell.values()}
    compared = [tuple(condition[stimulus] for stimulus in unit.stimuli) for unit in units.items]
    tested = {stimulus.condition for stimulus in catalogue.by_cell.values() if stimulus.role != "reference"}
    shown = tested.union(*compared)
    groups = connected_parts(
        [one for one in catalogue.conditions if one in shown], [(one, two) for one, two in compared]
    )
    if len(groups) < 2:
        return
    groups.sort(key=lambda part: -len(part))
    texts = [f"({first_names(part, _SHOWN)})" for part in groups[:_SHOWN]]
    more = f" and {len(groups) - _SHOWN} more" if len(groups) > _SHOWN else ""
    what = f"{_pairs_text(study)} leaves {len(groups)} parts that are never compared with each other: "
    what += " and ".join(texts) + more
    yield Problem("design.pairs", what, "pairs that hold all conditions together", _bridge(study, catalogue, groups))


def _bridge(study: Study, catalogue: Catalogue, groups: Sequence[Sequence[str]]) -> str:
    """Return a fix: a pair that would join the first part and another one."""
    largest, rest = groups[0], [one for part in groups[1:] for one in part]
    file = study.design.given_pairs
    if file is not None:
        for one, two in ((one, two) for one in largest for two in rest):
            for content in catalogue.contents:
                cells = catalogue.by_cell.get((content, one)), catalogue.by_cell.get((content, two))
                if cells[0] and cells[1]:
                    of_stimuli = read_pair_table(study.folder, file, []).of_stimuli
                    line = f"{cells[0].id},{cells[1].id}" if of_stimuli else f"{one},{two}"
                    columns = ",".join(STIMULUS_COLUMNS) if of_stimuli else "condition,other"
                    return f"Add the line {line} ({columns}) to join two of them."
    conditions = tuple(one for one in catalogue.conditions if one in {*largest, *rest})
    chosen = set(condition_pairs(study, conditions)) if file is None else set()
    for one, two in ((one, two) for two in rest for one in largest):
        if not chosen or {(one, two), (two, one)} & chosen:
            content = next(content for content in catalogue.contents if (content, two) in catalogue.by_cell)
            return f"Add {one} of content {content}, which has {two}: the pair {one}, {two} would join two of them."
    return ""


def _pairs_text(study: Study) -> str:
    design = study.design
    if design.given_pairs is not None:
        return f"is {design.given_pairs}, which"
    if design.star is not None:
        return f"is a star around {design.star}, which, with the files that there are,"
    word = "all" if design.pairs == "all" else "sparse"
    return f"is {word}, which, with the files that there are,"


# Conditions that a plan does not tell from contents or people: known before anybody is paid

_Pair = tuple[str, str]
_CONTENTS_DIFFER = "have no content in common: contents may make the difference, and there will be no test"


def confounding_warnings(study: Study, catalogue: Catalogue, plan: Plan) -> Iterator[Problem]:
    """Yield a warning for conditions, rated one by one, whose difference may be one of contents or people.

    Of a study that names contrasts only these count, each at its line. People in groups on purpose are no surprise.
    """
    contents, people = defaultdict[str, set[str]](set), defaultdict[str, set[int]](set)
    for planned in plan.lists:
        for slot in (slot for trial in planned.rated for slot in trial.slots if slot.rated):
            if slot.role not in CHECK_ROLES:
                stimulus = catalogue.by_id[slot.stimulus]
                contents[stimulus.condition].add(stimulus.content)
                people[stimulus.condition].add(planned.number)
    rated = [name for name in catalogue.conditions if name in contents]
    asked = [pair for pair in study.analyse.contrasts if contents.keys() >= set(pair)]
    pairs = asked or list(combinations(rated, 2))
    apart = [(one, other) for one, other in pairs if contents[one].isdisjoint(contents[other])]
    if study.analyse.contrasts:
        for one, other in apart:
            key = f"analyse.contrasts.{study.analyse.contrasts.index((one, other))}"
            yield study.problem(key, f"compares {one} with {other}, which {_CONTENTS_DIFFER}", "", _common(one, other))
    elif apart:
        one, other = apart[0]
        what = f"leave {_some_pairs(apart, len(pairs))} that {_CONTENTS_DIFFER}"
        yield study.problem("stimuli", what, "", _common(one, other))
    linked = connected_parts(rated, (pair for pair in combinations(rated, 2) if people[pair[0]] & people[pair[1]]))
    part = {name: number for number, names in enumerate(linked) for name in names}
    alone = [pair for pair in pairs if part[pair[0]] != part[pair[1]] and pair not in apart]
    if alone and not study.design.between:
        what = f"leaves {_some_pairs(alone, len(pairs))} that nobody rates both of"
        fix = "With more trials in a session people are their own control, and fewer of them are needed."
        yield study.problem("design", f"{what}: people may make the difference, and it takes many to tell", "", fix)


def _some_pairs(pairs: Sequence[_Pair], total: int) -> str:
    """Return how many pairs of conditions there are, with the first of them."""
    one, other = pairs[0]
    return f"{len(pairs)} of {plain_count(total, 'pair')} of conditions, such as {one} and {other},"


def _common(one: str, other: str) -> str:
    return f"Add stimuli of the same contents under both {one} and {other}."
