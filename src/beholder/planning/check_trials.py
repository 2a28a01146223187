"""Check trials between the rated ones: stimuli that ask for an answer, gold trials, and repeated trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from numpy.random import Generator

from beholder.checks.answer_patterns import Repeat
from beholder.checks.known_answers import Gold, MessageRule
from beholder.methods.contract import Method, Slot, Target, Trial
from beholder.planning.known_answers import (
    answer_keys,
    answered_kinds,
    default_tolerance,
    keyed_questions,
    message_tolerance,
)
from beholder.planning.trial_templates import (
    TrialTemplate,
    answer_templates,
    arrange_in_role,
    message_templates,
    plain_study,
)
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.study.model import Study
from beholder.types import Role


class MessageTrialMaker:
    """Makes trials in which a stimulus asks for an answer, each stimulus equally often over all lists.

    `sample` is a trial for which the texts of generated messages were chosen.
    """

    def __init__(
        self,
        role: Role,
        study: Study,
        catalogue: Catalogue,
        method: Method,
        rule: MessageRule.Options,
        sample: Trial,
        rng: Generator,
    ) -> None:
        self._role, self._study, self._method, self._rule, self._rng = role, study, method, rule, rng
        self._is_graded = "diff" in answered_kinds(method, sample)
        self._clips = {clip.id: clip for clip in catalogue.of_role(role)}
        pages = {clip.id: message_templates(study, catalogue, method, clip) for clip in self._clips.values()}
        self._pages = {name: self._fitting(self._clips[name], fitting, sample) for name, fitting in pages.items()}
        self._draws = EvenDraw([name for name, fitting in self._pages.items() if fitting], rng)

    @property
    def are_any(self) -> bool:
        """Whether any stimulus asks for an answer: a catalogue may lack those that are still to be made."""
        return any(self._pages.values())

    def make(self, shown: Collection[str], neighbours: Collection[str]) -> Trial:
        """Return a trial; preferably not of a stimulus that is `shown` otherwise, or of a content in `neighbours`."""
        name = self._draws.draw(
            lambda one: (self._clips[one].derived_from in shown) + 2 * (self._clips[one].content in neighbours)
        )
        assert name is not None, "a list is only promised what there is"
        clip, pages = self._clips[name], self._pages[name]
        page = pages[int(self._rng.integers(len(pages)))]
        composed = page.compose(self._study, self._method, self._rng)
        trial = arrange_in_role(composed, name, self._role, page.shuffle, self._study, self._rng)
        rated = [slot for slot in trial.slots if slot.rated]
        # The text of a grade is about the second stimulus, whichever of the two shows it.
        at = rated[-1] if self._is_graded else next(slot for slot in rated if slot.stimulus == name)
        return replace(trial, targets=message_targets(trial, at, clip, self._rule))

    def _fitting(self, clip: Stimulus, pages: Sequence[TrialTemplate], sample: Trial) -> list[TrialTemplate]:
        """Return the templates on which every question can be answered as the stimulus asks."""
        asked = {one.id: one for one in self._method.questions(self._study)}
        fitting = []
        for page in pages:
            # With one question per trial, scales may differ.
            scales = [asked[name].scale for name in page.unit.asks if not asked[name].ticks]
            if not page.unit.asks or (scales and (not clip.derived_from or scales == [sample.asked[0].scale])):
                fitting.append(page)
        return fitting


def message_targets(trial: Trial, slot: Slot, clip: Stimulus, rule: MessageRule.Options) -> dict[str, Target]:
    """Return the answers that a message stimulus asks for in a slot: to every question with a scale."""
    assert clip.known_answer is not None
    targets = {}
    for asked in trial.asked:
        expected = clip.known_answer.expectation(asked.question)
        if not asked.ticks and expected is not None:
            value, near, _, also = expected[1]
            near = rule.tolerance if near is None else near
            near = message_tolerance(asked.scale) if near is None else near
            targets[f"{asked.id}.{slot.id}"] = Target(value, near, "", True, also)
    return targets


class GoldTrialMaker:
    """Makes trials with a known answer, each equally often over all lists."""

    def __init__(self, study: Study, catalogue: Catalogue, method: Method, rule: Gold.Options, rng: Generator) -> None:
        self._study, self._method, self._rule, self._rng = study, method, rule, rng
        self._gold, self._plain = catalogue.of_role(Gold.role), plain_study(study)
        pages = answer_templates(study, catalogue, method, self._gold)
        self._pages = [page for page in pages if _is_keyed(page, self._gold)]
        self._draws = EvenDraw(range(len(self._pages)), rng)

    def make(self, shown: Collection[str], neighbours: Collection[str]) -> Trial:
        """Return a trial; preferably not one that the list has already, or of a content in `neighbours`."""
        number = self._draws.draw(lambda one: self._faults(self._pages[one], shown, neighbours))
        assert number is not None
        page = self._pages[number]
        composed = page.compose(self._plain, self._method, self._rng)
        trial = arrange_in_role(composed, page.unit.content, Gold.role, page.shuffle, self._study, self._rng)
        return replace(trial, targets=gold_targets(trial, self._gold, self._rule))

    def _faults(self, page: TrialTemplate, shown: Collection[str], neighbours: Collection[str]) -> int:
        return any(name in shown for name in page.shows) + 2 * (page.unit.content in neighbours)


def gold_targets(trial: Trial, stimuli: Sequence[Stimulus], rule: Gold.Options) -> dict[str, Target]:
    """Return the known answers about the gold stimuli of a trial."""
    targets = {}
    for asked, slot, lesson in keyed_questions(trial, answer_keys(stimuli)):
        expected = lesson.expectation(asked.question)
        if expected is not None:
            value, near, *_ = expected[1]
            near = rule.tolerance if near is None else near
            near = default_tolerance(asked.scale) if near is None else near
            targets[f"{asked.id}.{slot.id}"] = Target(value, near, "")
    return targets


def _is_keyed(page: TrialTemplate, gold: Sequence[Stimulus]) -> bool:
    """Return whether a template has a question with a known answer."""
    lessons = [one.known_answer for one in gold if one.id in page.shows and one.known_answer is not None]
    return not page.unit.asks or any(lesson.expectation(name) for lesson in lessons for name in page.unit.asks)


# Repeated trials

APART = 4
"""Trials between a trial and its repetition, at least."""

_ROLE: Role = Repeat.role


def most_repeats(trials: int) -> int:
    """Return how many trials of a list can be repeated, each far enough from the first time and none at the end."""
    return max(0, trials - APART)


class Repeater:
    """Repeats trials, in all places equally often over all lists.

    With `statements`, only trials that ask one of these come again, of each stimulus of a list equally many if the
    places allow.
    """

    def __init__(self, trials: int, rng: Generator, statements: Collection[str] = ()) -> None:
        self._gaps = EvenDraw(range(APART - 1, trials - 1), rng)
        self._rng, self._statements = rng, statements

    def make(self, before: Sequence[Trial], trials: Sequence[Trial], count: int) -> dict[int, Trial]:
        """Return repeated trials by the trial that they follow, as they were `before` attention stimuli were placed."""
        # A trial with an attention stimulus would not be the same trial.
        unchanged = [place for place, trial in enumerate(trials) if not trial.targets and self._is_asked(trial)]
        gaps: list[int] = []
        last = len(trials) - 2
        for _ in range(count):
            gap = self._gaps.draw(lambda one: 0 if one <= last and _have_room([*gaps, one], unchanged) else None)
            if gap is None:
                gap = self._gaps.draw(lambda one: None if one in gaps or one > last else 0)
            assert gap is not None, "a list is only promised what it has room for"
            gaps.append(gap)
        repeats: dict[int, Trial] = {}
        used: set[int] = set()
        times: Counter[str] = Counter()
        # From the front, where there is the least choice.
        for gap in sorted(gaps):
            neighbours = {trials[gap].content, trials[gap + 1].content}
            early = [place for place in range(gap - APART + 2) if place not in used]
            faults = [
                (place not in unchanged, times[_judged(trials[place])], trials[place].content in neighbours)
                for place in early
            ]
            best_places = [place for place, faulty in zip(early, faults, strict=True) if faulty == min(faults)]
            place = best_places[int(self._rng.integers(len(best_places)))]
            used.add(place)
            times[_judged(trials[place])] += bool(self._statements)
            slots = tuple(slot._replace(role=_ROLE) if slot.rated else slot for slot in before[place].slots)
            repeats[gap] = replace(before[place], slots=slots)
        return repeats

    def _is_asked(self, trial: Trial) -> bool:
        return not self._statements or not trial.rated_questions.isdisjoint(self._statements)


def _judged(trial: Trial) -> str:
    """Return the first rated stimulus of a trial."""
    return next((slot.stimulus for slot in trial.slots if slot.rated), "")


def _have_room(gaps: Sequence[int], unchanged: Sequence[int]) -> bool:
    """Return whether a different earlier trial, far enough away, can be repeated in each of these places."""
    early = [sum(place <= gap - APART + 1 for place in unchanged) for gap in sorted(gaps)]
    return len(set(gaps)) == len(gaps) and all(count > number for number, count in enumerate(early))


# Even draws

_Item = TypeVar("_Item", bound=Hashable)


class EvenDraw(Generic[_Item]):
    """Items from which one is drawn repeatedly, all equally often.

    Items that suit a place better are preferred as long as no possible item falls more than one draw behind.
    """

    def __init__(self, items: Sequence[_Item], rng: Generator) -> None:
        self._drawn = dict.fromkeys(items, 0)
        self._rng = rng

    def draw(self, faults: Callable[[_Item], int | None]) -> _Item | None:
        """Return an item with the fewest faults; those for which `faults` is None cannot be drawn."""
        possible = [(item, count) for item in self._drawn if (count := faults(item)) is not None]
        if not possible:
            return None
        least = min(self._drawn[item] for item, _ in possible)
        behind = [(count, self._drawn[item], item) for item, count in possible if self._drawn[item] <= least + 1]
        best = min(one[:2] for one in behind)
        best_items = [item for *rank, item in behind if tuple(rank) == best]
        drawn = best_items[int(self._rng.integers(len(best_items)))]
        self._drawn[drawn] += 1
        return drawn
