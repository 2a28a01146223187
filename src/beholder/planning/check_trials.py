"""Trials of their own that check: stimuli that ask for an answer, and gold. Which ones a list gets."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from numpy.random import Generator

from beholder.methods.contract import Method, Slot, Target, Trial
from beholder.plan.placing.lots import Lot
from beholder.plan.teaching.answering import judged_kinds
from beholder.plan.teaching.composing import Page, asking_pages, lesson_pages, plain_study, shown_as
from beholder.plan.teaching.lessons import asked_about, asking_tolerance, default_tolerance, lessons_of
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.study.checks import Asking, Gold
from beholder.study.model import Study
from beholder.types import Role


def asking_targets(trial: Trial, slot: Slot, clip: Stimulus, rule: Asking) -> dict[str, Target]:
    """Return what an asking stimulus asks for at a slot: of every question with a scale."""
    assert clip.lesson is not None
    found = {}
    for asked in trial.asked:
        expected = clip.lesson.of(asked.question)
        if not asked.ticks and expected is not None:
            value, near, _, also = expected[1]
            near = rule.tolerance if near is None else near
            near = asking_tolerance(asked.scale) if near is None else near
            found[f"{asked.id}.{slot.id}"] = Target(value, near, "", True, also)
    return found


def gold_targets(trial: Trial, stimuli: Sequence[Stimulus], rule: Gold) -> dict[str, Target]:
    """Return the right answers about the gold stimuli of a trial."""
    targets = {}
    for asked, slot, lesson in asked_about(trial, lessons_of(stimuli)):
        expected = lesson.of(asked.question)
        if expected is not None:
            value, near, *_ = expected[1]
            near = rule.tolerance if near is None else near
            near = default_tolerance(asked.scale) if near is None else near
            targets[f"{asked.id}.{slot.id}"] = Target(value, near, "")
    return targets


class Askers:
    """Trials in which a stimulus asks for an answer, each stimulus equally often over all lists.

    `sample` is a trial for which the words of those that we made were chosen.
    """

    def __init__(
        self,
        role: Role,
        study: Study,
        catalogue: Catalogue,
        method: Method,
        rule: Asking,
        sample: Trial,
        rng: Generator,
    ) -> None:
        self._role, self._study, self._method, self._rule, self._rng = role, study, method, rule, rng
        self._is_graded = "diff" in judged_kinds(method, sample)
        self._clips = {clip.id: clip for clip in catalogue.of_role(role)}
        pages = {clip.id: asking_pages(study, catalogue, method, clip) for clip in self._clips.values()}
        self._pages = {name: self._fitting(self._clips[name], found, sample) for name, found in pages.items()}
        self._lot = Lot([name for name, found in self._pages.items() if found], rng)

    @property
    def are_any(self) -> bool:
        """Whether any stimulus asks: a catalogue can be without those that are still to be made."""
        return any(self._pages.values())

    def make(self, shown: Collection[str], beside: Collection[str]) -> Trial:
        """Return a trial; rather not of a stimulus that is `shown` otherwise, or of the contents `beside` it."""
        name = self._lot.draw(
            lambda one: (self._clips[one].made_of in shown) + 2 * (self._clips[one].content in beside)
        )
        assert name is not None, "a list is only promised what there is"
        clip, pages = self._clips[name], self._pages[name]
        page = pages[int(self._rng.integers(len(pages)))]
        composed = page.compose(self._study, self._method, self._rng)
        trial = shown_as(composed, name, self._role, page.shuffle, self._study, self._rng)
        rated = [slot for slot in trial.slots if slot.rated]
        # The words of a grade are about the second one, whichever of the two says them.
        at = rated[-1] if self._is_graded else next(slot for slot in rated if slot.stimulus == name)
        return replace(trial, targets=asking_targets(trial, at, clip, self._rule))

    def _fitting(self, clip: Stimulus, pages: Sequence[Page], sample: Trial) -> list[Page]:
        """Return the pages on which all that is asked can be answered as a stimulus asks."""
        asked = {one.id: one for one in self._method.questions(self._study)}
        found = []
        for page in pages:
            # Where each question comes by itself, some have other answers.
            scales = [asked[name].scale for name in page.unit.asks if not asked[name].ticks]
            if not page.unit.asks or (scales and (not clip.made_of or scales == [sample.asked[0].scale])):
                found.append(page)
        return found


class Golds:
    """Trials whose right answer is known, each equally often over all lists."""

    def __init__(self, study: Study, catalogue: Catalogue, method: Method, rule: Gold, rng: Generator) -> None:
        self._study, self._method, self._rule, self._rng = study, method, rule, rng
        self._gold, self._plain = catalogue.of_role("gold"), plain_study(study)
        pages = lesson_pages(study, catalogue, method, self._gold)
        self._pages = [page for page in pages if _is_keyed(page, self._gold)]
        self._lot = Lot(range(len(self._pages)), rng)

    def make(self, shown: Collection[str], beside: Collection[str]) -> Trial:
        """Return a trial; rather not one that the list has already, or of the contents `beside` it."""
        number = self._lot.draw(lambda one: self._faults(self._pages[one], shown, beside))
        assert number is not None
        page = self._pages[number]
        composed = page.compose(self._plain, self._method, self._rng)
        trial = shown_as(composed, page.unit.content, "gold", page.shuffle, self._study, self._rng)
        return replace(trial, targets=gold_targets(trial, self._gold, self._rule))

    def _faults(self, page: Page, shown: Collection[str], beside: Collection[str]) -> int:
        return any(name in shown for name in page.shows) + 2 * (page.unit.content in beside)


def _is_keyed(page: Page, gold: Sequence[Stimulus]) -> bool:
    """Return whether a page asks anything of which the answer is known."""
    lessons = [one.lesson for one in gold if one.id in page.shows and one.lesson is not None]
    return not page.unit.asks or any(lesson.of(name) for lesson in lessons for name in page.unit.asks)
