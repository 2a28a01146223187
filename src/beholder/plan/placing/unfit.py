"""Why the rules of a study cannot have the stimuli that they need: none can ask, or an answer cannot be given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from beholder.errors import Problem, did_you_mean
from beholder.methods.contract import Method, Trial, Units
from beholder.plan.placing.clips import asking_sources, is_board, page_form
from beholder.plan.teaching.composing import asking_pages, lesson_pages, plain_study
from beholder.plan.teaching.lessons import COMPARED, answerable, crowded, lessons_of, unasked, unshown, wrong_targets
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.study.checks import Asking, Attention
from beholder.study.model import Study
from beholder.types import Role


class Setting(NamedTuple):
    """What a rule finds: the study, its stimuli, and a page as the method makes it."""

    study: Study
    catalogue: Catalogue
    method: Method
    units: Units
    sample: Trial


def unaskable(setting: Setting, role: Role, rule: Asking) -> Problem | None:
    """Return why no stimulus can ask for an answer here, None where one can."""
    study, catalogue, method, units, _ = setting
    key = f"checks.{role}"
    if role == "trap" and is_board(units):
        what = f"does not fit {method.name}, whose pages hold several stimuli"
        return study.problem(key, what, "", "Use checks.attention.")
    form = page_form(study, catalogue, method, rule)
    if form is None:
        return study.problem(key, f"does not fit {method.name}: none of its answers can be asked for")
    if rule.words and form.way != "this" and not ("{value}" in rule.words or "{label}" in rule.words):
        what = "do not say which answer to give, so that nobody could know it"
        return study.problem(f"{key}.words", what, "words with {value} or {label} in them")
    if form.tolerance * 4 >= form.span and form.way != "this":
        what = f"is {form.tolerance:g}, on a scale of {form.span:g}: half of all answers would do"
        return study.problem(f"{key}.tolerance", what, f"below {form.span / 4:g}")
    if not _own(catalogue, role) and not any(asking_sources(study, catalogue, units, rule)):
        what = "has no stimulus that could ask: every condition is protected"
        return study.problem(key, what, "", "Leave one out of checks.attention.protect or design.always.")
    return None


def unprotected(study: Study, catalogue: Catalogue, rule: Asking) -> Iterator[Problem]:
    """Yield what is to be protected and is no condition."""
    known = catalogue.conditions
    for place, word in enumerate(rule.protect if isinstance(rule, Attention) else ()):
        if word not in known:
            what, near = f"is {word}, which is no condition", did_you_mean(word, known)
            yield study.problem(f"checks.attention.protect.{place}", what, ", ".join(known), near)


def wrong_asking(setting: Setting, role: Role) -> Iterator[Problem]:
    """Yield what is wrong with the researcher's own stimuli that ask for an answer."""
    study, catalogue, method, units, sample = setting
    own = _own(catalogue, role)
    yield from unasked(study, method, lessons_of(own))
    shown: list[str] = []
    for clip in own:
        if is_board(units):
            trials = [_on(sample, clip)] if clip.content in catalogue.contents else []
        else:
            pages = asking_pages(study, catalogue, method, clip)
            trials = [page.compose(study, method, np.random.default_rng(0)) for page in pages]
        shown += [clip.id] * bool(trials)
        for trial in trials:
            yield from _unanswerable(trial, [clip], method)
    if is_board(units):
        yield from _elsewhere(catalogue, [clip for clip in own if clip.id not in shown])
    else:
        yield from unshown(own, shown, role, method)


def wrong_gold(setting: Setting) -> Iterator[Problem]:
    """Yield what is wrong with the gold stimuli."""
    study, catalogue, method, _, _ = setting
    gold = catalogue.of_role("gold")
    found = [*crowded(gold, "gold"), *unasked(study, method, lessons_of(gold))]
    yield from found
    if found:
        return
    shown: list[str] = []
    for page in lesson_pages(study, catalogue, method, gold):
        shown += page.shows
        trial = page.compose(plain_study(study), method, np.random.default_rng(0))
        yield from _unanswerable(trial, gold, method)
    yield from unshown(gold, shown, "gold", method)


def _own(catalogue: Catalogue, role: Role) -> list[Stimulus]:
    """Return the asking stimuli that we have not made."""
    return [stimulus for stimulus in catalogue.of_role(role) if not stimulus.made_of]


def _unanswerable(trial: Trial, stimuli: Sequence[Stimulus], method: Method) -> Iterator[Problem]:
    yield from wrong_targets(trial, lessons_of(stimuli), answerable(method, trial, COMPARED), method)


def _on(sample: Trial, clip: Stimulus) -> Trial:
    """Return a page on which a stimulus stands wherever something is rated."""
    slots = (slot._replace(stimulus=clip.id) if slot.rated else slot for slot in sample.slots)
    return replace(sample, slots=tuple(slots))


def _elsewhere(catalogue: Catalogue, clips: Sequence[Stimulus]) -> Iterator[Problem]:
    """Yield that stimuli belong to no page."""
    for clip in clips:
        if clip.lesson is not None:
            what = f"is of content {clip.content}, and no page has that content"
            near = did_you_mean(clip.content, catalogue.contents)
            yield Problem(clip.lesson.where, what, ", ".join(catalogue.contents), near)
