"""Training trials: the same for every list, composed by the method from the training stimuli."""

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
    """Return whether participants have a training."""
    return study.training is not False and bool(catalogue.training)


def training_problems(study: Study, catalogue: Catalogue, method: Method) -> Iterator[Problem]:
    """Yield the problems with the training that do not depend on its trials."""
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
    keys, plain = answer_keys(catalogue.training), plain_study(study)
    trials = []
    for number, page in enumerate(pages, 1):
        composed = page.compose(plain, method, rng)
        shown = arrange_in_role(composed, f"training:{number}", "training", page.shuffle, study, rng)
        scored = answerable(method, shown, SCORED)
        trials.append(_with_targets(shown, keys, scored))
        problems += target_problems(shown, keys, scored, method)
    problems += unshown_problems(
        catalogue.training, {name for page in pages for name in page.shows}, "training", method
    )
    if problems:
        raise PlanError(dict.fromkeys(problems))
    return tuple(trials)


def _with_targets(trial: Trial, keys: AnswerKeys, scored: Collection[tuple[str, str]]) -> Trial:
    """Return the trial with its expected answers and the texts of its anchors."""
    targets: dict[str, Target] = {}
    for asked, slot, answer in keyed_questions(trial, keys):
        expected = answer.expectation(asked.question)
        if expected is not None and (asked.question, slot.id) in scored:
            targets[f"{asked.id}.{slot.id}"] = _target(asked.scale, expected[1], is_trap=answer.is_trap)
    texts = [(slot.label, keys[slot.stimulus].anchor) for slot in trial.slots if slot.stimulus in keys]
    anchors = [f"{label}: {text}" if label in _letters(trial) else text for label, text in texts if text]
    return replace(trial, purpose="train", targets=targets, anchor="; ".join(dict.fromkeys(anchors)))


def _letters(trial: Trial) -> set[str | None]:
    return {slot.label for slot in trial.slots if slot.rated and slot.label is not None}


def _target(scale: Scale, expected: Expectation, *, is_trap: bool) -> Target:
    default = message_tolerance(scale) if is_trap else default_tolerance(scale)
    tolerance = default if expected.tolerance is None else expected.tolerance
    return Target(expected.value, tolerance, expected.message, is_trap)
