"""Groups of participants: factors between participants, and the study and stimuli as each group meets them."""

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
    """Some of the participants: the level of each factor, and the study and stimuli as they meet them."""

    levels: Levels
    study: Study
    catalogue: Catalogue


def groups_of(study: Study, catalogue: Catalogue, method: Method) -> tuple[ParticipantGroup, ...]:
    """Return the groups of a study, each with its share of the participants; one group if there is no factor.

    All have the seed of the study: groups that are allocated the same stimuli get the same lists, and can be compared
    trial by trial. Stimuli that are for some people alone are in none of them. Raise PlanError if a level does not fit
    the stimuli or the method.
    """
    catalogue = catalogue.common
    if not study.design.between:
        return (ParticipantGroup({}, study, catalogue),)
    if problems := list(_problems(study, catalogue, method)):
        raise PlanError(problems)
    all_levels = groups_in(study.design.between)
    groups = []
    for number, levels in enumerate(all_levels):
        # The first groups have one participant more if the number does not divide evenly.
        people = -(-(study.design.participants - number) // len(all_levels))
        own = group_study(study, levels)
        own = own.model_copy(update={"design": own.design.model_copy(update={"participants": people})})
        groups.append(ParticipantGroup(levels, own, _catalogue_of(study, levels, catalogue)))
    return tuple(groups)


def _catalogue_of(study: Study, levels: Levels, catalogue: Catalogue) -> Catalogue:
    """Return the stimuli of a group: those of its conditions, without answers to questions that it is not asked."""
    for factor, name in levels.items():
        level = study.design.between[factor][name]
        if level.conditions is not None:
            catalogue = restrict(catalogue, level.conditions)
        if level.questions is not None:
            unasked = {question.id for question in study.questions}.difference(level.questions)
            catalogue = replace(catalogue, stimuli=tuple(_without_answers(catalogue.stimuli, unasked)))
    return catalogue


def restrict(catalogue: Catalogue, conditions: Collection[str]) -> Catalogue:
    """Return a catalogue with these conditions only, and without stimuli that were made of others."""
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
    """Yield stimuli without answers to questions that are not asked; check stimuli without any answer are left out."""
    for stimulus in stimuli:
        answer = stimulus.known_answer
        if answer is None or unasked.isdisjoint(answer.expected):
            yield stimulus
            continue
        remaining = {name: expectation for name, expectation in answer.expected.items() if name not in unasked}
        if remaining or stimulus.role == "training":
            yield replace(stimulus, known_answer=replace(answer, expected=remaining))


def _problems(study: Study, catalogue: Catalogue, method: Method) -> Iterator[Problem]:
    columns = {name for stimulus in catalogue.stimuli for name in stimulus.factors}
    for factor in study.design.between:
        if factor in columns:
            what = "is the name of a column of the manifest too, and both would be factor_" + factor
            yield study.problem(f"design.between.{factor}", what, "a name of its own", "Rename one of them.")
    conditions = catalogue.conditions
    for key, level in _levels(study):
        for place, name in enumerate(level.conditions or ()):
            if name not in conditions:
                what = f"is {name}, which is no condition"
                yield study.problem(
                    f"{key}.conditions.{place}", what, ", ".join(conditions), did_you_mean(name, conditions)
                )
        if level.questions is None:
            continue
        own = study.model_copy(update={"questions": tuple(q for q in study.questions if q.id in level.questions)})
        also = [question.id for question in method.questions(own) if question.id not in level.questions]
        if also:
            what = f"leaves out {', '.join(also)}, which options.items asks for in every group"
            fix = "Write the questions out under questions, or let the levels choose item sets with options.items."
            yield study.problem(f"{key}.questions", what, "", fix)


def _levels(study: Study) -> Iterator[tuple[str, Level]]:
    """Yield every level with its key in the study."""
    for factor, levels in study.design.between.items():
        for name, level in levels.items():
            yield f"design.between.{factor}.{name}", level


def for_each_group(groups: Sequence[ParticipantGroup], make: Callable[[ParticipantGroup], T]) -> list[T]:
    """Return the result of `make` for each group, or raise PlanError with the problems of all groups."""
    results: list[T] = []
    problems: dict[int, Sequence[Problem]] = {}
    for number, group in enumerate(groups):
        try:
            results.append(make(group))
        except PlanError as error:
            problems[number] = error.problems
    if problems:
        raise PlanError(_merge_problems(groups, problems))
    return results


def _merge_problems(groups: Sequence[ParticipantGroup], by_group: Mapping[int, Sequence[Problem]]) -> list[Problem]:
    """Return the problems of all groups, each once; a problem that not all groups have names its group."""
    merged: dict[Problem, None] = {}
    for number, problems in by_group.items():
        for problem in problems:
            is_common = all(problem in by_group.get(other, ()) for other in range(len(groups)))
            group = "" if is_common else f", in the group {group_name(groups[number].levels)}"
            merged.setdefault(replace(problem, what=problem.what + group))
    return list(merged)
