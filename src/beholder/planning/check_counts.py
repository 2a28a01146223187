"""How many checks each list holds: as many as the study says, or as fit where only a preset asks for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from beholder.checks.registry import NO_GOLD
from beholder.errors import Problem, did_you_mean
from beholder.methods.contract import Method, Trial, Units
from beholder.planning.check_trials import APART, most_repeats
from beholder.planning.grid import count
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
from beholder.planning.statements import bank_of, statements_of
from beholder.planning.trial_templates import answer_templates, message_templates, plain_study
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.study.checks import PLANNED_RULES, AskingOptions, Attention, Gold, Repeat, TrapItem
from beholder.study.model import Study
from beholder.types import Role

INSERTED: tuple[Role, ...] = ("attention", "trap", "gold", "repeat")
"""Rules that can put trials of their own into a list, and the roles of these, in the order in which they get room."""
FEWEST_STATEMENTS, FEWEST_REPEATED = 3, 5
"""Statements of a page between which an obvious one is one of many, and of which one can come again."""


@dataclass(frozen=True)
class CheckCounts:
    """How many of each a list holds; of statements, each page."""

    replaced: int = 0
    """Attention stimuli in place of others."""
    inserted: Mapping[Role, int] = field(default_factory=dict)
    """Trials of their own."""
    obvious: int = 0
    again: int = 0
    problems: tuple[Problem, ...] = ()
    """Why what is written cannot be kept."""

    @property
    def is_nothing(self) -> bool:
        """Whether lists hold nothing but what is rated."""
        return not (self.replaced or any(self.inserted.values()) or self.obvious or self.again)


def count_checks(study: Study, catalogue: Catalogue, method: Method, units: Units, trials: int) -> CheckCounts:
    """Return what the lists of a study hold besides what is rated, of which there are so many trials in each."""
    if not any(study.checks.rule(name) for name in PLANNED_RULES):
        return CheckCounts()
    sample = sample_trial(study, catalogue, method)
    if sample is None:
        return CheckCounts()  # what is missing is told by the method
    finder = _CheckCounter(CheckContext(study, catalogue, method, units, sample), trials)
    wished = {role: finder.wished(role) for role in INSERTED}
    replaced = 0
    if is_board(units):
        replaced = finder.on_pages(wished.pop("attention"))
    inserted = finder.with_room(wished)
    obvious, again = finder.obvious(), finder.again()
    return CheckCounts(replaced, inserted, obvious, again, tuple(dict.fromkeys(finder.problems)))


class _CheckCounter:
    """Looks at one rule after the other. What a rule that is written cannot get is a problem, else it is left out."""

    def __init__(self, setting: CheckContext, trials: int) -> None:
        self._setting, self._study, self._trials = setting, setting.study, trials
        is_scored = judged_kinds(setting.method, setting.sample) == {"score"}
        self._statements = len(statements_of(setting.sample)) if is_scored else 0
        self.problems: list[Problem] = []

    def wished(self, role: Role) -> int:
        """Return how many of a rule there should be in a list, whatever room there is."""
        rule = self._study.checks.rule(role)
        if isinstance(rule, Repeat):
            return rule.trials
        if isinstance(rule, Gold):
            if not self._setting.catalogue.of_role("gold"):
                what = "is written, and no stimuli have the role gold"
                return self._left_out("gold", self._study.problem("checks.gold", what, "", NO_GOLD))
            return 0 if self._told(gold_problems(self._setting)) else rule.per_session
        if isinstance(rule, AskingOptions):
            reason = asking_problem(self._setting, role, rule)
            if reason is not None:
                return self._left_out(role, reason)
            told = [
                *protection_problems(self._study, self._setting.catalogue, rule),
                *message_problems(self._setting, role),
            ]
            return 0 if self._told(told) else rule.per_session
        return 0

    def on_pages(self, wished: int) -> int:
        """Return how many attention stimuli stand in place of others, one on a page at most."""
        most = self._trials
        if wished > most:
            what = f"is {wished}, and a list has {count(most, 'page', 'pages')}, with one on each at most"
            self._left_out("attention", self._study.problem("checks.attention.per_session", what, _up_to(most)))
        return min(wished, most)

    def with_room(self, wished: Mapping[Role, int]) -> dict[Role, int]:
        """Return how many trials of each rule a list has room for; what is written gets it first.

        Between two trials that are rated there is room for one: so none is first or last, or beside another.
        """
        found: dict[Role, int] = {}
        for role in sorted(wished, key=lambda role: not self._study.is_written(f"checks.{role}")):
            most = self._trials - 1 - sum(found.values())
            if role == "repeat":
                most = min(most, most_repeats(self._trials))
            if wished[role] > most:
                self._left_out(role, self._too_many(role, wished[role], most, found))
            found[role] = max(0, min(wished[role], most))
        return found

    def obvious(self) -> int:
        """Return how many statements with an obvious answer are on each page."""
        rule = self._study.checks.rule("trap_item")
        if not isinstance(rule, TrapItem):
            return 0
        there, bank = self._statements, len(bank_of(rule, self._study.language))
        if there < FEWEST_STATEMENTS:
            what = f"does not fit pages with {count(there, 'statement', 'statements')} on a scale of categories"
            allowed = f"{FEWEST_STATEMENTS} or more"
            return self._left_out("trap_item", self._study.problem("checks.trap_item", what, allowed))
        if rule.per_trial > bank:
            what = f"is {rule.per_trial}, and the bank has {count(bank, 'statement', 'statements')}"
            self._told([self._study.problem("checks.trap_item.per_trial", what, _up_to(bank))])
        return rule.per_trial

    def again(self) -> int:
        """Return how many statements of each page come again."""
        rule = self._study.checks.rule("repeat")
        if not isinstance(rule, Repeat) or not rule.items_per_trial:
            return 0
        if self._statements < FEWEST_REPEATED:
            there = count(self._statements, "statement", "statements")
            what = f"is {rule.items_per_trial}, and a page has {there} on a scale of categories"
            allowed = f"pages with {FEWEST_REPEATED} or more"
            return self._left_out("repeat", self._study.problem("checks.repeat.items_per_trial", what, allowed))
        return rule.items_per_trial

    def _too_many(self, role: Role, wished: int, most: int, others: Mapping[Role, int]) -> Problem:
        trials = count(self._trials, "trial", "trials")
        taken = [f"{number} for {other}" for other, number in others.items() if number]
        what = f"is {wished}, and a list of {trials} has {count(self._trials - 1, 'place', 'places')} between them"
        what += f", {' and '.join(taken)}" if taken else ""
        if role == "repeat":
            what += f", and each comes again {APART} or more trials later"
        fix = "" if most > 0 else "Make design.trials larger, or take it out."
        return self._study.problem(f"checks.{role}.per_session", what, _up_to(most), fix)

    def _told(self, problems: Iterable[Problem]) -> bool:
        found = list(problems)
        self.problems += found
        return bool(found)

    def _left_out(self, name: str, problem: Problem) -> int:
        """Return that there is none: a problem only where somebody wrote that there should be."""
        if self._study.is_written(f"checks.{name}"):
            self.problems.append(problem)
        return 0


def _up_to(most: int) -> str:
    return "" if most < 1 else "1" if most == 1 else f"1 to {most}"


# --- Why the rules of a study cannot have the stimuli that they need: none can ask, or an answer cannot be given ---


class CheckContext(NamedTuple):
    """What a rule finds: the study, its stimuli, and a page as the method makes it."""

    study: Study
    catalogue: Catalogue
    method: Method
    units: Units
    sample: Trial


def asking_problem(setting: CheckContext, role: Role, rule: AskingOptions) -> Problem | None:
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
    if not _own(catalogue, role) and not any(message_sources(study, catalogue, units, rule)):
        what = "has no stimulus that could ask: every condition is protected"
        return study.problem(key, what, "", "Leave one out of checks.attention.protect or design.always.")
    return None


def protection_problems(study: Study, catalogue: Catalogue, rule: AskingOptions) -> Iterator[Problem]:
    """Yield what is to be protected and is no condition."""
    known = catalogue.conditions
    for place, word in enumerate(rule.protect if isinstance(rule, Attention) else ()):
        if word not in known:
            what, near = f"is {word}, which is no condition", did_you_mean(word, known)
            yield study.problem(f"checks.attention.protect.{place}", what, ", ".join(known), near)


def message_problems(setting: CheckContext, role: Role) -> Iterator[Problem]:
    """Yield what is wrong with the researcher's own stimuli that ask for an answer."""
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


def gold_problems(setting: CheckContext) -> Iterator[Problem]:
    """Yield what is wrong with the gold stimuli."""
    study, catalogue, method, _, _ = setting
    gold = catalogue.of_role("gold")
    found = [*crowding_problems(gold, "gold"), *unasked_problems(study, method, answer_keys(gold))]
    yield from found
    if found:
        return
    shown: list[str] = []
    for page in answer_templates(study, catalogue, method, gold):
        shown += page.shows
        trial = page.compose(plain_study(study), method, np.random.default_rng(0))
        yield from _target_problems(trial, gold, method)
    yield from unshown_problems(gold, shown, "gold", method)


def _own(catalogue: Catalogue, role: Role) -> list[Stimulus]:
    """Return the asking stimuli that we have not made."""
    return [stimulus for stimulus in catalogue.of_role(role) if not stimulus.derived_from]


def _target_problems(trial: Trial, stimuli: Sequence[Stimulus], method: Method) -> Iterator[Problem]:
    yield from target_problems(trial, answer_keys(stimuli), answerable(method, trial, COMPARED), method)


def _on(sample: Trial, clip: Stimulus) -> Trial:
    """Return a page on which a stimulus stands wherever something is rated."""
    slots = (slot._replace(stimulus=clip.id) if slot.rated else slot for slot in sample.slots)
    return replace(sample, slots=tuple(slots))


def _content_problems(catalogue: Catalogue, clips: Sequence[Stimulus]) -> Iterator[Problem]:
    """Yield that stimuli belong to no page."""
    for clip in clips:
        if clip.known_answer is not None:
            what = f"is of content {clip.content}, and no page has that content"
            near = did_you_mean(clip.content, catalogue.contents)
            yield Problem(clip.known_answer.where, what, ", ".join(catalogue.contents), near)
