"""Rating sheets: every judgement of a plan as arrays, so that all answers can be simulated at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from beholder.checks.known_answers import TrapItem
from beholder.methods.choices import ChoiceMethod, ComparedSlots
from beholder.methods.contract import Asked, Method, Scale, Trial
from beholder.methods.differences import DifferenceMethod, Differences, difference_limits
from beholder.methods.orders import OrderMethod, PageScores
from beholder.methods.scores import ScoreMethod
from beholder.methods.transcripts import TranscriptMethod
from beholder.planning.model import Plan, PlannedList
from beholder.simulation.truth import Truth
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from beholder.types import UNRATED_ROLES, Role

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
RatingKind = Literal["score", "diff", "choice"]


@dataclass(frozen=True)
class RatingSheet:
    """Every rated judgement, one entry each, sorted by list and position, without checks and training."""

    kind: RatingKind
    contents: tuple[str, ...]
    conditions: tuple[str, ...]
    scales: tuple[Scale, ...]
    roles: tuple[Role, ...]
    starts: Ints
    """The first entry of each list, and the end."""
    trials: Ints
    """The number of pages of each list, including checks."""
    list: Ints
    """From 0."""
    position: Ints
    """From 1."""
    trial: Ints
    """Unique over the plan, in its order."""
    slot: Ints
    """The place of the judged stimulus on its page, from 1."""
    stimulus: Ints
    """A row of `Truth.quality`; of a comparison, the stimulus that a value above zero prefers."""
    other: Ints
    """The row of the stimulus that it is compared with or rated against, or -1."""
    other_slot: Ints
    question: Ints
    """A column of `Truth.quality`."""
    content: Ints
    """An index into `contents`."""
    condition: Ints
    """An index into `conditions`."""
    other_condition: Ints
    role: Ints
    """The role of the judged stimulus, an index into `roles`."""
    scale: Ints
    """An index into `scales`."""
    is_reversed: Bools
    """Whether the question is keyed `-`, or the value counts faults."""
    is_hidden: Bools
    """Whether it is a hidden reference on a page that also shows the open one."""
    is_sound: Bools
    """Whether the stimulus is audio."""
    words: Ints
    """Of how many words the value is a share; 0 where it is none."""
    page_scores: PageScores | None = None
    """How scores follow from strengths where they depend on the other stimuli of the page."""
    differences: Differences | None = None
    """How ratings follow from the strengths of two stimuli that each get a score."""

    def __len__(self) -> int:
        return len(self.stimulus)

    @property
    def lists(self) -> int:
        return len(self.trials)

    @property
    def limits(self) -> tuple[tuple[float, float], ...]:
        """The lowest and the highest rating on each of the scales."""
        if self.differences is None:
            return tuple((scale.min, scale.max) for scale in self.scales)
        return tuple(map(difference_limits, self.scales))

    @property
    def page(self) -> Ints:
        """A number for each trial and question, from 0."""
        keys = self.trial * (int(self.question.max(initial=0)) + 1) + self.question
        return np.asarray(np.unique(keys, return_inverse=True)[1], np.int64)

    @property
    def is_compared(self) -> bool:
        """Whether one judgement is about two stimuli."""
        return self.kind != "score"

    @cached_property
    def looks(self) -> tuple[Ints, Ints]:
        """Percept numbers of the judged and the other stimulus: equal for equal list, stimulus and question."""
        if not self.is_compared:
            places = np.arange(len(self))
            return places, places
        rows = np.concatenate([self.stimulus, self.other])
        keys = (np.tile(self.list, 2) * (int(rows.max(initial=0)) + 1) + rows) * (int(self.question.max(initial=0)) + 1)
        numbers = np.unique(keys + np.tile(self.question, 2), return_inverse=True)[1]
        return numbers[: len(self)], numbers[len(self) :]

    def for_participants(self, participants: int) -> RatingSheet:
        """Return the sheet of this many people, who take the lists in turn."""
        if participants == self.lists:
            return self
        taken = np.arange(participants) % self.lists
        return self._select(_ranges(self.starts[taken], self.starts[taken + 1]), taken)

    def _select(self, entries: Ints, taken: Ints) -> RatingSheet:
        """Return a sheet of these entries, whose lists are the `taken` ones."""
        counts = (self.starts[1:] - self.starts[:-1])[taken]
        lists = np.repeat(np.arange(len(taken)), counts)
        trials = self.trial[entries] + lists * (int(self.trial[-1]) + 1 if len(self) else 1)
        parts = {name: getattr(self, name)[entries] for name in _BY_ENTRY}
        return replace(
            self,
            **parts
            | {
                "starts": np.concatenate([[0], np.cumsum(counts)]),
                "trials": self.trials[taken],
                "list": lists,
                "trial": np.unique(trials, return_inverse=True)[1],
            },
        )


_BY_ENTRY = (
    "position", "slot", "stimulus", "other", "other_slot", "question", "content", "condition", "other_condition",
    "role", "scale", "is_reversed", "is_hidden", "is_sound", "words",
)  # fmt: skip


def _ranges(begins: Ints, ends: Ints) -> Ints:
    """Return the numbers of several ranges, one range after the other."""
    counts = ends - begins
    first = np.cumsum(counts) - counts
    return np.repeat(begins - first, counts) + np.arange(int(counts.sum()))


def sheet_of(
    plan: Plan | Sequence[PlannedList],
    study: Study,
    catalogue: Catalogue,
    method: Method,
    truth: Truth,
    *,
    is_exact: bool = True,
) -> RatingSheet | None:
    """Return the sheet of a plan; None if the method's answers have to be simulated trial by trial.

    That is so if an answer is more than a number for each question, or if random draws depend on each other. Without
    `is_exact`, shares of words have a sheet too: their values have the distribution of those of robots, and are not
    the same.
    """
    family = _family(method, is_exact=is_exact)
    if family is None or any(question.ticks for question in method.questions(study)):
        return None
    lists = plan.lists if isinstance(plan, Plan) else plan
    assert isinstance(method, ScoreMethod | ChoiceMethod | TranscriptMethod)
    builder = _SheetBuilder(method, truth)
    for number, planned in enumerate(lists):
        if not builder.add(number, planned.trials):
            return None
    page_scores = method.page_scores(study) if isinstance(method, OrderMethod) else None
    differences = method.differences if isinstance(method, DifferenceMethod) else None
    return RatingSheet(kind=family, page_scores=page_scores, differences=differences, **builder.columns(catalogue))


def _family(method: Method, *, is_exact: bool) -> RatingKind | None:
    """Return the kind of a method's judgements if its robots answer as the method's family does; otherwise None."""
    if isinstance(method, TranscriptMethod):
        return None if is_exact else "score"
    if isinstance(method, OrderMethod):
        return "score" if _has_family_functions(method, OrderMethod, "respond", "judgements") else None
    if isinstance(method, DifferenceMethod):
        return "diff" if _has_family_functions(method, DifferenceMethod, "respond", "judgements") else None
    if isinstance(method, ScoreMethod):
        return "score" if _has_family_functions(method, ScoreMethod, "respond", "judgements") else None
    if isinstance(method, ChoiceMethod):
        return method.kind if _has_family_functions(method, ChoiceMethod, "respond", "judgement") else None
    return None


# Building a sheet from the trials of a plan


def _has_family_functions(method: object, family: type[object], *names: str) -> bool:
    """Return whether a method inherits these functions from its family."""
    return all(getattr(type(method), name) is getattr(family, name) for name in names)


class _RatedPage:
    """The rated questions of a page as columns of the truth, and whether arrays can represent the page."""

    def __init__(self, number: int, asked: tuple[Asked, ...], truth: Truth, scales: list[Scale]) -> None:
        self.number, self.asked = number, asked
        rated = [one for one in asked if one.purpose == "ask"]
        for one in rated:
            if one.scale not in scales:
                scales.append(one.scale)
        self.has_trap = any(one.purpose == TrapItem.purpose for one in asked)
        self.is_odd = any(one.ticks or one.question not in truth.questions for one in rated)
        self.is_below_zero = any(one.scale.min < 0 for one in asked)
        self.columns = [] if self.is_odd else [truth.questions[one.question] for one in rated]
        self.scales = [scales.index(one.scale) for one in rated]
        self.reversed = [one.keyed == "-" for one in rated]


class _SheetBuilder:
    """Collects the trials of a plan: list, position, page and slots of each."""

    def __init__(self, method: ScoreMethod | ChoiceMethod | TranscriptMethod, truth: Truth) -> None:
        self._method, self._truth = method, truth
        self._words: list[int] = []
        """For each trial, of how many words its values are shares."""
        self._is_compared = isinstance(method, ChoiceMethod | DifferenceMethod)
        self._has_other_slot = (
            not _has_family_functions(method, ScoreMethod, "other_slot") if isinstance(method, ScoreMethod) else False
        )
        self._pages: dict[int, _RatedPage] = {}
        self._scales: list[Scale] = []
        self._lengths: list[int] = []
        self._trials: list[tuple[int, int, int, int]] = []
        """List, position, page, and number of slots."""
        self._rows: list[int] = []
        self._roles: list[Role] = []
        self._is_rated: list[bool] = []
        self._other_places: list[int] = []
        """For each slot, the place on the page that it is rated against, from 1, or 0."""
        self._judged: list[int] = []
        """For each comparison, the place of the judged slot."""

    def add(self, number: int, trials: Sequence[Trial]) -> bool:
        """Add the trials of a list; return whether arrays can represent all of them."""
        self._lengths.append(len(trials))
        rows = self._truth.stimuli
        for position, trial in enumerate(trials, 1):
            slots = trial.slots
            # Many trials share a few tuples of questions.
            page = self._pages.get(id(trial.asked))
            if page is None:
                page = _RatedPage(len(self._pages), trial.asked, self._truth, self._scales)
                self._pages[id(trial.asked)] = page
            if page.is_odd or trial.id != f"trial:{position}" or self._is_intricate(trial, page):
                return False
            self._trials.append((number, position, page.number, len(slots)))
            self._words.append(self._method.word_count(trial) if isinstance(self._method, TranscriptMethod) else 0)
            self._rows += [rows[slot.stimulus] for slot in slots]
            self._roles += [slot.role for slot in slots]
            self._is_rated += [slot.rated for slot in slots]
            if self._is_compared:
                judged = ComparedSlots.of(trial)
                self._judged.append(slots.index(judged.second if judged.judged_is_second else judged.first) + 1)
            elif self._has_other_slot:
                self._other_places += self._places_compared(trial)
        return True

    def _is_intricate(self, trial: Trial, page: _RatedPage) -> bool:
        """Return whether one random draw depends on another: messages, traps, references to recognise."""
        if page.has_trap:
            return self._is_compared or any(slot.role == "hidden_reference" for slot in trial.slots)
        return not self._is_compared and page.is_below_zero and bool(trial.targets)

    def _places_compared(self, trial: Trial) -> list[int]:
        assert isinstance(self._method, ScoreMethod)
        compared = [self._method.other_slot(trial, slot) if slot.rated else None for slot in trial.slots]
        places = {slot.id: place for place, slot in enumerate(trial.slots, 1)}
        return [0 if one is None else places[one] for one in compared]

    def columns(self, catalogue: Catalogue) -> dict[str, Any]:
        """Return the arrays of a sheet by name."""
        of_trial = np.array(self._trials, dtype=np.int64).reshape(-1, 4)
        roles = tuple(dict.fromkeys(self._roles))
        codes = {role: place for place, role in enumerate(roles)}
        role = _ints([codes[one] for one in self._roles])
        rows, is_rated = _ints(self._rows), np.array(self._is_rated, dtype=np.bool_)
        sizes = of_trial[:, 3]
        trial = np.repeat(np.arange(len(of_trial)), sizes)
        first = np.cumsum(sizes) - sizes
        place = np.arange(len(rows)) - first[trial] + 1
        is_check = np.isin(role, [codes[one] for one in roles if one in UNRATED_ROLES])
        is_shown = np.bincount(trial[(role == codes.get("reference", -1)) & ~is_rated], minlength=len(sizes)) > 0
        other = np.zeros(len(rows), dtype=np.int64)
        if self._is_compared:
            is_shown = np.zeros(len(sizes), dtype=np.bool_)
            void = np.bincount(trial[is_rated & is_check], minlength=len(sizes)) > 0
            judged = _ints(self._judged)
            kept = is_rated & (place == judged[trial]) & ~void[trial]
            # Two slots are rated, so the sum of their places gives the other one.
            both = np.bincount(trial[is_rated], weights=place[is_rated], minlength=len(sizes)).astype(np.int64)
            other = both[trial] - judged[trial]
        else:
            kept = is_rated & ~is_check
            other = _ints(self._other_places) if self._has_other_slot else other
        at, asked = self._entries(np.flatnonzero(kept), trial, of_trial[:, 2])
        compared = np.where(other[at] > 0, rows[first[trial[at]] + other[at] - 1], -1)
        return self._coded(catalogue, roles, of_trial, asked, {
            "pages": trial[at], "slot": place[at], "stimulus": rows[at], "other": compared, "other_slot": other[at],
            "role": role[at],
            "is_hidden": (role[at] == codes.get("hidden_reference", -1)) & is_shown[trial[at]],
            "words": _ints(self._words)[trial[at]],
        })  # fmt: skip

    def _entries(self, kept: Ints, trial: Ints, pages: Ints) -> tuple[Ints, Ints]:
        """Return the slot of each entry, and its question as an index into the questions of all pages."""
        counts = _ints([len(page.columns) for page in self._pages.values()])
        begins = np.cumsum(counts) - counts
        many = np.bincount(trial[kept], minlength=len(pages))
        asked = counts[pages] if len(pages) else many
        start = np.cumsum(many) - many
        of = np.repeat(np.arange(len(pages)), many * asked)
        within = np.arange(len(of)) - np.repeat(np.cumsum(many * asked) - many * asked, many * asked)
        return kept[start[of] + within % np.maximum(1, many[of])], begins[pages[of]] + within // np.maximum(1, many[of])

    def _coded(
        self,
        catalogue: Catalogue,
        roles: tuple[Role, ...],
        of_trial: Ints,
        asked: Ints,
        parts: dict[str, Any],
    ) -> dict[str, Any]:
        """Return the arrays with those that follow from list, question and stimulus."""
        pages = list(self._pages.values())
        used, trial = np.unique(parts.pop("pages"), return_inverse=True)
        lists = of_trial[used, 0][trial]
        rows, others = parts["stimulus"], parts["other"]
        contents, content_of = _codes([one.content for one in catalogue.stimuli], catalogue.contents)
        conditions, condition_of = _codes([one.condition for one in catalogue.stimuli], catalogue.conditions)
        # A condition beside itself with a foreign companion is compared with no condition.
        compared_with = np.where([one.role == "mismatched" for one in catalogue.stimuli], -1, condition_of)
        return dict(
            contents=contents,
            conditions=conditions,
            scales=tuple(self._scales),
            roles=roles,
            starts=np.searchsorted(lists, np.arange(len(self._lengths) + 1)).astype(np.int64),
            trials=_ints(self._lengths),
            list=lists,
            position=of_trial[used, 1][trial],
            trial=trial,
            question=_ints([column for page in pages for column in page.columns])[asked],
            content=content_of[rows],
            condition=condition_of[rows],
            other_condition=np.where(others < 0, -1, compared_with[others]),
            scale=_ints([scale for page in pages for scale in page.scales])[asked],
            is_reversed=np.array([turned for page in pages for turned in page.reversed], dtype=np.bool_)[asked]
            | (isinstance(self._method, TranscriptMethod) and self._method.counts_faults),
            is_sound=np.array([one.medium == "audio" for one in catalogue.stimuli], dtype=np.bool_)[rows],
            **parts,
        )


def _codes(names: Sequence[str], known: Iterable[str]) -> tuple[tuple[str, ...], Ints]:
    """Return all names, `known` ones first, and the index of each."""
    every = tuple(dict.fromkeys((*known, *names)))
    places = {name: place for place, name in enumerate(every)}
    return every, _ints([places[name] for name in names])


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, dtype=np.int64)
