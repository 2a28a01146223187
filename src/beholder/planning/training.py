"""Training trials: the same for every list, made by the method from the training stimuli alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from numpy.random import Generator

from beholder.errors import PlanError, Problem
from beholder.methods.contract import Method, Scale, Target, Trial
from beholder.planning.known_answers import (
    SCORED,
    AnswerKeys,
    answer_keys,
    answerable,
    crowding_problems,
    default_tolerance,
    keyed_questions,
    message_tolerance,
    target_problems,
    unasked_problems,
    unshown_problems,
)
from beholder.planning.trial_templates import answer_templates, arrange_in_role, plain_study
from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.known_answers import Expectation
from beholder.study.model import Study


def is_trained(study: Study, catalogue: Catalogue) -> bool:
    """Return whether people practise before they rate."""
    return study.training is not False and bool(catalogue.training)


def training_problems(study: Study, catalogue: Catalogue, method: Method) -> Iterator[Problem]:
    """Yield what is wrong with the training whatever the method makes of it."""
    if is_trained(study, catalogue):
        yield from crowding_problems(catalogue.training, "training")
        yield from unasked_problems(study, method, answer_keys(catalogue.training))


def make_training(study: Study, catalogue: Catalogue, method: Method, rng: Generator) -> tuple[Trial, ...]:
    """Return the training trials in the order of the manifest, or raise PlanError with what the method cannot do."""
    if not is_trained(study, catalogue):
        return ()
    problems: list[Problem] = []
    places = {stimulus.id: place for place, stimulus in enumerate(catalogue.training)}
    pages = sorted(
        answer_templates(study, catalogue, method, catalogue.training),
        key=lambda page: sorted(places[name] for name in page.unit.stimuli if name in places),
    )
    lessons, plain = answer_keys(catalogue.training), plain_study(study)
    trials = []
    for number, page in enumerate(pages, 1):
        composed = page.compose(plain, method, rng)
        shown = arrange_in_role(composed, f"training:{number}", "training", page.shuffle, study, rng)
        scored = answerable(method, shown, SCORED)
        trials.append(_with_targets(shown, lessons, scored))
        problems += target_problems(shown, lessons, scored, method)
    problems += unshown_problems(
        catalogue.training, {name for page in pages for name in page.shows}, "training", method
    )
    if problems:
        raise PlanError(dict.fromkeys(problems))
    return tuple(trials)


def _with_targets(trial: Trial, lessons: AnswerKeys, scored: Collection[tuple[str, str]]) -> Trial:
    """Return the trial with what is expected of it, and what it stands for."""
    targets: dict[str, Target] = {}
    for asked, slot, lesson in keyed_questions(trial, lessons):
        found = lesson.expectation(asked.question)
        if found is not None and (asked.question, slot.id) in scored:
            targets[f"{asked.id}.{slot.id}"] = _target(asked.scale, found[1], is_trap=lesson.is_trap)
    named = [(slot.label, lessons[slot.stimulus].anchor) for slot in trial.slots if slot.stimulus in lessons]
    anchors = [f"{label}: {text}" if label in _letters(trial) else text for label, text in named if text]
    return replace(trial, purpose="train", targets=targets, anchor="; ".join(dict.fromkeys(anchors)))


def _letters(trial: Trial) -> set[str | None]:
    return {slot.label for slot in trial.slots if slot.rated and slot.label is not None}


def _target(scale: Scale, expected: Expectation, *, is_trap: bool) -> Target:
    usual = message_tolerance(scale) if is_trap else default_tolerance(scale)
    near = usual if expected.tolerance is None else expected.tolerance
    return Target(expected.value, near, expected.message, is_trap)


# --- What a stimulus asked for, in words: for whoever answered in another way ---
