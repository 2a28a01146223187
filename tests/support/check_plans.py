"""Plans with check trials, the positions of these trials, and stimuli with known answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from beholder.checks.contract import AnsweredTrial, TrialRule, Verdict
from beholder.checks.registry import study_rules
from beholder.methods import find
from beholder.methods.contract import Slot, Trial
from beholder.planning.builder import make_plan
from beholder.planning.model import Plan, PlannedList, is_check
from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.known_answers import EVERY_QUESTION, Expectation, KnownAnswer
from beholder.study.model import Study
from beholder.types import Role
from support.method_studies import catalogue_of
from support.plans import with_clips

CONTENTS = tuple(f"content{n:02}" for n in range(14))
REFERENCE = [{"name": "o", "role": "reference"}, "a", "b", "c"]
SURVEY = [{"id": f"item{n}", "text": f"Statement {n}."} for n in range(6)]


def plan_of(study: Study, catalogue: Catalogue | None = None) -> tuple[Plan, Catalogue]:
    method = find(study.method)
    whole = with_clips(study, catalogue or catalogue_of(study, contents=CONTENTS), method)
    return make_plan(study, whole, method), whole


def without_checks(study: Study, catalogue: Catalogue) -> Plan:
    """Return the plan of a study without checks."""
    off = study.model_copy(
        update={"checks": study.checks.model_copy(update=dict.fromkeys(study.checks.model_dump(), False))}
    )
    return make_plan(off, catalogue, find(study.method))


def slots_of(plan: Plan, role: Role) -> list[tuple[Trial, Slot]]:
    return [
        (trial, slot) for planned in plan.lists for trial in planned.trials for slot in trial.slots if slot.role == role
    ]


def places_of(planned: PlannedList, role: Role) -> list[int]:
    """Return the positions of the trials of a role, from 0."""
    return [n for n, trial in enumerate(planned.trials) if any(slot.role == role for slot in trial.slots)]


def gaps_of(planned: PlannedList, role: Role) -> list[int]:
    """Return the numbers of rated trials before the trials of a role."""
    rated = [not is_check(trial) for trial in planned.trials]
    return [sum(rated[:place]) for place in places_of(planned, role)]


def spread(counts: Mapping[Any, int], cells: int) -> int:
    """Return the largest minus the smallest of `cells` counts; missing ones are zero."""
    values = [*counts.values(), *[0] * (cells - len(counts))]
    return max(values) - min(values)


def verdict(study: Study, name: str, trial: Trial, answer: Any) -> Verdict | None:
    """Return the verdict of a rule on an answer."""
    method = find(study.method)
    read = method.read(trial, answer)
    (rule,) = (rule for rule in study_rules(study) if rule.name == name)
    assert isinstance(rule, TrialRule)
    return rule.judge_trial(AnsweredTrial(trial.id, trial, read, method.judgements(trial, read)), ())


def every_answer(study: Study, trial: Trial) -> list[Any]:
    """Return the answers to a page that give one value everywhere."""
    scale = trial.asked[0].scale
    values = [scale.min + scale.step * n for n in range(round((scale.max - scale.min) / scale.step) + 1)]
    rated = [slot.id for slot in trial.slots if slot.rated]
    if len(rated) == 1:
        return [{"scores": {asked.id: {rated[0]: value} for asked in trial.asked}} for value in values]
    choices: list[Any] = []
    for value in values:
        one: dict[str, Any] = {"better": "tie"} if not value else {"better": rated[value > 0]}
        if value and scale.max > 1:
            one["grade"] = abs(value)
        choices.append({"choices": {"q1": one}})
    return choices


def gold(
    name: str, line: int, expected: float | Mapping[str, float], near: float | None = None
) -> tuple[str, KnownAnswer]:
    of = expected if isinstance(expected, Mapping) else {EVERY_QUESTION: expected}
    return name, KnownAnswer(
        f"list.csv:{line}", "", line, {question: Expectation(v, near) for question, v in of.items()}
    )


def with_lessons(catalogue: Catalogue, role: Role, *answers: tuple[str, KnownAnswer]) -> Catalogue:
    """Return a catalogue with stimuli of a role, each named `condition/content`."""
    more = []
    for name, lesson in answers:
        condition, _, content = name.partition("/")
        like = catalogue.stimuli[0]
        more.append(
            replace(like, id=f"{role}:{name}", content=content, condition=condition, role=role, known_answer=lesson)
        )
    return replace(catalogue, stimuli=(*catalogue.stimuli, *more))
