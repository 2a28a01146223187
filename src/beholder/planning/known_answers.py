"""Trials that are not dealt: practice, gold, stimuli that ask. Made by the method from a few stimuli of one content."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from beholder.errors import Problem, did_you_mean
from beholder.methods.contract import Asked, Method, Question, Scale, Slot, Trial
from beholder.planning.slots import PALETTE
from beholder.planning.trial_templates import contents_of
from beholder.stimuli.catalogue import Stimulus
from beholder.stimuli.known_answers import EVERY_QUESTION, KnownAnswer
from beholder.study.model import Study
from beholder.types import Role

# --- What a method makes of an answer: which questions and slots get which kind of judgement ---


class JudgedPlace(NamedTuple):
    """A place that gets a judgement of its own."""

    question: str
    slot: str
    kind: str


def judged_places(method: Method, trial: Trial) -> frozenset[JudgedPlace]:
    """Return every place of a trial that is judged, found out by answering once."""
    percept = {f"{asked.id}.{slot.id}": 0.5 for asked in trial.asked for slot in trial.slots}
    answer = method.read(trial, method.respond(trial, percept, np.random.default_rng(0)))
    return frozenset(JudgedPlace(one.question, one.slot, one.kind) for one in method.judgements(trial, answer))


def judged_kinds(method: Method, trial: Trial) -> frozenset[str]:
    """Return the kinds of judgements on a trial, but for what is ticked."""
    return frozenset(one.kind for one in judged_places(method, trial)) - {"pick"}


_SHARE = 0.25
"""Tolerance where none is written, as a share of the scale."""


_SLIP = 0.03
"""What is allowed on a slider of what asks for an answer, as a share of the scale: nobody sets it to a point."""


SCORED = ("score",)


COMPARED = ("score", "diff", "choice")
"""Kinds of judgements from which an answer about one stimulus can be told; a comparison says the same of either."""


AnswerKeys = Mapping[str, KnownAnswer]
"""By stimulus."""


def default_tolerance(scale: Scale) -> float:
    """Return how far from an expected answer is near enough: a quarter of the scale, in whole steps."""
    return _steps(scale, _SHARE)


def message_tolerance(scale: Scale) -> float:
    """Return how far an answer may be from what was asked for: exact, but for a slider."""
    return _steps(scale, _SLIP) if scale.look == "slider" else 0.0


def _steps(scale: Scale, share: float) -> float:
    # Scales have steps such as 0.1, of which a quarter is not exactly a number of steps.
    return float(np.floor(share * (scale.max - scale.min) / scale.step + 1e-9)) * scale.step


def answer_keys(stimuli: Sequence[Stimulus]) -> AnswerKeys:
    """Return what is written beside stimuli, by their ids."""
    return {stimulus.id: stimulus.known_answer for stimulus in stimuli if stimulus.known_answer is not None}


def answerable(method: Method, trial: Trial, kinds: Collection[str]) -> frozenset[tuple[str, str]]:
    """Return which (question, slot) get a judgement of these kinds."""
    found = set()
    for one in judged_places(method, trial):
        if one.kind in kinds:
            both = one.kind != "score"
            found |= {(one.question, slot.id) for slot in trial.slots if slot.rated and (both or slot.id == one.slot)}
    return frozenset(found)


def keyed_questions(trial: Trial, lessons: AnswerKeys) -> Iterator[tuple[Asked, Slot, KnownAnswer]]:
    """Yield every question with a scale that is asked about a stimulus with a lesson."""
    for asked in trial.asked:
        for slot in trial.slots:
            if slot.rated and not asked.ticks and slot.stimulus in lessons:
                yield asked, slot, lessons[slot.stimulus]


def target_problems(
    trial: Trial, lessons: AnswerKeys, places: Collection[tuple[str, str]], method: Method
) -> Iterator[Problem]:
    """Yield answers that are expected and cannot be given, as nothing is judged there, or not on this scale."""
    for asked, slot, lesson in keyed_questions(trial, lessons):
        found = lesson.expectation(asked.question)
        if found is None:
            continue
        name, expected = found
        called, scale = lesson.label("expected", name), asked.scale
        if (asked.question, slot.id) not in places:
            what = f"{called} is {expected.value:g}, and {method.name} gives no score to a single stimulus"
            yield Problem(lesson.where, what, "", "Leave it out: any answer is right.")
        elif not scale.holds(expected.value):
            what = f"{called} is {expected.value:g}, which is not on the scale of {asked.question}"
            yield Problem(lesson.where, what, f"{scale.min:g} to {scale.max:g} in steps of {scale.step:g}")


def unasked_problems(study: Study, method: Method, lessons: AnswerKeys) -> Iterator[Problem]:
    """Yield expectations about questions that are not asked, or have no scale."""
    questions: Mapping[str, Question] = {question.id: question for question in method.questions(study)}
    scaled = [name for name, question in questions.items() if not question.ticks]
    for lesson in lessons.values():
        for name in lesson.expected:
            if name != EVERY_QUESTION and name not in scaled:
                said = "has ticks and no scale" if name in questions else "is not asked"
                what = f"{lesson.label('expected', name)} is about {name}, which {said}"
                yield Problem(lesson.where, what, ", ".join(scaled), did_you_mean(name, scaled))


def crowding_problems(stimuli: Sequence[Stimulus], role: Role) -> Iterator[Problem]:
    """Yield contents with more stimuli of a role than a page has colours."""
    for content in contents_of(stimuli):
        many = [stimulus for stimulus in stimuli if stimulus.content == content]
        if len(many) > len(PALETTE):
            what = f"content {content} has {len(many)} {role} stimuli"
            where = many[-1].known_answer.where if many[-1].known_answer else "stimuli"
            yield Problem(where, what, f"up to {len(PALETTE)} of a content")


def unshown_problems(
    stimuli: Sequence[Stimulus], shown: Collection[str], role: Role, method: Method
) -> Iterator[Problem]:
    """Yield stimuli that are in no trial, for want of what the method shows beside them."""
    for stimulus in stimuli:
        if stimulus.id not in shown and stimulus.known_answer is not None:
            yield Problem(
                stimulus.known_answer.where,
                f"has nothing to be shown with: {method.name} needs another stimulus of content {stimulus.content}",
                "",
                f"Add one with role {role} and the same content, or the reference of that content.",
            )


def message_text(method: Method, trial: Trial, where: str, words: Mapping[str, str]) -> str:
    """Return what the stimulus at a question and slot, as `q1.s2`, asked for itself."""
    target = trial.targets[where]
    asked = next(one for one in trial.asked if one.id == where.partition(".")[0])
    if "choice" in judged_kinds(method, trial):
        return words["out_this"]
    label = dict(asked.scale.labels).get(target.value, "")
    way = "out_slider" if asked.scale.look == "slider" else "out_label" if label else "out_value"
    return words[way].format(value=f"{target.value:g}", label=label)


def message_label(method: Method, trial: Trial, where: str) -> str | None:
    """Return the letter of the stimulus that asked, where several are rated one by one."""
    labels = {slot.id: slot.label for slot in trial.slots if slot.rated}
    # How much better the second is than the first is asked for by the page as a whole.
    is_one = len(labels) > 1 and "diff" not in judged_kinds(method, trial)
    return labels.get(where.partition(".")[2]) if is_one else None
