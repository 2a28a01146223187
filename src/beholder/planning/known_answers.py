"""Known answers about stimuli, as targets of a trial; whether they can be given; and a message's answer in words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from beholder.checks.contract import own_scores
from beholder.errors import Problem, did_you_mean
from beholder.methods.contract import Asked, Judgement, Method, Question, Scale, Slot, Trial
from beholder.planning.slots import PALETTE
from beholder.planning.trial_templates import contents_of
from beholder.stimuli.catalogue import Stimulus
from beholder.stimuli.known_answers import EVERY_QUESTION, KnownAnswer
from beholder.study.markdown import plain_text
from beholder.study.model import Study
from beholder.study.questions import shown_labels
from beholder.types import Json, Role
from beholder.words import LanguageWords


class AnsweredPlace(NamedTuple):
    """A question and slot that gets an answer of its own."""

    question: str
    slot: str
    kind: str
    """As in `Judgement`; `text` where the score is that of a text, and no value can be asked for."""


def judged_kinds(method: Method, trial: Trial) -> frozenset[str]:
    """Return the kinds of ratings that a trial gives, ticks excluded."""
    return frozenset(map(_kind, method.judgements(trial, _plain_answer(method, trial)))) - {"pick"}


def answered_kinds(method: Method, trial: Trial) -> frozenset[str]:
    """Return the kinds of answers in a trial, ticks excluded: where two scores make one rating, they are scores."""
    return frozenset(one.kind for one in answered_places(method, trial)) - {"pick"}


def answered_places(method: Method, trial: Trial) -> frozenset[AnsweredPlace]:
    """Return every place of a trial that is answered, by answering it once."""
    answer, places = _plain_answer(method, trial), set()
    is_scored = own_scores(answer) is not None
    for one in method.judgements(trial, answer):
        if one.kind == "diff" and is_scored:
            places |= {AnsweredPlace(one.question, str(slot), "score") for slot in (one.slot, one.other_slot)}
        else:
            places.add(AnsweredPlace(one.question, one.slot, _kind(one)))
    return frozenset(places)


def _kind(judgement: Judgement) -> str:
    return judgement.kind if judgement.heard is None else "text"


def _plain_answer(method: Method, trial: Trial) -> Json:
    percept = {f"{asked.id}.{slot.id}": 0.5 for asked in trial.asked for slot in trial.slots}
    return method.read(trial, method.respond(trial, percept, np.random.default_rng(0)))


# Targets

_SHARE = 0.25
"""Default tolerance, as a share of the scale."""

_SLIP = 0.03
"""Tolerance of messages on a slider, as a share of the scale: nobody can set it exactly."""

SCORED = ("score", "text")

COMPARED = ("score", "text", "diff", "choice")
"""Kinds of judgements that say something about one stimulus; a comparison is about both."""

AnswerKeys = Mapping[str, KnownAnswer]
"""Known answers by stimulus."""


def default_tolerance(scale: Scale) -> float:
    """Return the default tolerance of an expected answer: a quarter of the scale, in whole steps."""
    return _steps(scale, _SHARE)


def message_tolerance(scale: Scale) -> float:
    """Return the tolerance of an answer that a message asks for: none, except on a slider."""
    return _steps(scale, _SLIP) if scale.look == "slider" else 0.0


def _steps(scale: Scale, share: float) -> float:
    # With steps such as 0.1, a quarter is not exactly a number of steps.
    return float(np.floor(share * (scale.max - scale.min) / scale.step + 1e-9)) * scale.step


def answer_keys(stimuli: Sequence[Stimulus]) -> AnswerKeys:
    """Return the known answers of stimuli, by their ids."""
    return {stimulus.id: stimulus.known_answer for stimulus in stimuli if stimulus.known_answer is not None}


def answerable(method: Method, trial: Trial, kinds: Collection[str]) -> frozenset[tuple[str, str]]:
    """Return which (question, slot) get a judgement of these kinds."""
    places = set()
    for one in answered_places(method, trial):
        if one.kind in kinds:
            both = one.kind not in SCORED
            places |= {(one.question, slot.id) for slot in trial.slots if slot.rated and (both or slot.id == one.slot)}
    return frozenset(places)


def keyed_questions(trial: Trial, keys: AnswerKeys) -> Iterator[tuple[Asked, Slot, KnownAnswer]]:
    """Yield every question with a scale about a stimulus with a known answer."""
    for asked in trial.asked:
        for slot in trial.slots:
            if slot.rated and not asked.ticks and slot.stimulus in keys:
                yield asked, slot, keys[slot.stimulus]


# Problems


def target_problems(
    trial: Trial, keys: AnswerKeys, places: Collection[tuple[str, str]], method: Method
) -> Iterator[Problem]:
    """Yield expected answers that cannot be given: nothing is judged there, or not on this scale."""
    for asked, slot, answer in keyed_questions(trial, keys):
        expectation = answer.expectation(asked.question)
        if expectation is None:
            continue
        name, expected = expectation
        key, scale = answer.label("expected", name), asked.scale
        if (asked.question, slot.id) not in places:
            what = f"{key} is {expected.value:g}, and {method.name} gives no score to a single stimulus"
            yield Problem(answer.where, what, "", "Leave it out: any answer is right.")
        elif not scale.holds(expected.value):
            what = f"{key} is {expected.value:g}, which is not on the scale of {asked.question}"
            yield Problem(answer.where, what, f"{scale.min:g} to {scale.max:g} in steps of {scale.step:g}")


def unasked_problems(study: Study, method: Method, keys: AnswerKeys) -> Iterator[Problem]:
    """Yield expected answers to questions that are not asked, or have no scale."""
    questions: Mapping[str, Question] = {question.id: question for question in method.questions(study)}
    scaled = [name for name, question in questions.items() if not question.ticks]
    for answer in keys.values():
        for name in answer.expected:
            if name != EVERY_QUESTION and name not in scaled:
                why = "has ticks and no scale" if name in questions else "is not asked"
                what = f"{answer.label('expected', name)} is about {name}, which {why}"
                yield Problem(answer.where, what, ", ".join(scaled), did_you_mean(name, scaled))


def crowding_problems(stimuli: Sequence[Stimulus], role: Role) -> Iterator[Problem]:
    """Yield contents with more stimuli of a role than there are colours."""
    for content in contents_of(stimuli):
        many = [stimulus for stimulus in stimuli if stimulus.content == content]
        if len(many) > len(PALETTE):
            what = f"content {content} has {len(many)} {role} stimuli"
            where = many[-1].known_answer.where if many[-1].known_answer else "stimuli"
            yield Problem(where, what, f"up to {len(PALETTE)} of a content")


def unshown_problems(
    stimuli: Sequence[Stimulus], shown: Collection[str], role: Role, method: Method
) -> Iterator[Problem]:
    """Yield stimuli that are in no trial, because the method needs another stimulus to show them with."""
    for stimulus in stimuli:
        if stimulus.id not in shown and stimulus.known_answer is not None:
            yield Problem(
                stimulus.known_answer.where,
                f"has nothing to be shown with: {method.name} needs another stimulus of content {stimulus.content}",
                "",
                f"Add one with role {role} and the same content, or the reference of that content.",
            )


# Texts


def message_text(method: Method, trial: Trial, where: str, words: LanguageWords) -> str:
    """Return the answer that the stimulus at a question and slot, such as `q1.s2`, asked for, in words."""
    target = trial.targets[where]
    asked = next(one for one in trial.asked if one.id == where.partition(".")[0])
    if "choice" in answered_kinds(method, trial):
        return words["out_this"]
    label = plain_text(dict(shown_labels(asked.scale, words.language)).get(target.value, ""))
    key = "out_slider" if asked.scale.look == "slider" else "out_label" if label else "out_value"
    return words.say(key, value=target.value, label=label)


def message_label(method: Method, trial: Trial, where: str) -> str | None:
    """Return the letter of the stimulus that asked, if several are rated one by one."""
    labels = {slot.id: slot.label for slot in trial.slots if slot.rated}
    # A grade of the second against the first is asked for by the trial as a whole.
    is_one = len(labels) > 1 and "diff" not in answered_kinds(method, trial)
    return labels.get(where.partition(".")[2]) if is_one else None
