"""Answers that are known: as targets of a trial, and whether they can be given at all."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from beholder.errors import Problem, did_you_mean
from beholder.methods.contract import Asked, Method, Question, Scale, Slot, Trial
from beholder.plan.dealing.slots import PALETTE
from beholder.plan.teaching.answering import judged_places
from beholder.plan.teaching.composing import contents_of
from beholder.stimuli.catalogue import Stimulus
from beholder.stimuli.lesson import EVERY, Lesson
from beholder.study.model import Study
from beholder.types import Role

_SHARE = 0.25
"""Tolerance where none is written, as a share of the scale."""
_SLIP = 0.03
"""What is allowed on a slider of what asks for an answer, as a share of the scale: nobody sets it to a point."""
SCORED = ("score",)
COMPARED = ("score", "diff", "choice")
"""Kinds of judgements from which an answer about one stimulus can be told; a comparison says the same of either."""
Lessons = Mapping[str, Lesson]
"""By stimulus."""


def default_tolerance(scale: Scale) -> float:
    """Return how far from an expected answer is near enough: a quarter of the scale, in whole steps."""
    return _steps(scale, _SHARE)


def asking_tolerance(scale: Scale) -> float:
    """Return how far an answer may be from what was asked for: exact, but for a slider."""
    return _steps(scale, _SLIP) if scale.look == "slider" else 0.0


def _steps(scale: Scale, share: float) -> float:
    # Scales have steps such as 0.1, of which a quarter is not exactly a number of steps.
    return float(np.floor(share * (scale.max - scale.min) / scale.step + 1e-9)) * scale.step


def lessons_of(stimuli: Sequence[Stimulus]) -> Lessons:
    """Return what is written beside stimuli, by their ids."""
    return {stimulus.id: stimulus.lesson for stimulus in stimuli if stimulus.lesson is not None}


def answerable(method: Method, trial: Trial, kinds: Collection[str]) -> frozenset[tuple[str, str]]:
    """Return which (question, slot) get a judgement of these kinds."""
    found = set()
    for one in judged_places(method, trial):
        if one.kind in kinds:
            both = one.kind != "score"
            found |= {(one.question, slot.id) for slot in trial.slots if slot.rated and (both or slot.id == one.slot)}
    return frozenset(found)


def asked_about(trial: Trial, lessons: Lessons) -> Iterator[tuple[Asked, Slot, Lesson]]:
    """Yield every question with a scale that is asked about a stimulus with a lesson."""
    for asked in trial.asked:
        for slot in trial.slots:
            if slot.rated and not asked.ticks and slot.stimulus in lessons:
                yield asked, slot, lessons[slot.stimulus]


def wrong_targets(
    trial: Trial, lessons: Lessons, places: Collection[tuple[str, str]], method: Method
) -> Iterator[Problem]:
    """Yield answers that are expected and cannot be given, as nothing is judged there, or not on this scale."""
    for asked, slot, lesson in asked_about(trial, lessons):
        found = lesson.of(asked.question)
        if found is None:
            continue
        name, expected = found
        called, scale = lesson.called("expected", name), asked.scale
        if (asked.question, slot.id) not in places:
            what = f"{called} is {expected.value:g}, and {method.name} gives no score to a single stimulus"
            yield Problem(lesson.where, what, "", "Leave it out: any answer is right.")
        elif not scale.holds(expected.value):
            what = f"{called} is {expected.value:g}, which is not on the scale of {asked.question}"
            yield Problem(lesson.where, what, f"{scale.min:g} to {scale.max:g} in steps of {scale.step:g}")


def unasked(study: Study, method: Method, lessons: Lessons) -> Iterator[Problem]:
    """Yield expectations about questions that are not asked, or have no scale."""
    questions: Mapping[str, Question] = {question.id: question for question in method.questions(study)}
    scaled = [name for name, question in questions.items() if not question.ticks]
    for lesson in lessons.values():
        for name in lesson.expected:
            if name != EVERY and name not in scaled:
                said = "has ticks and no scale" if name in questions else "is not asked"
                what = f"{lesson.called('expected', name)} is about {name}, which {said}"
                yield Problem(lesson.where, what, ", ".join(scaled), did_you_mean(name, scaled))


def crowded(stimuli: Sequence[Stimulus], role: Role) -> Iterator[Problem]:
    """Yield contents with more stimuli of a role than a page has colours."""
    for content in contents_of(stimuli):
        many = [stimulus for stimulus in stimuli if stimulus.content == content]
        if len(many) > len(PALETTE):
            what = f"content {content} has {len(many)} {role} stimuli"
            where = many[-1].lesson.where if many[-1].lesson else "stimuli"
            yield Problem(where, what, f"up to {len(PALETTE)} of a content")


def unshown(stimuli: Sequence[Stimulus], shown: Collection[str], role: Role, method: Method) -> Iterator[Problem]:
    """Yield stimuli that are in no trial, for want of what the method shows beside them."""
    for stimulus in stimuli:
        if stimulus.id not in shown and stimulus.lesson is not None:
            yield Problem(
                stimulus.lesson.where,
                f"has nothing to be shown with: {method.name} needs another stimulus of content {stimulus.content}",
                "",
                f"Add one with role {role} and the same content, or the reference of that content.",
            )
