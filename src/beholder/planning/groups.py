"""Groups of participants: who gets something else than the others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import NamedTuple, TypeVar

from beholder.errors import PlanError, Problem, did_you_mean
from beholder.methods.contract import Method
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.study.design import Level
from beholder.study.groups import Levels, group_name, group_study, groups_in
from beholder.study.model import Study

T = TypeVar("T")


class ParticipantGroup(NamedTuple):
    """Some of the participants: the level of each factor, and the study and the stimuli as they meet them."""

    levels: Levels
    study: Study
    catalogue: Catalogue


def groups_of(study: Study, catalogue: Catalogue, method: Method) -> tuple[ParticipantGroup, ...]:
    """Return the groups of a study, each with its share of the participants; one of everybody where nothing is split.

    All have the seed of the study: groups that differ in nothing that is dealt get the same lists, so that they can
    be held against each other trial by trial. Raises PlanError where a level does not fit the stimuli or the method.
    """
    if not study.design.between:
        return (ParticipantGroup({}, study, catalogue),)
    if problems := list(_problems(study, catalogue, method)):
        raise PlanError(problems)
    known = groups_in(study.design.between)
    groups = []
    for number, levels in enumerate(known):
        # The first groups have one participant more where they cannot all have as many.
        people = -(-(study.design.participants - number) // len(known))
        own = group_study(study, levels)
        own = own.model_copy(update={"design": own.design.model_copy(update={"participants": people})})
        groups.append(ParticipantGroup(levels, own, _catalogue_of(study, levels, catalogue)))
    return tuple(groups)


def for_each_group(groups: Sequence[ParticipantGroup], make: Callable[[ParticipantGroup], T]) -> list[T]:
    """Return what is made of each group, or raise PlanError with what stands in the way of any of them."""
    made: list[T] = []
    found: dict[int, Sequence[Problem]] = {}
    for number, group in enumerate(groups):
        try:
            made.append(make(group))
        except PlanError as error:
            found[number] = error.problems
    if found:
        raise PlanError(_merge_problems(groups, found))
    return made


def _merge_problems(groups: Sequence[ParticipantGroup], found: Mapping[int, Sequence[Problem]]) -> list[Problem]:
    """Return the problems of all groups, each once; what is not a problem of every group is told with its group."""
    told: dict[Problem, None] = {}
    for number, problems in found.items():
        for problem in problems:
            is_common = all(problem in found.get(other, ()) for other in range(len(groups)))
            whom = "" if is_common else f", in the group {group_name(groups[number].levels)}"
            told.setdefault(replace(problem, what=problem.what + whom))
    return list(told)


def _levels(study: Study) -> Iterator[tuple[str, Level]]:
    """Yield every level with the key that it stands at."""
    for factor, levels in study.design.between.items():
        for name, level in levels.items():
            yield f"design.between.{factor}.{name}", level


def _problems(study: Study, catalogue: Catalogue, method: Method) -> Iterator[Problem]:
    columns = {name for stimulus in catalogue.stimuli for name in stimulus.factors}
    for factor in study.design.between:
        if factor in columns:
            what = "is the name of a column of the manifest too, and both would be factor_" + factor
            yield study.problem(f"design.between.{factor}", what, "a name of its own", "Rename one of them.")
    known = catalogue.conditions
    for key, level in _levels(study):
        for place, name in enumerate(level.conditions or ()):
            if name not in known:
                what = f"is {name}, which is no condition"
                yield study.problem(f"{key}.conditions.{place}", what, ", ".join(known), did_you_mean(name, known))
        if level.questions is None:
            continue
        own = study.model_copy(update={"questions": tuple(q for q in study.questions if q.id in level.questions)})
        also = [question.id for question in method.questions(own) if question.id not in level.questions]
        if also:
            what = f"leaves out {', '.join(also)}, which options.items asks for in every group"
            fix = "Write the questions out under questions, or let the levels choose item sets with options.items."
            yield study.problem(f"{key}.questions", what, "", fix)


def _catalogue_of(study: Study, levels: Levels, catalogue: Catalogue) -> Catalogue:
    """Return the stimuli of a group: of its conditions, and with no answer expected to what it is not asked."""
    for factor, name in levels.items():
        level = study.design.between[factor][name]
        if level.conditions is not None:
            catalogue = restrict(catalogue, level.conditions)
        if level.questions is not None:
            unasked = {question.id for question in study.questions}.difference(level.questions)
            catalogue = replace(catalogue, stimuli=tuple(_without_answers(catalogue.stimuli, unasked)))
    return catalogue


def restrict(catalogue: Catalogue, conditions: Collection[str]) -> Catalogue:
    """Return a catalogue with these conditions alone, and without what was made of others."""
    left_out = {stimulus.id for stimulus in catalogue.by_cell.values() if stimulus.condition not in conditions}
    kept = [one for one in catalogue.stimuli if one.id not in left_out and one.derived_from not in left_out]
    contents = {cell[0] for cell in catalogue.by_cell if cell[1] in conditions}
    return replace(
        catalogue,
        stimuli=tuple(kept),
        conditions=tuple(name for name in catalogue.conditions if name in conditions),
        contents=tuple(name for name in catalogue.contents if name in contents),
    )


def _without_answers(stimuli: Sequence[Stimulus], unasked: AbstractSet[str]) -> Iterator[Stimulus]:
    """Yield stimuli without the answers to questions that are not asked, and not those shown for such an answer."""
    for stimulus in stimuli:
        lesson = stimulus.known_answer
        if lesson is None or unasked.isdisjoint(lesson.expected):
            yield stimulus
            continue
        left = {name: one for name, one in lesson.expected.items() if name not in unasked}
        if left or stimulus.role == "training":
            yield replace(stimulus, known_answer=replace(lesson, expected=left))
