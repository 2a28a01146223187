"""Training trials: the same for every list, made by the method from the training stimuli alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from beholder.errors import PlanError, Problem, did_you_mean
from beholder.methods.contract import Asked, Method, Question, Scale, Slot, Target, Trial, Unit
from beholder.plan.slots import PALETTE, arrange, draw_colours
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.stimuli.lesson import EVERY, Expectation, Lesson
from beholder.study.model import Design, Study

_SHARE = 0.25
"""Tolerance where none is written, as a share of the scale."""
_SLIP = 0.03
"""What a trap allows on a slider, as a share of the scale: nobody sets it to a point."""


class _Made(NamedTuple):
    """A composed trial and the places of its stimuli among the lessons."""

    places: tuple[int, ...]
    trial: Trial
    shuffle: str


def is_trained(study: Study, catalogue: Catalogue) -> bool:
    """Return whether people practise before they rate."""
    return study.training is not False and bool(catalogue.training)


def lesson_problems(study: Study, catalogue: Catalogue, method: Method) -> Iterator[Problem]:
    """Yield what is wrong with the training whatever the method makes of it."""
    if is_trained(study, catalogue):
        yield from _crowded(catalogue)
        yield from _unasked(study, catalogue, method)


def make_training(study: Study, catalogue: Catalogue, method: Method, rng: Generator) -> tuple[Trial, ...]:
    """Return the training trials in the order of the manifest, or raise PlanError with what the method cannot do."""
    if not is_trained(study, catalogue):
        return ()
    problems: list[Problem] = []
    plain = study.model_copy(update={"design": Design(seed=study.design.seed)})
    made = [trial for content in _contents(catalogue) for trial in _compose(plain, catalogue, method, content, rng)]
    made.sort(key=lambda one: one.places)
    lessons = {stimulus.id: stimulus.lesson for stimulus in catalogue.training if stimulus.lesson is not None}
    trials = []
    for number, one in enumerate(made, 1):
        turned = one.shuffle == "order" and not study.design.both_orders
        shown = _arranged(one.trial, f"training:{number}", "none" if turned else one.shuffle, rng)
        scored = _scored(method, shown)
        trials.append(_taught(shown, lessons, scored))
        problems += _wrong_targets(shown, lessons, scored, method)
    problems += _unshown(catalogue, method, trials)
    if problems:
        raise PlanError(dict.fromkeys(problems))
    return tuple(trials)


def default_tolerance(scale: Scale) -> float:
    """Return how far from an expected answer is near enough: a quarter of the scale, in whole steps."""
    return _steps(scale, _SHARE)


def _steps(scale: Scale, share: float) -> float:
    # Scales have steps such as 0.1, of which a quarter is not exactly a number of steps.
    return float(np.floor(share * (scale.max - scale.min) / scale.step + 1e-9)) * scale.step


def _contents(catalogue: Catalogue) -> list[str]:
    return list(dict.fromkeys(stimulus.content for stimulus in catalogue.training))


def _compose(study: Study, catalogue: Catalogue, method: Method, content: str, rng: Generator) -> list[_Made]:
    """Return the trials of one content: of its training stimuli, and of the study's reference where that is needed."""
    roles = {stimulus.condition: stimulus.role for stimulus in catalogue.by_cell.values()}
    places = {stimulus.id: place for place, stimulus in enumerate(catalogue.training)}
    taught = [replace(s, role=roles.get(s.condition, "test")) for s in catalogue.training if s.content == content]
    tries = [taught]
    reference = catalogue.references.get(content)
    if reference is not None and all(stimulus.role != "reference" for stimulus in taught):
        # Where every trial of the study holds the reference, so does every training trial.
        tries.insert(0 if _is_held(study, catalogue, method) else 1, [*taught, reference])
    for stimuli in tries:
        made = _composed(study, method, _small(catalogue, stimuli), places, rng)
        shown = {slot.stimulus for one in made for slot in one.trial.slots}
        if shown.issuperset(stimulus.id for stimulus in taught):
            return made
    return []


def _is_held(study: Study, catalogue: Catalogue, method: Method) -> bool:
    """Return whether a reference is dealt into every trial."""
    references = {stimulus.id for stimulus in catalogue.references.values()}
    return all(not references.isdisjoint(unit.stimuli) for unit in method.units(study, catalogue).items)


def _composed(
    study: Study, method: Method, catalogue: Catalogue, places: Mapping[str, int], rng: Generator
) -> list[_Made]:
    """Return what a method makes of these stimuli; nothing where it lacks a reference."""
    made = []
    try:
        units = method.units(study, catalogue)
        for unit in units.items:
            known = tuple(places[stimulus] for stimulus in unit.stimuli if stimulus in places)
            if not known:
                continue
            for asks in units.asks or ((),):
                trial = method.compose(study, Unit(unit.content, unit.stimuli, asks), catalogue, rng)
                made.append(_Made(tuple(sorted(known)), trial, units.shuffle))
    except LookupError:
        return []
    return made


def _small(catalogue: Catalogue, stimuli: Sequence[Stimulus]) -> Catalogue:
    """Return a catalogue of a few stimuli, conditions of the study in its order."""
    there = list(dict.fromkeys(stimulus.condition for stimulus in stimuli))
    known = [condition for condition in catalogue.conditions if condition in there]
    others = [condition for condition in there if condition not in known]
    return Catalogue(tuple(stimuli), (*known, *others), tuple(dict.fromkeys(s.content for s in stimuli)))


def _arranged(trial: Trial, name: str, shuffle: str, rng: Generator) -> Trial:
    free = sum(slot.label is None for slot in trial.slots)
    order = list(range(free)) if shuffle == "none" else rng.permutation(free).tolist()
    shown = arrange(trial, name, order, draw_colours(1, free, rng)[0].tolist())
    slots = tuple(slot._replace(role="training") if slot.rated else slot for slot in shown.slots)
    return replace(shown, purpose="train", slots=slots)


def _scored(method: Method, trial: Trial) -> frozenset[tuple[str, str]]:
    """Return which (question, slot) get a score of their own, found out by answering once."""
    percept = {f"{asked.id}.{slot.id}": 0.5 for asked in trial.asked for slot in trial.slots}
    answer = method.read(trial, method.respond(trial, percept, np.random.default_rng(0)))
    judged = method.judgements(trial, answer)
    return frozenset((one.question, one.slot) for one in judged if one.kind == "score")


def _taught(trial: Trial, lessons: Mapping[str, Lesson], scored: frozenset[tuple[str, str]]) -> Trial:
    """Return the trial with what is expected of it, and what it stands for."""
    targets: dict[str, Target] = {}
    for asked, slot, lesson in _asked_about(trial, lessons):
        found = lesson.of(asked.question)
        if found is not None and (asked.question, slot.id) in scored:
            targets[f"{asked.id}.{slot.id}"] = _target(asked.scale, found[1], is_trap=lesson.is_trap)
    named = [(slot.label, lessons[slot.stimulus].anchor) for slot in trial.slots if slot.stimulus in lessons]
    anchors = [f"{label}: {text}" if label in _letters(trial) else text for label, text in named if text]
    return replace(trial, targets=targets, anchor="; ".join(dict.fromkeys(anchors)))


def _letters(trial: Trial) -> set[str | None]:
    return {slot.label for slot in trial.slots if slot.rated and slot.label is not None}


def _target(scale: Scale, expected: Expectation, *, is_trap: bool) -> Target:
    near = expected.tolerance
    if near is None and is_trap:
        near = _steps(scale, _SLIP) if scale.look == "slider" else 0.0
    return Target(expected.value, default_tolerance(scale) if near is None else near, expected.message, is_trap)


def _asked_about(trial: Trial, lessons: Mapping[str, Lesson]) -> Iterator[tuple[Asked, Slot, Lesson]]:
    for asked in trial.asked:
        for slot in trial.slots:
            if slot.rated and not asked.ticks and slot.stimulus in lessons:
                yield asked, slot, lessons[slot.stimulus]


def _wrong_targets(
    trial: Trial, lessons: Mapping[str, Lesson], scored: frozenset[tuple[str, str]], method: Method
) -> Iterator[Problem]:
    """Yield answers that are expected and cannot be given."""
    for asked, slot, lesson in _asked_about(trial, lessons):
        found = lesson.of(asked.question)
        if found is None:
            continue
        name, expected = found
        called, scale = lesson.called("expected", name), asked.scale
        if (asked.question, slot.id) not in scored:
            what = f"{called} is {expected.value:g}, and {method.name} gives no score to a single stimulus"
            yield Problem(lesson.where, what, "", "Leave it out: any answer is right.")
        elif not scale.holds(expected.value):
            what = f"{called} is {expected.value:g}, which is not on the scale of {asked.question}"
            yield Problem(lesson.where, what, f"{scale.min:g} to {scale.max:g} in steps of {scale.step:g}")


def _unasked(study: Study, catalogue: Catalogue, method: Method) -> Iterator[Problem]:
    """Yield expectations about questions that are not asked, or have no scale."""
    questions: Mapping[str, Question] = {question.id: question for question in method.questions(study)}
    scaled = [name for name, question in questions.items() if not question.ticks]
    for stimulus in catalogue.training:
        lesson = stimulus.lesson
        for name in lesson.expected if lesson is not None else ():
            if lesson is not None and name != EVERY and name not in scaled:
                said = "has ticks and no scale" if name in questions else "is not asked"
                what = f"{lesson.called('expected', name)} is about {name}, which {said}"
                yield Problem(lesson.where, what, ", ".join(scaled), did_you_mean(name, scaled))


def _crowded(catalogue: Catalogue) -> Iterator[Problem]:
    """Yield contents with more training stimuli than a page has colours."""
    for content in _contents(catalogue):
        many = [stimulus for stimulus in catalogue.training if stimulus.content == content]
        if len(many) > len(PALETTE):
            what = f"content {content} has {len(many)} training stimuli"
            where = many[-1].lesson.where if many[-1].lesson else "stimuli"
            yield Problem(where, what, f"up to {len(PALETTE)} of a content")


def _unshown(catalogue: Catalogue, method: Method, trials: Sequence[Trial]) -> Iterator[Problem]:
    """Yield training stimuli that are in no trial, for want of what the method shows beside them."""
    shown = {slot.stimulus for trial in trials for slot in trial.slots}
    for stimulus in catalogue.training:
        if stimulus.id not in shown and stimulus.lesson is not None:
            yield Problem(
                stimulus.lesson.where,
                f"has nothing to be shown with: {method.name} needs another stimulus of content {stimulus.content}",
                "",
                "Add one with role training and the same content, or the reference of that content.",
            )
