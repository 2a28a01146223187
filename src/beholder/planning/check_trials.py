"""What the rules of a study put into its lists, after everything that is rated has been dealt.

clips       which stimuli are made to ask for an answer, and load_stimuli, which makes them
asking      which answers a page can be asked for, and in which words
amounts     how many checks each list holds
unfit       why a rule cannot be kept
placer      all of these: lists in, lists with checks out
attention   on pages with many stimuli: which page, in place of which stimulus
inserting   trials of their own: where in a list
extras      which trials those are: stimuli that ask, and gold
repeating   trials that come again
statements  obvious and repeated statements on the pages of a survey
leveling    one of several for each of many, evenly
lots        things that are drawn equally often
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from numpy.random import Generator

from beholder.methods.contract import Method, Slot, Target, Trial
from beholder.planning.known_answers import (
    answer_keys,
    default_tolerance,
    judged_kinds,
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
from beholder.study.checks import AskingOptions, Gold
from beholder.study.model import Study
from beholder.types import Role

# --- Trials of their own that check: stimuli that ask for an answer, and gold. Which ones a list gets ---


def message_targets(trial: Trial, slot: Slot, clip: Stimulus, rule: AskingOptions) -> dict[str, Target]:
    """Return what an asking stimulus asks for at a slot: of every question with a scale."""
    assert clip.known_answer is not None
    found = {}
    for asked in trial.asked:
        expected = clip.known_answer.expectation(asked.question)
        if not asked.ticks and expected is not None:
            value, near, _, also = expected[1]
            near = rule.tolerance if near is None else near
            near = message_tolerance(asked.scale) if near is None else near
            found[f"{asked.id}.{slot.id}"] = Target(value, near, "", True, also)
    return found


def gold_targets(trial: Trial, stimuli: Sequence[Stimulus], rule: Gold) -> dict[str, Target]:
    """Return the right answers about the gold stimuli of a trial."""
    targets = {}
    for asked, slot, lesson in keyed_questions(trial, answer_keys(stimuli)):
        expected = lesson.expectation(asked.question)
        if expected is not None:
            value, near, *_ = expected[1]
            near = rule.tolerance if near is None else near
            near = default_tolerance(asked.scale) if near is None else near
            targets[f"{asked.id}.{slot.id}"] = Target(value, near, "")
    return targets


class MessageTrialMaker:
    """Trials in which a stimulus asks for an answer, each stimulus equally often over all lists.

    `sample` is a trial for which the words of those that we made were chosen.
    """

    def __init__(
        self,
        role: Role,
        study: Study,
        catalogue: Catalogue,
        method: Method,
        rule: AskingOptions,
        sample: Trial,
        rng: Generator,
    ) -> None:
        self._role, self._study, self._method, self._rule, self._rng = role, study, method, rule, rng
        self._is_graded = "diff" in judged_kinds(method, sample)
        self._clips = {clip.id: clip for clip in catalogue.of_role(role)}
        pages = {clip.id: message_templates(study, catalogue, method, clip) for clip in self._clips.values()}
        self._pages = {name: self._fitting(self._clips[name], found, sample) for name, found in pages.items()}
        self._lot = EvenDraw([name for name, found in self._pages.items() if found], rng)

    @property
    def are_any(self) -> bool:
        """Whether any stimulus asks: a catalogue can be without those that are still to be made."""
        return any(self._pages.values())

    def make(self, shown: Collection[str], beside: Collection[str]) -> Trial:
        """Return a trial; rather not of a stimulus that is `shown` otherwise, or of the contents `beside` it."""
        name = self._lot.draw(
            lambda one: (self._clips[one].derived_from in shown) + 2 * (self._clips[one].content in beside)
        )
        assert name is not None, "a list is only promised what there is"
        clip, pages = self._clips[name], self._pages[name]
        page = pages[int(self._rng.integers(len(pages)))]
        composed = page.compose(self._study, self._method, self._rng)
        trial = arrange_in_role(composed, name, self._role, page.shuffle, self._study, self._rng)
        rated = [slot for slot in trial.slots if slot.rated]
        # The words of a grade are about the second one, whichever of the two says them.
        at = rated[-1] if self._is_graded else next(slot for slot in rated if slot.stimulus == name)
        return replace(trial, targets=message_targets(trial, at, clip, self._rule))

    def _fitting(self, clip: Stimulus, pages: Sequence[TrialTemplate], sample: Trial) -> list[TrialTemplate]:
        """Return the pages on which all that is asked can be answered as a stimulus asks."""
        asked = {one.id: one for one in self._method.questions(self._study)}
        found = []
        for page in pages:
            # Where each question comes by itself, some have other answers.
            scales = [asked[name].scale for name in page.unit.asks if not asked[name].ticks]
            if not page.unit.asks or (scales and (not clip.derived_from or scales == [sample.asked[0].scale])):
                found.append(page)
        return found


class GoldTrialMaker:
    """Trials whose right answer is known, each equally often over all lists."""

    def __init__(self, study: Study, catalogue: Catalogue, method: Method, rule: Gold, rng: Generator) -> None:
        self._study, self._method, self._rule, self._rng = study, method, rule, rng
        self._gold, self._plain = catalogue.of_role("gold"), plain_study(study)
        pages = answer_templates(study, catalogue, method, self._gold)
        self._pages = [page for page in pages if _is_keyed(page, self._gold)]
        self._lot = EvenDraw(range(len(self._pages)), rng)

    def make(self, shown: Collection[str], beside: Collection[str]) -> Trial:
        """Return a trial; rather not one that the list has already, or of the contents `beside` it."""
        number = self._lot.draw(lambda one: self._faults(self._pages[one], shown, beside))
        assert number is not None
        page = self._pages[number]
        composed = page.compose(self._plain, self._method, self._rng)
        trial = arrange_in_role(composed, page.unit.content, "gold", page.shuffle, self._study, self._rng)
        return replace(trial, targets=gold_targets(trial, self._gold, self._rule))

    def _faults(self, page: TrialTemplate, shown: Collection[str], beside: Collection[str]) -> int:
        return any(name in shown for name in page.shows) + 2 * (page.unit.content in beside)


def _is_keyed(page: TrialTemplate, gold: Sequence[Stimulus]) -> bool:
    """Return whether a page asks anything of which the answer is known."""
    lessons = [one.known_answer for one in gold if one.id in page.shows and one.known_answer is not None]
    return not page.unit.asks or any(lesson.expectation(name) for lesson in lessons for name in page.unit.asks)


# --- Trials that come again: which ones, and where ---


APART = 4
"""A trial comes again so many trials later, or more."""
_ROLE: Role = "repeat"


def most_repeats(trials: int) -> int:
    """Return how many trials of a list can come again, each far enough from itself and none at the end."""
    return max(0, trials - APART)


class Repeater:
    """Lets trials come again, in all places equally often over all lists."""

    def __init__(self, trials: int, rng: Generator) -> None:
        self._gaps = EvenDraw(range(APART - 1, trials - 1), rng)
        self._rng = rng

    def make(self, before: Sequence[Trial], trials: Sequence[Trial], count: int) -> dict[int, Trial]:
        """Return what comes again, by the trial that it follows; as it was `before` any stimulus on it gave way."""
        # A page with an attention stimulus would not be the same again.
        whole = [place for place, trial in enumerate(trials) if not trial.targets]
        gaps: list[int] = []
        last = len(trials) - 2
        for _ in range(count):
            gap = self._gaps.draw(lambda one: 0 if one <= last and _have_room([*gaps, one], whole) else None)
            if gap is None:
                gap = self._gaps.draw(lambda one: None if one in gaps or one > last else 0)
            assert gap is not None, "a list is only promised what it has room for"
            gaps.append(gap)
        made: dict[int, Trial] = {}
        taken: set[int] = set()
        # From the front, where there is least to choose from.
        for gap in sorted(gaps):
            beside = {trials[gap].content, trials[gap + 1].content}
            early = [place for place in range(gap - APART + 2) if place not in taken]
            faults = [2 * (place not in whole) + (trials[place].content in beside) for place in early]
            fit = [place for place, faulty in zip(early, faults, strict=True) if faulty == min(faults)]
            place = fit[int(self._rng.integers(len(fit)))]
            taken.add(place)
            slots = tuple(slot._replace(role=_ROLE) if slot.rated else slot for slot in before[place].slots)
            made[gap] = replace(before[place], slots=slots)
        return made


def _have_room(gaps: Sequence[int], whole: Sequence[int]) -> bool:
    """Return whether a trial of its own, far enough in front, can come again in each of these places."""
    early = [sum(place <= gap - APART + 1 for place in whole) for gap in sorted(gaps)]
    return len(set(gaps)) == len(gaps) and all(count > number for number, count in enumerate(early))


# --- Drawing lots that come out even over all lists ---


_Item = TypeVar("_Item", bound=Hashable)


class EvenDraw(Generic[_Item]):
    """Things of which one is drawn again and again, all equally often.

    What suits a place better is preferred as long as nothing that can be drawn falls more than one draw behind it.
    """

    def __init__(self, items: Sequence[_Item], rng: Generator) -> None:
        self._drawn = dict.fromkeys(items, 0)
        self._rng = rng

    def draw(self, faults: Callable[[_Item], int | None]) -> _Item | None:
        """Return one of the things with the fewest faults; those of which `faults` is None cannot be drawn."""
        found = [(item, count) for item in self._drawn if (count := faults(item)) is not None]
        if not found:
            return None
        least = min(self._drawn[item] for item, _ in found)
        near = [(count, self._drawn[item], item) for item, count in found if self._drawn[item] <= least + 1]
        best = min(one[:2] for one in near)
        fit = [item for *rank, item in near if tuple(rank) == best]
        drawn = fit[int(self._rng.integers(len(fit)))]
        self._drawn[drawn] += 1
        return drawn
