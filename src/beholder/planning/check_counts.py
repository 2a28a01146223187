"""How many checks each list holds, and why a requested check is not possible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from beholder.checks.answer_patterns import Repeat
from beholder.checks.known_answers import NO_GOLD, Attention, Gold, MessageRule, Trap, TrapItem
from beholder.errors import Problem, did_you_mean
from beholder.formats import plain_count, up_to
from beholder.methods.contract import Method, Trial, Units
from beholder.planning.check_trials import APART, most_repeats
from beholder.planning.known_answers import (
    COMPARED,
    answer_keys,
    answerable,
    crowding_problems,
    judged_kinds,
    target_problems,
    unasked_problems,
    unshown_problems,
)
from beholder.planning.message_trials import is_board, message_sources, page_form, sample_trial
from beholder.planning.statements import bank_of, single_statements, statements_of
from beholder.planning.trial_templates import answer_templates, message_templates, plain_study
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.study.model import Study
from beholder.types import CheckRole, Role

FEWEST_STATEMENTS, FEWEST_REPEATED = 3, 5
"""Fewest statements of a trial for an obvious one, and for a repeated one."""


@dataclass(frozen=True)
class CheckCounts:
    """The number of checks of each kind per list; of statements on pages, per trial."""

    replaced: int = 0
    """Attention stimuli that replace others."""
    inserted: Mapping[CheckRole, int] = field(default_factory=dict)
    """Inserted trials by role."""
    obvious: int = 0
    repeated: int = 0
    problems: tuple[Problem, ...] = ()
    """Why a rule of the study is not possible."""

    @property
    def is_empty(self) -> bool:
        """Whether lists have no checks."""
        return not (self.replaced or any(self.inserted.values()) or self.obvious or self.repeated)


class PlacementContext(NamedTuple):
    """What a rule is checked against: the study, its stimuli, and a sample trial."""

    study: Study
    catalogue: Catalogue
    method: Method
    units: Units
    sample: Trial


def count_checks(study: Study, catalogue: Catalogue, method: Method, units: Units, trials: int) -> CheckCounts:
    """Return the checks per list of a study, for lists with `trials` rated trials."""
    if not any(rule.is_planned for rule, _ in study.checks.rules()):
        return CheckCounts()
    sample = sample_trial(study, catalogue, method)
    if sample is None:
        return CheckCounts()  # the method reports what is missing
    finder = _CheckCounter(PlacementContext(study, catalogue, method, units, sample), trials)
    # In the order of the rules they get room.
    requested = {rule.role: finder.requested(rule.role) for rule in study.checks.kinds if rule.role is not None}
    replaced = 0
    if is_board(units):
        replaced = finder.on_pages(requested.pop(Attention.role))
    inserted = finder.with_room(requested)
    # Where each statement comes in a trial of its own, these do as well, and are among the inserted ones.
    obvious, repeated = (0, 0) if units.asks else (finder.obvious(), finder.repeated())
    return CheckCounts(replaced, inserted, obvious, repeated, tuple(dict.fromkeys(finder.problems)))


class _CheckCounter:
    """Goes through the rules. An impossible rule is a problem if the study has it, and omitted if a preset has it."""

    def __init__(self, setting: PlacementContext, trials: int) -> None:
        self._setting, self._study, self._trials = setting, setting.study, trials
        is_scored = judged_kinds(setting.method, setting.sample) == {"score"}
        study, catalogue, method, units, sample = setting
        statements = single_statements(study, catalogue, method, units) if units.asks else statements_of(sample)
        self._statements = len(statements) if is_scored else 0
        # How often a stimulus comes with all of its statements, one by one; 0 if they share a page.
        self._dealt = max(1, trials // len(units.asks)) if units.asks else 0
        self.problems: list[Problem] = []

    def requested(self, role: CheckRole) -> int:
        """Return how many checks of a role a list should have, whatever room there is."""
        rule = self._study.checks.of_role(role)
        if isinstance(rule, Repeat.Options):
            return rule.trials + (self._dealt and self._dealt * self.repeated())
        if isinstance(rule, TrapItem.Options):
            return self._dealt and self._dealt * self.obvious()
        if isinstance(rule, Gold.Options):
            if not self._setting.catalogue.of_role(Gold.role):
                what = "is written, and no stimuli have the role gold"
                return self._omit(Gold.name, self._study.problem("checks.gold", what, "", NO_GOLD))
            return 0 if self._add(gold_problems(self._setting)) else rule.per_session
        if isinstance(rule, MessageRule.Options):
            reason = asking_problem(self._setting, role, rule)
            if reason is not None:
                return self._omit(role, reason)
            wrong = [
                *protection_problems(self._study, self._setting.catalogue, rule),
                *message_problems(self._setting, role),
            ]
            return 0 if self._add(wrong) else rule.per_session
        return 0

    def on_pages(self, requested: int) -> int:
        """Return how many attention stimuli replace others, at most one per trial."""
        most = self._trials
        if requested > most:
            what = f"is {requested}, and a list has {plain_count(most, 'page')}, with one on each at most"
            self._omit(Attention.name, self._study.problem("checks.attention.per_session", what, up_to(most)))
        return min(requested, most)

    def with_room(self, requested: Mapping[CheckRole, int]) -> dict[CheckRole, int]:
        """Return how many check trials of each role fit into a list; rules in the study come first.

        There is room for one between two rated trials, so that none is first, last, or next to another.
        """
        counts: dict[CheckRole, int] = {}
        for role in sorted(requested, key=lambda role: not self._study.is_written(f"checks.{role}")):
            most = self._trials - 1 - sum(counts.values())
            if role == Repeat.role:
                most = min(most, most_repeats(self._trials))
            if requested[role] > most:
                self._omit(role, self._too_many(role, requested[role], most, counts))
            counts[role] = max(0, min(requested[role], most))
        return counts

    def obvious(self) -> int:
        """Return how many statements with an obvious answer each trial has, or each stimulus with single statements."""
        rule = self._study.checks.of(TrapItem.Options)
        if rule is None:
            return 0
        statements, bank = self._statements, len(bank_of(rule, self._study.language))
        if statements < FEWEST_STATEMENTS:
            survey = "a survey" if self._dealt else "pages"
            what = f"does not fit {survey} with {plain_count(statements, 'statement')} on a scale of categories"
            allowed = f"{FEWEST_STATEMENTS} or more"
            return self._omit(TrapItem.name, self._study.problem("checks.trap_item", what, allowed))
        if rule.per_trial > bank:
            what = f"is {rule.per_trial}, and the bank has {plain_count(bank, 'statement')}"
            self._add([self._study.problem("checks.trap_item.per_trial", what, up_to(bank))])
        return rule.per_trial

    def repeated(self) -> int:
        """Return how many statements of each trial are repeated, or of each stimulus with single statements."""
        rule = self._study.checks.of(Repeat.Options)
        if rule is None or not rule.items_per_trial:
            return 0
        if self._statements < FEWEST_REPEATED:
            statements = plain_count(self._statements, "statement")
            survey, pages = ("the survey", "surveys") if self._dealt else ("a page", "pages")
            what = f"is {rule.items_per_trial}, and {survey} has {statements} on a scale of categories"
            allowed = f"{pages} with {FEWEST_REPEATED} or more"
            return self._omit(Repeat.name, self._study.problem("checks.repeat.items_per_trial", what, allowed))
        return rule.items_per_trial

    def _too_many(self, role: CheckRole, requested: int, most: int, others: Mapping[CheckRole, int]) -> Problem:
        trials = plain_count(self._trials, "trial")
        taken = [f"{number} for {other}" for other, number in others.items() if number]
        places = plain_count(self._trials - 1, "place")
        key, number, each = self._key_of(role, requested)
        makes = "" if number == requested else f", which makes {plain_count(requested, 'trial')}"
        what = f"is {number}{makes}, and a list of {trials} has {places} between them"
        what += f", {' and '.join(taken)}" if taken else ""
        if role == Repeat.role:
            what += f", and each comes again {APART} or more trials later"
        allowed = max(0, (most - requested) // each + number)
        what += "" if allowed > 0 else ", so that none fits"
        fix = "" if allowed > 0 else "Make design.trials larger, or take it out."
        return self._study.problem(f"checks.{role}.{key}", what, up_to(allowed), fix)

    def _key_of(self, role: CheckRole, requested: int) -> tuple[str, int, int]:
        """Return the key that says how many trials of a role there are, its value, and the trials of each of them."""
        rule = self._study.checks.of_role(role)
        if isinstance(rule, TrapItem.Options):
            return "per_trial", rule.per_trial, self._dealt
        if self._dealt and isinstance(rule, Repeat.Options) and rule.items_per_trial:
            return "items_per_trial", rule.items_per_trial, self._dealt
        return "per_session", requested, 1

    def _add(self, problems: Iterable[Problem]) -> bool:
        added = list(problems)
        self.problems += added
        return bool(added)

    def _omit(self, name: str, problem: Problem) -> int:
        """Return 0, and add the problem if the rule is written in the study."""
        if self._study.is_written(f"checks.{name}"):
            self.problems.append(problem)
        return 0


# Problems of stimuli for checks


def asking_problem(setting: PlacementContext, role: Role, rule: MessageRule.Options) -> Problem | None:
    """Return why no stimulus can ask for an answer here; None if one can."""
    study, catalogue, method, units, _ = setting
    key = f"checks.{role}"
    if role == Trap.role and is_board(units):
        what = f"does not fit {method.name}, whose pages hold several stimuli"
        return study.problem(key, what, "", "Use checks.attention.")
    form = page_form(study, catalogue, method, rule)
    if form is None:
        return study.problem(key, f"does not fit {method.name}: none of its answers can be asked for")
    if rule.words and form.wording != "this" and not ("{value}" in rule.words or "{label}" in rule.words):
        what = "do not say which answer to give, so that nobody could know it"
        return study.problem(f"{key}.words", what, "words with {value} or {label} in them")
    if form.tolerance * 4 >= form.span and form.wording != "this":
        what = f"is {form.tolerance:g}, on a scale of {form.span:g}: half of all answers would do"
        return study.problem(f"{key}.tolerance", what, f"below {form.span / 4:g}")
    if not _own(catalogue, role) and not any(message_sources(study, catalogue, units, rule)):
        what = "has no stimulus that could ask: every condition is protected"
        return study.problem(key, what, "", "Leave one out of checks.attention.protect or design.always.")
    return None


def protection_problems(study: Study, catalogue: Catalogue, rule: MessageRule.Options) -> Iterator[Problem]:
    """Yield protected names that are no conditions."""
    conditions = catalogue.conditions
    for place, word in enumerate(rule.protect if isinstance(rule, Attention.Options) else ()):
        if word not in conditions:
            what, near = f"is {word}, which is no condition", did_you_mean(word, conditions)
            yield study.problem(f"checks.attention.protect.{place}", what, ", ".join(conditions), near)


def message_problems(setting: PlacementContext, role: Role) -> Iterator[Problem]:
    """Yield the problems with the researcher's own stimuli that ask for an answer."""
    study, catalogue, method, units, sample = setting
    own = _own(catalogue, role)
    yield from unasked_problems(study, method, answer_keys(own))
    shown: list[str] = []
    for clip in own:
        if is_board(units):
            trials = [_on(sample, clip)] if clip.content in catalogue.contents else []
        else:
            pages = message_templates(study, catalogue, method, clip)
            trials = [page.compose(study, method, np.random.default_rng(0)) for page in pages]
        shown += [clip.id] * bool(trials)
        for trial in trials:
            yield from _target_problems(trial, [clip], method)
    if is_board(units):
        yield from _content_problems(catalogue, [clip for clip in own if clip.id not in shown])
    else:
        yield from unshown_problems(own, shown, role, method)


def gold_problems(setting: PlacementContext) -> Iterator[Problem]:
    """Yield the problems with the gold stimuli."""
    study, catalogue, method, _, _ = setting
    gold = catalogue.of_role(Gold.role)
    wrong = [*crowding_problems(gold, Gold.role), *unasked_problems(study, method, answer_keys(gold))]
    yield from wrong
    if wrong:
        return
    shown: list[str] = []
    for page in answer_templates(study, catalogue, method, gold):
        shown += page.shows
        trial = page.compose(plain_study(study), method, np.random.default_rng(0))
        yield from _target_problems(trial, gold, method)
    yield from unshown_problems(gold, shown, Gold.role, method)


def _own(catalogue: Catalogue, role: Role) -> list[Stimulus]:
    """Return the researcher's own stimuli of a role."""
    return [stimulus for stimulus in catalogue.of_role(role) if not stimulus.derived_from]


def _target_problems(trial: Trial, stimuli: Sequence[Stimulus], method: Method) -> Iterator[Problem]:
    yield from target_problems(trial, answer_keys(stimuli), answerable(method, trial, COMPARED), method)


def _on(sample: Trial, clip: Stimulus) -> Trial:
    """Return a trial with a stimulus in every rated slot."""
    slots = (slot._replace(stimulus=clip.id) if slot.rated else slot for slot in sample.slots)
    return replace(sample, slots=tuple(slots))


def _content_problems(catalogue: Catalogue, clips: Sequence[Stimulus]) -> Iterator[Problem]:
    """Yield stimuli whose content is in no trial."""
    for clip in clips:
        if clip.known_answer is not None:
            what = f"is of content {clip.content}, and no page has that content"
            near = did_you_mean(clip.content, catalogue.contents)
            yield Problem(clip.known_answer.where, what, ", ".join(catalogue.contents), near)
